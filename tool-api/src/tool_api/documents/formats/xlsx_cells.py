"""The rows of a sheet, one after the other; each cell is read by itself, so that an odd one affects no other."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from openpyxl.formula import translate
from openpyxl.utils import column_index_from_string, get_column_letter

from tool_api.documents.formats.trees import RELATION_ID, SAFE, Element, etree, local, plain_namespaces
from tool_api.documents.formats.xlsx_styles import DateStyles

_translate: Any = translate
_column: Callable[[str], int] = column_index_from_string
_letter: Callable[[int], str] = get_column_letter
_PLACE = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")
_WHOLE = re.compile(r"[+-]?[0-9]{1,300}")
_ESCAPE = re.compile(
    r"_x(000[9AaDd]|00[2-7][0-9A-Fa-f]|00[A-Fa-f][0-9A-Fa-f]|0[1-9A-Fa-f][0-9A-Fa-f]{2}|[1-9A-Fa-f][0-9A-Fa-f]{3})_"
)
"""Escapes of characters that are not control characters; the others stay as they are written."""
_TAGS = tuple(
    f"{{*}}{name}"
    for name in ("row", "mergeCell", "dataValidation", "drawing", "legacyDrawing", "oleObject", "control", "picture")
)
MOST_COLUMNS = 16_384


@dataclass(slots=True)
class SheetParts:
    """Parts of a sheet beside its rows, known once the rows are read."""

    merged: list[str] = field(default_factory=list[str])
    choices: list[str] = field(default_factory=list[str])
    drawings: list[str] = field(default_factory=list[str])
    left_out: Counter[str] = field(default_factory=Counter[str])
    fault: str = ""


class SheetReader:
    def __init__(self, content: bytes, shared: list[str] | None, styles: DateStyles) -> None:
        """`shared` are the texts of the workbook, None where they can't be read."""
        self._content, self._shared, self._styles = content, shared, styles
        self._masters: dict[str, tuple[str, str]] = {}
        self.parts = SheetParts()

    def rows(self) -> Iterator[tuple[int, dict[int, str]]]:
        """The number of each row, and its cells that have something in them by their columns, counted from 1."""
        number = 0
        events = etree.iterparse(
            io.BytesIO(plain_namespaces(self._content)), events=("end",), tag=_TAGS, recover=True, **SAFE
        )
        try:
            for _, element in events:
                if local(element) != "row":
                    self._note(element)
                    continue
                written = str(element.get("r") or "")
                number = int(written) if written.isdecimal() and len(written) < 8 else number + 1
                yield number, self._cells(element, number)
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
        except etree.XMLSyntaxError as error:
            self.parts.fault = str(error)
        faults = [fault for fault in events.error_log if fault.level_name in ("ERROR", "FATAL")]
        if faults:
            self.parts.fault = f"line {faults[0].line}: {faults[0].message}"

    def _cells(self, row: Element, number: int) -> dict[int, str]:
        cells: dict[int, str] = {}
        column = 0
        for cell in row:
            if local(cell) != "c":
                continue
            found = _PLACE.fullmatch(str(cell.get("r") or ""))
            column = _column(found[1].upper()) if found else column + 1
            text = self._text(cell, column, number)
            if text and 0 < column <= MOST_COLUMNS:
                cells[column] = text
        return cells

    def _text(self, cell: Element, column: int, row: int) -> str:
        kind = cell.get("t") or "n"
        formula, value = self._formula(cell, column, row), cell.findtext("{*}v")
        if kind == "inlineStr":
            return rich_text(cell.find("{*}is"))
        if value is None or (not value and formula):
            return formula
        if kind == "s":
            return self._shared_text(value)
        if kind == "b":
            return "TRUE" if value.strip() in ("1", "true") else "FALSE"
        if kind in ("str", "e"):
            return _without_escapes(value)
        return self._number(value.strip(), cell.get("s"))

    def _shared_text(self, value: str) -> str:
        at = int(value) if value.strip().isdecimal() and len(value) < 12 else -1
        if self._shared is not None and 0 <= at < len(self._shared):
            return self._shared[at]
        self.parts.left_out["text of a cell"] += 1
        return "[text not found]"

    def _number(self, value: str, style: str | None) -> str:
        try:
            number = float(value)
        except ValueError:
            return value
        as_date = self._styles.text(number, style)
        if as_date is not None:
            return as_date
        return str(int(value)) if _WHOLE.fullmatch(value) else str(number)

    def _formula(self, cell: Element, column: int, row: int) -> str:
        """The formula as written; one shared by several cells is translated to this cell."""
        element = cell.find("{*}f")
        if element is None:
            return ""
        text, place, shared = str(element.text or ""), f"{_letter(column)}{row}", element.get("si")
        if element.get("t") == "shared" and shared is not None:
            if text:
                self._masters[shared] = (text, place)
            elif shared in self._masters:
                master, origin = self._masters[shared]
                try:
                    return str(_translate.Translator(f"={master}", origin).translate_formula(place))
                except Exception:  # noqa: BLE001  # the library raises what it likes over a formula that it does not know
                    return f"={master} [as in {origin}]"
        return f"={text}" if text else ""

    def _note(self, element: Element) -> None:
        name, parts = local(element), self.parts
        if name == "mergeCell":
            parts.merged.append(str(element.get("ref") or ""))
        elif name in ("drawing", "legacyDrawing"):
            if name == "drawing":
                parts.drawings.append(str(element.get(f"{RELATION_ID}id") or ""))
        elif name == "dataValidation":
            place = str(element.get("sqref") or element.findtext("{*}sqref") or "")
            choices = str(element.findtext("{*}formula1") or "").strip()
            if element.get("type") == "list" and choices:
                parts.choices.append(f"{place}: {choices}")
        elif name == "oleObject":
            parts.left_out["embedded object"] += 1
        elif name == "control":
            parts.left_out["form control"] += 1


def rich_text(element: Element | None) -> str:
    """The text of an item, without phonetic guides."""
    if element is None:
        return ""
    parts = [
        str(found.text or "")
        for found in element.iter("{*}t")
        if found.getparent() is element or local(found.getparent()) == "r"
    ]
    return _without_escapes("".join(parts))


def _without_escapes(text: str) -> str:
    """The text with characters decoded that are written by their numbers, which no sheet shows; line ends become LF."""
    if "_x" not in text:
        return text
    made = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
    # A character of two numbers.
    whole = made.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return whole.replace("\r\n", "\n").replace("\r", "\n")
