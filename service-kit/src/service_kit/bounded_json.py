"""JSON of somebody who is not trusted: of a bounded shape, or nothing of it is made."""

from __future__ import annotations

import re
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

T = TypeVar("T")

# To the end of the text where it is not closed: else each quote of an endless string would be tried anew.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)


class MalformedJsonError(ValueError):
    """The JSON does not have the expected form. Says nothing of what it was."""


def has_at_most(data: bytes, most_values: int) -> bool:
    """Whether the JSON has, roughly, no more values than that: each of a few characters would be many times as large in
    memory, and so would be what is said of each that is wrong."""
    # Only as far as it may go: what millions of short strings leave over would be many times the text.
    shape, strings = _STRING.subn(b"", data, count=most_values * 2 + 1)
    return strings <= most_values * 2 and strings + len(shape) <= most_values * 8


def read_json(adapter: TypeAdapter[T], content: bytes | str, *, most_values: int) -> T:
    """Read what fits the type and `has_at_most` so many values; the caller has bounded its bytes.

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
