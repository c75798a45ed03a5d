"""Faults of a call's arguments, bounded: their names are the model's own, and as long as it likes."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

_MOST_FAULTS = 20
_MOST_NAME_CHARACTERS = 200


def argument_faults(error: ValidationError) -> list[dict[str, Any]]:
    """Pydantic's errors without the values that were given; each `loc` begins at the arguments."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    return [{**fault, "loc": tuple(map(_shorten, fault["loc"]))} for fault in faults[:_MOST_FAULTS]]


def _shorten(part: int | str) -> int | str:
    return part if isinstance(part, int) else part[:_MOST_NAME_CHARACTERS]
