"""The sheets of a workbook as CSV, with the number of each row and the letter of each column."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Iterator
from datetime import date, datetime, time
from itertools import zip_longest
from typing import Any

import openpyxl
from openpyxl.utils import get_column_letter

_library: Any = openpyxl
MOST_COLUMNS = 200


class Workbook:
    """Of a formula its value is read or, where no program has computed one yet, the formula."""

    unit = "sheet"

    def __init__(self, values: list[Any], formulas: list[Any]) -> None:
        self._values, self._formulas = values, formulas
        self.count = len(values)
        self.about = f"[workbook, {self.count} sheet{'' if self.count == 1 else 's'}]"

    def mark(self, number: int) -> str:
        sheet = self._values[number - 1]
        hidden = "" if sheet.sheet_state == "visible" else " (hidden)"
        return f"--- sheet {number} of {self.count}: {' '.join(str(sheet.title).split())[:100]}{hidden} ---"

    def lines(self, number: int) -> Iterator[str]:
        """The letters of the columns, then each row that has something in it."""
        values, formulas = self._values[number - 1], self._formulas[number - 1]
        for sheet in (values, formulas):
            # What a file says of its size need not be true.
            sheet.reset_dimensions()
        lettered, is_empty = 0, True
        pairs = zip_longest(values.iter_rows(values_only=True), formulas.iter_rows(values_only=True), fillvalue=())
        for row, (computed, written) in enumerate(pairs, 1):
            cells = [_cell_text(*cell) for cell in zip_longest(computed, written)]
            while cells and not cells[-1]:
                cells.pop()
            if not cells:
                continue
            is_empty = False
            if len(cells) > MOST_COLUMNS:
                yield f"{row}, of many columns those with something in them: {_row_text(cells)}"
                continue
            if len(cells) > lettered:
                lettered = len(cells)
                yield _csv(["row", *map(get_column_letter, range(1, lettered + 1))])
            yield _csv([str(row), *cells])
        if is_empty:
            yield "[the sheet is empty]"


def _cell_text(value: Any, formula: Any) -> str:
    found = formula if value is None else value
    if found is None:
        return ""
    if isinstance(found, bool):
        return str(found).upper()
    if isinstance(found, datetime) and found.time() == time():
        return found.date().isoformat()
    return found.isoformat() if isinstance(found, date | time) else str(found)


def _row_text(cells: list[str]) -> str:
    named = (f"{get_column_letter(column)}: {_on_one_line(cell)}" for column, cell in enumerate(cells, 1) if cell)
    return "; ".join(named)


def _on_one_line(cell: str) -> str:
    return cell.replace("\r\n", " ").replace("\n", " ")


def _csv(cells: list[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(map(_on_one_line, cells))
    return line.getvalue()


def open_document(data: bytes) -> Workbook:
    # Of what it leaves out, such as extensions, the library warns.
    warnings.simplefilter("ignore")
    return Workbook(_sheets(data, computed=True), _sheets(data, computed=False))


def _sheets(data: bytes, *, computed: bool) -> list[Any]:
    return list(_library.load_workbook(io.BytesIO(data), read_only=True, data_only=computed).worksheets)
