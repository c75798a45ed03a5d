"""A line as the cells of a terminal: a character each, with the marks that combine with it. A wide character and a tab
are followed by empty cells for the columns they cover."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

Cells = list[str]
TAB_WIDTH = 8
MOST_MARKS = 32
"""Characters in one cell; further marks are left out of a line that is written over."""
_SINGLE = re.compile("[ -~\u00a1-\u00ac\u00ae-\u02ff\u0391-\u03ff\u0400-\u0482\u2010-\u2027\u2030-\u205e\u2190-\u2319"
                     "\u2500-\u25fc\u2800-\u28ff]*")  # fmt: skip
"""Characters of one column each, which make up most of any output."""
_TABS = re.compile("(\t)")


@lru_cache(maxsize=4096)
def _columns(character: str) -> int:
    if unicodedata.east_asian_width(character) in "WF":
        return 2
    return 0 if unicodedata.category(character) in ("Mn", "Me", "Cc", "Cf") and character != "\u00ad" else 1


def cells_of(text: str) -> Cells:
    """The cells of a line."""
    cells: Cells = []
    write(cells, 0, text)
    return cells


def column_after(column: int, text: str) -> int:
    """The column after a text that is written from a column on."""
    for index, piece in enumerate(text.split("\t")):
        if index > 0:
            column = _next_stop(column)
        column += len(piece) if _SINGLE.fullmatch(piece) else sum(map(_columns, piece))
    return column


def most_columns(text: str) -> int:
    """An upper bound of a text's columns and characters that is cheap to compute."""
    return len(text) * (1 if text.isascii() else 2) + text.count("\t") * (TAB_WIDTH - 1)


def shown(cells: Cells) -> str:
    """The line as text. Trailing spaces, with which programs erase, are left out."""
    return "".join(cells).rstrip(" ")


def write(cells: Cells, column: int, text: str) -> int:
    """Write over the cells from a column on; returns the column after the text."""
    for piece in _TABS.split(text) if "\t" in text else (text,):
        if piece == "\t":
            column = _tab(cells, column)
        elif piece:
            column = _put(cells, column, piece)
    return column


def clear(cells: Cells, start: int, end: int | None = None) -> None:
    """Erase from a column on, up to another one or to the end of the line."""
    split_at(cells, start)
    if end is None:
        del cells[start:]
        return
    end = min(end, len(cells))
    split_at(cells, end)
    cells[start:end] = [" "] * max(0, end - start)


def split_at(cells: Cells, column: int) -> None:
    """Turn a wide character or a tab that covers a column and the one before it into spaces."""
    if not 0 < column < len(cells) or cells[column] != "":
        return
    first, last = column, column
    while first > 0 and cells[first] == "":
        first -= 1
    while last < len(cells) and cells[last] == "":
        last += 1
    cells[first:last] = [" "] * (last - first)


def _next_stop(column: int) -> int:
    return (column // TAB_WIDTH + 1) * TAB_WIDTH


def _tab(cells: Cells, column: int) -> int:
    stop = _next_stop(column)
    if column >= len(cells):
        cells.extend(" " * (column - len(cells)))
        cells += ["\t", *[""] * (stop - column - 1)]
    return stop


def _put(cells: Cells, column: int, text: str) -> int:
    if column > len(cells):
        cells.extend(" " * (column - len(cells)))
    if _SINGLE.fullmatch(text):
        new = list(text)
    else:
        new, marks = _new_cells(text)
        _combine(cells, column, marks)
    end = column + len(new)
    split_at(cells, column)
    split_at(cells, end)
    cells[column:end] = new
    return end


def _new_cells(text: str) -> tuple[Cells, str]:
    """The cells, and the leading marks, which belong to the character before the text."""
    new: Cells = []
    marks: list[str] = []
    for character in text:
        match _columns(character):
            case 0 if new:
                at = len(new) - (2 if new[-1] == "" else 1)
                if len(new[at]) < MOST_MARKS:
                    new[at] += character
            case 0:
                marks.append(character)
            case 1:
                new.append(character)
            case _:
                new += [character, ""]
    return new, "".join(marks[:MOST_MARKS])


def _combine(cells: Cells, column: int, marks: str) -> None:
    at = column - 1
    while at > 0 and cells[at] == "":
        at -= 1
    if marks and 0 <= at < len(cells) and len(cells[at]) < MOST_MARKS:
        cells[at] += marks
