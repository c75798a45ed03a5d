"""Rows of a sheet as CSV, with the number of each row and the letter of each column."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator

from openpyxl.utils import get_column_letter

MOST_COLUMNS = 200
column_letter: Callable[[int], str] = get_column_letter


def row_lines(rows: Iterator[tuple[int, dict[int, str]]], *, is_alone: bool = True) -> Iterator[str]:
    """Rows as CSV; `is_alone` if a sheet without rows has no other content either."""
    lettered, is_empty = 0, True
    for number, cells in rows:
        if not cells:
            continue
        is_empty, last = False, max(cells)
        if last > MOST_COLUMNS:
            named = "; ".join(f"{column_letter(column)}: {_on_a_line(cells[column])}" for column in sorted(cells))
            yield f"{number}, of many columns those with something in them: {named}"
            continue
        if last > lettered:
            lettered = last
            yield _csv(["row", *(column_letter(column) for column in range(1, lettered + 1))])
        yield _csv([str(number), *(cells.get(column, "") for column in range(1, last + 1))])
    if is_empty and is_alone:
        yield "[the sheet is empty]"


def _on_a_line(cell: str) -> str:
    return cell.replace("\r\n", " ").replace("\n", " ").replace("\r", " ")


def _csv(cells: list[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(map(_on_a_line, cells))
    return line.getvalue()
