"""Characters beyond the first plane, such as emoji, whose two halves (UTF-16's surrogates) a provider sends apart.

Some providers write JSON with escapes and split their text between two of them. Each event then holds half a character,
which can be neither stored nor sent. Halves are joined, and one without the other becomes U+FFFD.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from pydantic_core import from_json, to_json

from backend_api.agent.model import Part, TextPart, ThinkingPart, ToolCallPart, UsagePart

REPLACEMENT = "\ufffd"
_ESCAPES = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
    r"|\\."
)
"""Escapes in JSON: a pair, a single half (the group), or any other."""


def joined(text: str) -> str:
    """The text with adjacent halves joined, and others replaced."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def json_of(value: object) -> bytes:
    """Like `to_json`, but accepts texts with halves in them."""
    try:
        return to_json(value)
    except ValueError:
        return to_json(_joined_in(value))


def without_halves(raw: str) -> str:
    """The text of a JSON document without escapes of halves."""
    return _ESCAPES.sub(lambda escape: "\\ufffd" if escape[1] else escape[0], raw)


@dataclass(slots=True)
class WholeCharacters:
    """Joins halves in one stream. It only starts to look for them after an event that can't be read otherwise."""

    _has_halves: bool = False
    _held: str = ""
    _is_thought: bool = False

    def event(self, data: bytes) -> object:
        """The value of an event, with halves as they came. Raises `ValueError` if it is not JSON."""
        try:
            return from_json(data)
        except ValueError:
            self._has_halves = True
        try:
            return json.loads(data.decode("utf-8", "replace"))
        except RecursionError as error:
            raise ValueError("too deep") from error

    def parts(self, parts: Sequence[Part], *, is_end: bool = False) -> Sequence[Part]:
        """The parts with whole characters only: a half at the end of one is held for the next."""
        if not self._has_halves:
            return parts
        whole = [one for part in parts for one in self._of(part)]
        return [*whole, *self._released()] if is_end else whole

    def _of(self, part: Part) -> Iterator[Part]:
        match part:
            case TextPart() | ThinkingPart():
                is_thought = isinstance(part, ThinkingPart)
                ends = is_thought and (part.signature is not None or part.opaque is not None)
                if ends or self._is_thought != is_thought:
                    yield from self._released()
                text, self._held, self._is_thought = self._held + part.text, "", is_thought
                if text and "\ud800" <= text[-1] <= "\udbff":
                    text, self._held = text[:-1], text[-1]
                yield replace(part, text=joined(text))
            case ToolCallPart(request=call):
                yield from self._released()
                arguments = None if call.arguments is None else _joined_in(call.arguments)
                names = {"call_id": joined(call.call_id), "name": joined(call.name), "raw": joined(call.raw)}
                yield ToolCallPart(replace(call, arguments=arguments, **names))
            case UsagePart():
                yield part
            case _:
                yield from self._released()
                yield part

    def _released(self) -> list[Part]:
        """Replaces the half that is held, if any, as its other half did not come."""
        held, self._held = self._held, ""
        if not held:
            return []
        return [ThinkingPart(REPLACEMENT) if self._is_thought else TextPart(REPLACEMENT)]


def _joined_in(value: Any) -> Any:
    match value:
        case str():
            return joined(value)
        case dict():
            return {joined(key): _joined_in(one) for key, one in cast("dict[str, Any]", value).items()}
        case list():
            return [_joined_in(one) for one in cast("list[Any]", value)]
        case _:
            return value
