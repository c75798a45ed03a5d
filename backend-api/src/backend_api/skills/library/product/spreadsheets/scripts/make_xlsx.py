"""CSV files to the sheets of an Excel workbook, with the standard library alone."""

from __future__ import annotations

import argparse
import csv
import datetime
import re
import sys
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d+)?(?:[eE][+-]?\d{1,3})?")
DATE = re.compile(r"\d{4}-\d\d-\d\d")
INVISIBLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
PLAIN, HEADING, DAY, SHARE = range(4)
STYLES = (
    f'{HEAD}<styleSheet xmlns="{MAIN}"><numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/></numFmts>'
    '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>'
    '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>'
    '</fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="4">'
    '<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>'
    '<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>'
    '<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
    '<xf numFmtId="10" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs></styleSheet>'
)


def column(index: int) -> str:
    """The name of a column: 0 is A, 26 is AA."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def cell(reference: str, text: str, style: int) -> str:
    mark = f' s="{style}"' if style else ""
    text = INVISIBLE.sub("", text)
    if not text:
        return ""
    if text.startswith("=") and style != HEADING:
        return f'<c r="{reference}"{mark}><f>{escape(text[1:])}</f></c>'
    if style != HEADING and NUMBER.fullmatch(text):
        return f'<c r="{reference}"{mark}><v>{text}</v></c>'
    if style != HEADING and DATE.fullmatch(text):
        try:
            day = (datetime.date.fromisoformat(text) - datetime.date(1899, 12, 30)).days
        except ValueError:
            day = 0
        if day > 0:
            return f'<c r="{reference}" s="{DAY}"><v>{day}</v></c>'
    return f'<c r="{reference}"{mark} t="inlineStr"><is><t xml:space="preserve">{escape(text)}</t></is></c>'


def sheet(rows: list[list[str]]) -> str:
    heading = rows[0] if rows else []
    shares = {at for at, name in enumerate(heading) if name.strip().endswith("%")}
    widths = [
        max((len(row[at]) for row in rows if at < len(row) and row[at][:1] != "="), default=8)
        for at in range(len(heading))
    ]
    columns = "".join(
        f'<col min="{at}" max="{at}" width="{min(max(width + 2, 8), 60)}" customWidth="1"/>'
        for at, width in enumerate(widths, 1)
    )
    body: list[str] = []
    for number, row in enumerate(rows, 1):
        styles = [HEADING if number == 1 else SHARE if at in shares else PLAIN for at in range(len(row))]
        cells = (cell(f"{column(at)}{number}", text, styles[at]) for at, text in enumerate(row))
        body.append(f'<row r="{number}">{"".join(cells)}</row>')
    view = (
        '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" '
        'state="frozen"/></sheetView></sheetViews>'
    )
    cols = f"<cols>{columns}</cols>" if columns else ""
    return f'{HEAD}<worksheet xmlns="{MAIN}">{view}{cols}<sheetData>{"".join(body)}</sheetData></worksheet>'


def sheet_name(path: Path, taken: set[str]) -> str:
    base = re.sub(r"[\[\]:*?/\\']", " ", path.stem).strip()[:31] or "Sheet"
    name, number = base, 1
    while name.casefold() in taken:
        number += 1
        name = f"{base[:27]} {number}"
    taken.add(name.casefold())
    return name


def write(out: Path, sources: list[Path]) -> list[str]:
    taken: set[str] = set()
    names = [sheet_name(path, taken) for path in sources]
    sheets: list[str] = []
    for path in sources:
        with path.open(encoding="utf-8-sig", newline="") as file:
            sheets.append(sheet(list(csv.reader(file))))
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = "".join(
        f'<Override PartName="/xl/worksheets/sheet{at}.xml" ContentType="{kind}.worksheet+xml"/>'
        for at in range(1, len(names) + 1)
    )
    types = (
        f'{HEAD}<Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{kind}.styles+xml"/>{parts}</Types>'
    )
    listed = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{at}" r:id="rId{at}"/>' for at, name in enumerate(names, 1)
    )
    book = (
        f'{HEAD}<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets>'
        '<calcPr fullCalcOnLoad="1"/></workbook>'
    )
    links = "".join(
        f'<Relationship Id="rId{at}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{at}.xml"/>'
        for at in range(1, len(names) + 1)
    )
    styles = f'<Relationship Id="rId{len(names) + 1}" Type="{OFFICE}/styles" Target="styles.xml"/>'
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("[Content_Types].xml", types)
        packed.writestr(
            "_rels/.rels",
            f'{HEAD}<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" '
            f'Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        packed.writestr("xl/workbook.xml", book)
        packed.writestr(
            "xl/_rels/workbook.xml.rels",
            f'{HEAD}<Relationships xmlns="{PACKAGE}/relationships">{links}{styles}</Relationships>',
        )
        packed.writestr("xl/styles.xml", STYLES)
        for at, text in enumerate(sheets, 1):
            packed.writestr(f"xl/worksheets/sheet{at}.xml", text)
    return names


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("csv", type=Path, nargs="+")
    given = parser.parse_args()
    try:
        names = write(given.out, given.csv)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        sys.exit(f"Nothing was written: {error}")
    print(f"Wrote {given.out}: {', '.join(names)}")


if __name__ == "__main__":
    main()
