"""An answer that is not a stream of events, though one was requested: JSON, in one piece or in lines, a web page, or a
text."""

from __future__ import annotations

import re
from typing import Any, cast

from pydantic_core import from_json

from backend_api.agent.model import ModelAnswerError, ModelError
from backend_api.models.wire.endpoint import ProviderApi
from backend_api.models.wire.faults import (
    MAX_MESSAGE_CHARACTERS,
    as_object,
    fault_of,
    is_fault,
    message_of,
    status_in,
)
from backend_api.models.wire.sse import BYTE_ORDER_MARK

_LINES = re.compile(rb"[\r\n]+")


def objects_of(body: bytes, api: ProviderApi) -> list[dict[str, Any]]:
    """The JSON objects in a body. Raises `ModelAnswerError` if it is not JSON."""
    content = body.removeprefix(BYTE_ORDER_MARK).strip()
    values = _values(content)
    if values is None:
        raise ModelAnswerError(f"{api.name} did not send a model's answer but {_described(content)}. {_CHECK}")
    return [value for value in map(as_object, values) if value]


def fault_in_body(answer: dict[str, Any], api: ProviderApi) -> ModelError:
    """The error for JSON that is not a model's answer. It is not retried unless its status says so."""
    status = status_in(answer)
    if is_fault(answer) and status is not None:
        return fault_of(status, answer, provider=api.name, key_setting=api.key_setting, headers={})
    said = message_of(answer)
    if said:
        return ModelAnswerError(f"{api.name} answered with an error: {said}")
    names = ", ".join(map(str, list(answer)[:8]))[:MAX_MESSAGE_CHARACTERS]
    return ModelAnswerError(f"{api.name} sent JSON that is not a model's answer (its fields: {names}). {_CHECK}")


_CHECK = "Check the provider's address and any proxy in between."


def _values(content: bytes) -> list[object] | None:
    try:
        value: object = from_json(content)
    except ValueError:
        try:
            return [from_json(line) for line in _LINES.split(content)]
        except ValueError:
            return None
    return cast("list[object]", value) if isinstance(value, list) else [value]


def _described(content: bytes) -> str:
    text = content[: 16 * 1024].decode("utf-8", "replace")
    if text.startswith("<"):
        title = message_of(text)
        return f'a web page ("{title}")' if title else "a web page"
    return f'the text "{text[:MAX_MESSAGE_CHARACTERS]}"'
