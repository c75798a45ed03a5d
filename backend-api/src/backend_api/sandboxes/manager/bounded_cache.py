"""Dictionaries of bounded size for the latest values."""

from __future__ import annotations

from typing import Any


def make_room(cache: dict[Any, Any], most: int) -> None:
    """Delete the oldest entries until there is room for one more."""
    while len(cache) >= most:
        del cache[next(iter(cache))]
