"""A part of a document's text: some of its pages, and of these some lines, within a bound, with where to read on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

LONGEST_LINE = 4_000
"""Longer lines are split: a part leaves out whole lines only."""


class RefusedDocumentError(Exception):
    """The document was refused; the message says why, and what may help."""


class Document(Protocol):
    """A document that can be read page by page. `unit` is what it calls a page; `about` stands above its text."""

    @property
    def unit(self) -> str: ...

    @property
    def about(self) -> str: ...

    @property
    def count(self) -> int: ...

    def mark(self, number: int) -> str:
        """The mark above a page, empty if the document has no pages."""
        ...

    def lines(self, number: int) -> Iterator[str]:
        """The lines of a page, counted from 1, without their ends."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The requested part. Pages and lines count from 1. Line numbers refer to the first page and the last one, which is
    the first one if only lines are named."""

    start_page: int = 1
    end_page: int | None = None
    start_line: int = 1
    end_line: int | None = None
    characters: int = 15_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Position:
    page: int
    line: int


def read_part(document: Document, asked: Asked) -> str:
    """The text of the requested part. Raises `RefusedDocumentError` if there is nothing at that place."""
    if asked.start_page > document.count:
        raise RefusedDocumentError(f"It has only {_plural(document.count, document.unit)}.")
    last = asked.end_page or (asked.start_page if asked.end_line is not None else document.count)
    last = min(last, document.count)
    taken = [document.about] if document.about else []
    room, is_first = asked.characters - len(document.about), True
    for number in range(asked.start_page, last + 1):
        mark = document.mark(number)
        begin = asked.start_line if number == asked.start_page else 1
        end = asked.end_line if number == last else None
        taken += [mark] if mark else []
        room -= len(mark) + 1
        line = begin - 1
        for line, text in enumerate(islice(_split_long(document.lines(number)), begin - 1, end), begin):
            if len(text) + 1 > room and not is_first:
                place = _Position(page=number, line=line)
                if line == begin and mark:
                    taken.pop()
                return "\n".join([*taken, _read_on(document, place)])
            taken.append(text)
            room, is_first = room - len(text) - 1, False
        if line < begin and begin > 1:
            raise RefusedDocumentError(f"{document.unit.capitalize()} {number} has fewer than {begin} lines.")
    return "\n".join(taken)


def _split_long(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if len(line) <= LONGEST_LINE:
            yield line
        else:
            yield from (line[start : start + LONGEST_LINE] for start in range(0, len(line), LONGEST_LINE))


def _read_on(document: Document, place: _Position) -> str:
    page = f"start_page={place.page}" if document.count > 1 else ""
    line = f"start_line={place.line}" if place.line > 1 or not page else ""
    return f"[cut; read on with {', '.join(filter(None, (page, line)))}]"


def _plural(count: int, unit: str) -> str:
    return f"{count} {unit}" + ("" if count == 1 else "s")
