"""Events as JSON and back, written by hand: this runs for every token, so no schema library is involved."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import partial
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, cast, get_args, get_origin, get_type_hints

from backend_api.agent.events import (
    CHANGE_TYPES,
    FIELDS_OF_AGENTS,
    Event,
    LivePayload,
    NewerEvent,
    Payload,
    StoredPayload,
    Usage,
    UsageUpdated,
)
from backend_api.kit.stored_time import format_time

_PLAIN = frozenset({str, int, float, bool, NoneType, Any})
Convert = Callable[[Any], Any]
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class Codec(NamedTuple):
    """How one class is written and read. `written` has each field's name, whether it is left out if None, and its
    converter; `converted` has the fields that need a converter for reading."""

    names: tuple[str, ...]
    written: tuple[tuple[str, bool, Convert | None], ...]
    converted: tuple[tuple[str, Convert], ...]


def dump(value: object) -> str:
    """Like `dump_bytes`, as text."""
    return dump_bytes(value).decode()


def dump_bytes(value: object) -> bytes:
    """Compact JSON; text that is not valid Unicode is escaped."""
    try:
        return _ENCODER.encode(value).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def codec_of(cls: type[Any], *, is_change: bool = False) -> Codec:
    """Builds the codec from the types of the fields: JSON's own, times, and dataclasses of such, alone or in a list,
    where they may be of several classes with a `kind`. Raises `TypeError` that names a field of any other type."""
    hints = get_type_hints(cls)
    names = tuple(field.name for field in fields(cls))
    converters = {name: _converters(hints[name], f"{cls.__name__}.{name}") for name in names}
    return Codec(
        names,
        tuple((name, is_change or name in FIELDS_OF_AGENTS, write) for name, (write, _) in converters.items()),
        tuple((name, read) for name, (_, read) in converters.items() if read is not None),
    )


def payload_fields(payload: Any) -> dict[str, Any]:
    """The fields of a payload, including `type`, or of a usage, ready for JSON."""
    if isinstance(payload, NewerEvent):
        return {**payload.values}
    return _write(_CODECS[type(payload)], payload)


def payload_from(values: dict[str, Any]) -> Payload:
    """A payload from its fields. Fields of a newer vocabulary are dropped, and those an older one lacks get their
    defaults. A payload of a type that only a newer vocabulary has is kept as it is."""
    cls = _CLASSES.get(values["type"])
    if cls is None:
        return NewerEvent(type=values["type"], agent_id=values.get("agent_id"), values=dict(values))
    return _read(cls, _CODECS[cls], values)


def event_fields(event: Event) -> dict[str, Any]:
    """One flat object: the envelope, then the payload; the numbers of a usage are included, too."""
    result: dict[str, Any] = {
        "seq": event.seq,
        "type": event.payload.type,
        "at": format_time(event.at),
        "session_id": event.session_id,
        "run_id": event.run_id,
    }
    run_id = event.run_id
    result.update(payload_fields(event.payload))
    if isinstance(event.payload, UsageUpdated):
        result.update(result["usage"])
    if result["run_id"] is None:
        result["run_id"] = run_id
    return result


def event_json(event: Event, *, is_new: bool = False) -> bytes:
    """The event as JSON. For a live event, or one just stored, the text is cached for its other readers; an event read
    from the log has only one."""
    return event.serialized_once(_event_json, is_kept=is_new or event.seq is None)


def event_from(values: dict[str, Any]) -> Event:
    """The event from such an object."""
    return Event(
        seq=values["seq"],
        at=datetime.fromisoformat(values["at"]),
        session_id=values["session_id"],
        run_id=values["run_id"],
        payload=payload_from(values),
    )


def _event_json(event: Event) -> bytes:
    return dump_bytes(event_fields(event))


def _write(codec: Codec, value: Any) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, is_left_out, write in codec.written:
        one = getattr(value, name)
        if one is None:
            if is_left_out:
                continue
        elif write is not None and one:
            # An empty list needs no converter.
            one = write(one)
        result[name] = one
    return result


def _read(cls: type[Any], codec: Codec, values: dict[str, Any]) -> Any:
    known = {name: values[name] for name in codec.names if name in values}
    for name, read in codec.converted:
        if known.get(name):
            known[name] = read(known[name])
    return cls(**known)


def _converters(hint: Any, where: str) -> tuple[Convert | None, Convert | None]:
    """The converters to write and read a field of this type, or None if it needs none."""
    if _is_plain(hint):
        return None, None
    if get_origin(hint) in (Union, UnionType):
        some = [one for one in get_args(hint) if one is not NoneType]
        if len(some) == 1:
            return _converters(some[0], where)
        if all(is_dataclass(one) and "kind" in one.__dataclass_fields__ for one in some):
            return _of_kinds(cast("list[type[Any]]", some))
    if hint is datetime:
        return format_time, datetime.fromisoformat
    if is_dataclass(hint):
        cls = cast("type[Any]", hint)
        codec = codec_of(cls)
        return partial(_write, codec), partial(_read, cls, codec)
    if get_origin(hint) is list and get_args(hint):
        write, read = _converters(get_args(hint)[0], where)
        return write and partial(_convert_all, write), read and partial(_convert_all, read)
    raise TypeError(f"{where}: events can't have {hint} in JSON")


def _of_kinds(classes: list[type[Any]]) -> tuple[Convert, Convert]:
    """Converters for several classes, distinguished by `kind`. A value whose kind only a newer vocabulary has is
    dropped."""
    codecs = {cls: codec_of(cls) for cls in classes}
    by_kind = {kind: cls for cls in classes for kind in get_args(get_type_hints(cls)["kind"])}

    def write(value: Any) -> dict[str, Any]:
        return _write(codecs[type(value)], value)

    def read(values: dict[str, Any]) -> Any:
        cls = by_kind.get(values.get("kind", ""))
        return None if cls is None else _read(cls, codecs[cls], values)

    return write, read


def _convert_all(convert: Convert, values: list[Any]) -> list[Any]:
    return [converted for value in values if (converted := convert(value)) is not None]


def _is_plain(hint: Any) -> bool:
    origin = get_origin(hint)
    if origin in (list, dict, Union, UnionType):
        return all(_is_plain(one) for one in get_args(hint))
    return origin is Literal or hint in _PLAIN


_CLASSES: dict[str, type[Any]] = {
    cls.__dataclass_fields__["type"].default: cls for cls in (*get_args(StoredPayload), *get_args(LivePayload))
}
_CODECS: dict[type[Any], Codec] = {
    Usage: codec_of(Usage),
    **{cls: codec_of(cls, is_change=type_ in CHANGE_TYPES) for type_, cls in _CLASSES.items()},
}
