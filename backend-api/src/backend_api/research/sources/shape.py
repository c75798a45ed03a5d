"""What is at a place of an answer in JSON, if it is of the type that it should be: an answer may be anything."""

from __future__ import annotations

import re
from typing import Any, cast

_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")


def at(value: Any, *path: str | int) -> Any:
    """None where nothing is there."""
    for part in path:
        if isinstance(part, str) and isinstance(value, dict):
            value = cast("dict[str, Any]", value).get(part)
        elif isinstance(part, int) and isinstance(value, list):
            found = cast("list[Any]", value)
            value = found[part] if len(found) > part else None
        else:
            return None
    return value


def text(value: Any, *path: str | int) -> str:
    """Empty where there is none."""
    found = at(value, *path)
    return found if isinstance(found, str) else ""


def number(value: Any, *path: str | int) -> int | None:
    found = at(value, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) and abs(found) < 10**12 else None


def items(value: Any, *path: str | int) -> list[Any]:
    """Empty where there is no list."""
    found = at(value, *path)
    return cast("list[Any]", found) if isinstance(found, list) else []


def year_of(written: str) -> int | None:
    """The first year that a date, or any text, has in it."""
    found = _YEAR.search(written)
    return int(found[1]) if found else None
