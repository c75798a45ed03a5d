"""Typed access to the parts of a JSON answer, which may have any shape."""

from __future__ import annotations

import re
from typing import Any, cast

_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")


def at(value: Any, *path: str | int) -> Any:
    """The value at a path; None if there is none."""
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
    """The text at a path; empty if there is none."""
    found = at(value, *path)
    return found if isinstance(found, str) else ""


def number(value: Any, *path: str | int) -> int | None:
    found = at(value, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) and abs(found) < 10**12 else None


def items(value: Any, *path: str | int) -> list[Any]:
    """The list at a path; empty if there is none."""
    found = at(value, *path)
    return cast("list[Any]", found) if isinstance(found, list) else []


def year_of(written: str) -> int | None:
    """The first year in a date, or in any text."""
    found = _YEAR.search(written)
    return int(found[1]) if found else None
