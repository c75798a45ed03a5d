"""A document without pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeDocument:
    """A document whose text is read all at once."""

    about: str
    text: str
    unit: str = "part"
    count: int = 1

    def mark(self, number: int) -> str:
        del number
        return ""

    def lines(self, number: int) -> Iterator[str]:
        del number
        yield from self.text.splitlines()
