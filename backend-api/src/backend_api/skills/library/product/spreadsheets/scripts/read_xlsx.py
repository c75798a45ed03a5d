"""Print the contents of an Excel workbook, with the standard library alone."""

from __future__ import annotations

import argparse
import csv
import datetime
import posixpath
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
MOST_BYTES = 200 * 1024 * 1024
FIRST_ROWS = 8
DAYS = {14, 15, 16, 17, 22}
"""Numbers of the date formats that every workbook has."""


class Workbook:
    def __init__(self, path: Path) -> None:
        self._packed = zipfile.ZipFile(path)
        if sum(entry.file_size for entry in self._packed.infolist()) > MOST_BYTES:
            raise ValueError("the workbook is larger than this program reads")
        targets = {one.get("Id", ""): one.get("Target", "") for one in self._xml("xl/_rels/workbook.xml.rels") or []}
        book = self._xml("xl/workbook.xml")
        listed = [] if book is None else book.iter(f"{MAIN}sheet")
        self.sheets = {
            one.get("name", ""): posixpath.normpath(
                posixpath.join("xl", targets.get(one.get(LINK, ""), "").lstrip("/"))
            )
            for one in listed
        }
        self.sheets = {name: part.replace("xl/xl/", "xl/") for name, part in self.sheets.items()}
        shared = self._xml("xl/sharedStrings.xml")
        self._texts = [] if shared is None else [_text(one) for one in shared.findall(f"{MAIN}si")]
        self._days = self._day_styles()

    def rows(self, name: str, *, formulas: bool = False) -> Iterator[list[str]]:
        part = self._xml(self.sheets[name])
        before = 0
        for row in [] if part is None else part.iter(f"{MAIN}row"):
            number = int(row.get("r") or before + 1)
            for _ in range(min(number - before - 1, 1000)):
                yield []
            before = number
            cells: list[str] = []
            for cell in row.findall(f"{MAIN}c"):
                at = _column(cell.get("r") or "") if cell.get("r") else len(cells)
                cells += [""] * (min(at, 16_384) - len(cells))
                cells.append(self._value(cell, formulas=formulas))
            yield cells

    def _value(self, cell: ElementTree.Element, *, formulas: bool) -> str:
        formula, value = cell.find(f"{MAIN}f"), cell.findtext(f"{MAIN}v") or ""
        if formula is not None and (formulas or not value):
            return f"={formula.text or ''}"
        kind = cell.get("t")
        if kind == "s":
            return self._texts[int(value)] if value else ""
        if kind == "inlineStr":
            inner = cell.find(f"{MAIN}is")
            return "" if inner is None else _text(inner)
        if kind is None and value and int(cell.get("s") or 0) in self._days:
            return _day(float(value))
        return value

    def _day_styles(self) -> set[int]:
        styles = self._xml("xl/styles.xml")
        if styles is None:
            return set()
        own = {
            int(one.get("numFmtId") or 0)
            for one in styles.iter(f"{MAIN}numFmt")
            if re.search(r"[ymd]", re.sub(r'"[^"]*"|\[[^\]]*\]', "", one.get("formatCode") or "").lower())
        }
        formats = styles.find(f"{MAIN}cellXfs")
        used = [] if formats is None else [int(one.get("numFmtId") or 0) for one in formats]
        return {at for at, number in enumerate(used) if number in DAYS | own}

    def _xml(self, part: str) -> ElementTree.Element | None:
        try:
            content = self._packed.read(part)
        except KeyError:
            return None
        if b"<!DOCTYPE" in content[:2000]:
            raise ValueError(f"{part} has a document type, which no workbook needs")
        return ElementTree.fromstring(content)


def _text(element: ElementTree.Element) -> str:
    return "".join(one.text or "" for one in element.iter(f"{MAIN}t"))


def _column(reference: str) -> int:
    index = 0
    for letter in re.match(r"[A-Z]*", reference)[0]:  # type: ignore[index]
        index = index * 26 + ord(letter) - 64
    return index - 1


def _day(number: float) -> str:
    moment = datetime.datetime(1899, 12, 30) + datetime.timedelta(days=number)
    return moment.date().isoformat() if number == int(number) else moment.isoformat(" ", "minutes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--sheet", help="print this one whole, as CSV")
    parser.add_argument("--formulas", action="store_true", help="formulas in place of their values")
    given = parser.parse_args()
    try:
        book = Workbook(given.file)
        writer = csv.writer(sys.stdout, lineterminator="\n")
        if given.sheet is not None:
            if given.sheet not in book.sheets:
                sys.exit(f"There is no sheet {given.sheet}. Sheets: {', '.join(book.sheets)}")
            writer.writerows(book.rows(given.sheet, formulas=given.formulas))
            return
        for name in book.sheets:
            rows = list(book.rows(name, formulas=given.formulas))
            print(f"## {name}: {len(rows)} rows, {max(map(len, rows), default=0)} columns")
            writer.writerows(rows[:FIRST_ROWS])
            if len(rows) > FIRST_ROWS:
                print("...")
    except (OSError, ValueError, KeyError, IndexError, zipfile.BadZipFile, ElementTree.ParseError) as error:
        sys.exit(f"{given.file} can't be read as a workbook: {error}")


if __name__ == "__main__":
    main()
