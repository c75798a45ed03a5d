"""JSON from untrusted sources: parsed only if its shape is bounded."""

from __future__ import annotations

import re
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

T = TypeVar("T")

# An unclosed string goes to the end of the text: else each quote in it would start another attempt.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)


class MalformedJsonError(ValueError):
    """The JSON does not have the expected form. The message does not quote it."""


def has_at_most(data: bytes, most_values: int) -> bool:
    """Whether the JSON has, roughly, at most that many values: values of a few characters each take many times the room
    in memory, and so do their validation errors."""
    # Bounded, as the pieces between millions of short strings would take many times the text's room.
    shape, strings = _STRING.subn(b"", data, count=most_values * 2 + 1)
    return strings <= most_values * 2 and strings + len(shape) <= most_values * 8


def read_json(adapter: TypeAdapter[T], content: bytes | str, *, most_values: int) -> T:
    """Read JSON that fits the type and has at most `most_values` values; the caller has limited its bytes.

    Raises `MalformedJsonError`.
    """
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    if not has_at_most(data, most_values):
        raise MalformedJsonError("The JSON has too many values or is nested too deeply.")
    try:
        return adapter.validate_json(data)
    except (ValidationError, RecursionError):
        # Not the cause: it would carry the text along, and have it printed.
        raise MalformedJsonError("The JSON does not have the expected form.") from None
