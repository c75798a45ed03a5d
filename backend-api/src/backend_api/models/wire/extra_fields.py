"""Fields that providers add to a call or a part of an answer beyond its known form: they are sent back unchanged, to
the model that sent them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal, cast

from backend_api.agent.model import AddedPart
from backend_api.models.wire.faults import as_object
from backend_api.models.wire.surrogates import json_of
from backend_api.models.wire.tool_calls import arguments_of

Form = Literal["chat", "responses", "messages"]
Json = dict[str, Any]
_MARK = "added"


def extra_json(form: Form, model: str, **what: Any) -> str:
    """The fields as stored with the event, tagged with their wire format and model."""
    return json_of({_MARK: form, "model": model, **what}).decode()


def extra_part(form: Form, model: str, **what: Any) -> AddedPart:
    return AddedPart(extra_json(form, model, **what))


def extra_of(opaque: str | None, form: Form, model: str) -> Json:
    """The stored fields; empty if they are of another wire format or model."""
    if not opaque or not opaque.startswith(f'{{"{_MARK}":"{form}"'):
        return {}
    stored = as_object(arguments_of(opaque))
    return stored if stored.get("model") == model else {}


def belongs_to_text(opaque: str | None) -> bool:
    """Whether they belong to the text before them, and mean nothing by themselves."""
    if not opaque or not opaque.startswith(f'{{"{_MARK}":'):
        return False
    return bool(as_object(arguments_of(opaque)).keys() & {"message", "text"})


def fields_beyond(given: Json, known: Collection[str]) -> Json:
    """The fields that have a value and are not known."""
    return {name: value for name, value in given.items() if name not in known and value is not None}


def merge(into: Json, more: Json) -> None:
    """Merges objects field by field; of other values the last one is kept."""
    for name, value in more.items():
        held = into.get(name)
        if isinstance(held, dict) and isinstance(value, dict):
            merge(cast("Json", held), cast("Json", value))
        else:
            into[name] = value


def text_of(value: object) -> str:
    """The text in a value where a text is expected: for objects and lists that of their parts, otherwise empty if there
    is none."""
    match value:
        case str():
            return value
        case bool() | None:
            return ""
        case int() | float():
            return str(value)
        case list():
            return "".join(map(text_of, cast("list[object]", value)))
        case dict():
            fields = as_object(cast("object", value))
            return text_of(next((fields[name] for name in ("text", "content", "thinking") if fields.get(name)), None))
        case _:
            return ""
