"""The sheets of a workbook as CSV, with the number of each row and the letter of each column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tool_api.documents.archives import BrokenPartError
from tool_api.documents.formats.left_out import told
from tool_api.documents.formats.package import Package
from tool_api.documents.formats.trees import RELATION_ID, Element, on_one_line
from tool_api.documents.formats.xlsx_cells import SheetParts, SheetReader, rich_text
from tool_api.documents.formats.xlsx_parts import comment_lines, drawing_lines
from tool_api.documents.formats.xlsx_rows import row_lines
from tool_api.documents.formats.xlsx_styles import DateStyles
from tool_api.documents.parts import RefusedDocumentError

_MOST_TOLD = 50
_NUMBER = re.compile(r"\d{1,9}")


@dataclass(frozen=True, slots=True)
class _Sheet:
    name: str
    state: str
    part: str | None


class Workbook:
    """A workbook; a formula shows its value or, if no program has computed one yet, the formula itself."""

    unit = "sheet"

    def __init__(self, package: Package, main: str, root: Element) -> None:
        self._package, self._main = package, main
        self._sheets = _sheets(package, main, root)
        properties = root.find("{*}workbookPr")
        is_from_1904 = properties is not None and properties.get("date1904") in ("1", "true")
        self._faults: list[str] = []
        self._shared = self._shared_texts()
        self._styles = DateStyles(self._part("styles", "styles"), is_from_1904=is_from_1904)
        self.count = len(self._sheets)
        self.about = f"[workbook, {self.count} sheet{'' if self.count == 1 else 's'}]"

    def mark(self, number: int) -> str:
        sheet = self._sheets[number - 1]
        hidden = "" if sheet.state == "visible" else " (hidden)"
        return f"--- sheet {number} of {self.count}: {on_one_line(sheet.name)[:100]}{hidden} ---"

    def lines(self, number: int) -> Iterator[str]:
        """The letters of the columns, then each row that is not empty, then the other parts of the sheet."""
        part = self._sheets[number - 1].part
        try:
            if part is None:
                raise BrokenPartError("the file does not name its part")
            content = self._package.archive.read_xml(part)
        except BrokenPartError as error:
            yield f"[sheet {number} could not be read: {error}]"
        else:
            sheet = SheetReader(content, self._shared, self._styles)
            is_chart = "/chartsheets/" in f"/{part}"
            yield from row_lines(sheet.rows(), is_alone=not is_chart)
            yield from self._about_sheet(part, sheet.parts)
        if number == self.count:
            yield from self._about_workbook()

    def _about_sheet(self, part: str, parts: SheetParts) -> Iterator[str]:
        if parts.fault:
            yield f"[a part of this sheet could not be read: {parts.fault}]"
        if parts.merged:
            yield f"[merged cells: {_listed(parts.merged)}]"
        if parts.choices:
            yield f"[choices of cells: {_listed(parts.choices)}]"
        yield from comment_lines(self._package, self._main, part)
        for identifier in parts.drawings:
            yield from drawing_lines(self._package, part, identifier, parts.left_out)
        yield from told(parts.left_out)

    def _about_workbook(self) -> Iterator[str]:
        for fault in self._faults:
            yield f"[{fault}]"
        left_out = Counter[str]()
        left_out["program of macros"] = len(self._package.related(self._main, "vbaProject"))
        left_out["linked workbook"] = len(self._package.related(self._main, "externalLink"))
        yield from told(left_out)

    def _part(self, kind: str, what: str) -> Element | None:
        """The workbook's part of a kind, None if there is none or it can't be read."""
        usual = [name for name in (f"xl/{kind}.xml",) if name in self._package.archive]
        for name in self._package.related(self._main, kind) or usual:
            try:
                return self._package.tree(name)
            except BrokenPartError as error:
                self._faults.append(f"the {what} of the workbook could not be read: {error}")
        return None

    def _shared_texts(self) -> list[str] | None:
        root = self._part("sharedStrings", "shared texts")
        return None if root is None else [rich_text(item) for item in root.iterfind("{*}si")]


def _listed(items: list[str]) -> str:
    more = f" and {len(items) - _MOST_TOLD} more" if len(items) > _MOST_TOLD else ""
    return f"{'; '.join(on_one_line(item) for item in items[:_MOST_TOLD])}{more}"


def _sheets(package: Package, main: str, root: Element) -> list[_Sheet]:
    sheets: list[_Sheet] = []
    for sheet in root.iterfind("{*}sheets/{*}sheet"):
        try:
            part = package.target(main, sheet.get(f"{RELATION_ID}id"))
        except BrokenPartError:
            part = None
        sheets.append(_Sheet(str(sheet.get("name") or ""), str(sheet.get("state") or "visible"), part))
    if any(sheet.part for sheet in sheets):
        return sheets
    # If the list of parts is broken, the parts are found by their usual names.
    parts = sorted(
        (name for name in package.archive.names() if re.search(r"worksheets/[^/]+\.xml$", name)),
        key=lambda name: [int(number) for number in _NUMBER.findall(name)],
    )
    found = [
        _Sheet(sheets[at].name if at < len(sheets) else part.rpartition("/")[2], "visible", part)
        for at, part in enumerate(parts)
    ]
    return found or sheets


def open_document(data: bytes) -> Workbook:
    """Raises `RefusedDocumentError`."""
    package = Package(data)
    main = package.main_part("xl/workbook.xml", "xl/workbook.bin")
    if main.lower().endswith("workbook.bin"):
        raise RefusedDocumentError(
            "It is a binary workbook. Ask for a copy as .xlsx, or make one where LibreOffice is installed: "
            "soffice --headless --convert-to xlsx FILE"
        )
    main, root = package.main_tree("xl/workbook.xml")
    return Workbook(package, main, root)
