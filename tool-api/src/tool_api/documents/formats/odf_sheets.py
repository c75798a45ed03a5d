"""The sheets of an OpenDocument spreadsheet, in the form of other workbooks."""

from __future__ import annotations

from collections.abc import Iterator

from tool_api.documents.formats.left_out import told
from tool_api.documents.formats.odf_text import OpenDocument, attribute, count_of, described, inner_text, remark
from tool_api.documents.formats.trees import Element, local, on_one_line
from tool_api.documents.formats.xlsx_rows import column_letter, row_lines

_MOST_REPEATED = 1_048_576
_MOST_SAME_ROWS = 1_000
_MOST_COLUMNS = 16_384
_VALUES = {"date": "date-value", "time": "time-value", "boolean": "boolean-value"}


class Sheets:
    unit = "sheet"

    def __init__(self, document: OpenDocument, faults: list[str]) -> None:
        self._document, self._faults = document, faults
        self._sheets = list(document.body.iterfind("{*}table"))
        self._hidden = {
            attribute(style, "name")
            for style in document.root.iterfind("{*}automatic-styles/{*}style")
            if any(attribute(one, "display") == "false" for one in style.iterfind("{*}table-properties"))
        }
        self.count = len(self._sheets)
        self.about = f"[workbook, {self.count} sheet{'' if self.count == 1 else 's'}]"

    def mark(self, number: int) -> str:
        sheet = self._sheets[number - 1]
        hidden = " (hidden)" if attribute(sheet, "style-name") in self._hidden else ""
        return f"--- sheet {number} of {self.count}: {on_one_line(attribute(sheet, 'name'))[:100]}{hidden} ---"

    def lines(self, number: int) -> Iterator[str]:
        sheet = self._sheets[number - 1]
        self._document.left_out.clear()
        remarks: list[str] = []
        yield from row_lines(self._rows(sheet, remarks))
        yield from remarks
        for frame in sheet.iter("{*}frame", "{*}custom-shape"):
            yield from self._shape(frame)
        yield from told(self._document.left_out)
        if number == self.count:
            yield from self._faults

    def _rows(self, sheet: Element, remarks: list[str]) -> Iterator[tuple[int, dict[int, str]]]:
        number = 0
        for row in sheet.iter("{*}table-row"):
            if next((one for one in row.iterancestors() if local(one) == "table"), None) is not sheet:
                continue
            count = count_of(row, "number-rows-repeated", _MOST_REPEATED)
            cells = _cells(row, number + 1, remarks)
            for at in range(min(count, _MOST_SAME_ROWS) if cells else 0):
                yield number + 1 + at, cells
            if cells and count > _MOST_SAME_ROWS:
                remarks.append(f"[rows up to {number + count} are the same as row {number + 1}]")
            number += count

    def _shape(self, shape: Element) -> Iterator[str]:
        if local(shape) == "custom-shape" or shape.find("{*}text-box") is not None:
            text = inner_text(shape)
            if text:
                yield f"[text box: {text}]"
            return
        embedded = shape.find("{*}object")
        if embedded is not None:
            yield from self._document.object_lines(embedded)
        elif shape.find("{*}image") is not None:
            yield f"![{described(shape)}]"


def _cells(row: Element, number: int, remarks: list[str]) -> dict[int, str]:
    cells: dict[int, str] = {}
    column = 1
    for cell in row:
        if local(cell) not in ("table-cell", "covered-table-cell"):
            continue
        count = count_of(cell, "number-columns-repeated", _MOST_COLUMNS)
        text = _text(cell)
        if text:
            cells |= dict.fromkeys(range(column, min(column + count, _MOST_COLUMNS + 1)), text)
        for found in cell.iterfind("{*}annotation"):
            remarks.append(remark(found).replace("Comment", f"Comment on {column_letter(column)}{number}", 1))
        column += count
    return cells


def _text(cell: Element) -> str:
    kind = attribute(cell, "value-type")
    shown = " ".join(inner_text(one) for one in cell.iterfind("{*}p"))
    if kind == "boolean":
        return "TRUE" if attribute(cell, "boolean-value") == "true" else "FALSE"
    if kind in _VALUES:
        value = attribute(cell, _VALUES[kind])
        return value.removesuffix("T00:00:00") or shown
    if kind in ("float", "percentage", "currency"):
        return attribute(cell, "value") or shown
    return shown or attribute(cell, "string-value") or attribute(cell, "formula").removeprefix("of:")
