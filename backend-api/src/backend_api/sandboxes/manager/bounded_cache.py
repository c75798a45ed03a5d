"""Dictionaries of what was said last, of a bounded size."""

from __future__ import annotations

from typing import Any


def make_room(cache: dict[Any, Any], most: int) -> None:
    """For one more: the oldest go where there are as many as may be."""
    while len(cache) >= most:
        del cache[next(iter(cache))]
