"""Documents of each kind, made by other programs than those that read them, and `file_read` of a folder of them."""

from __future__ import annotations

import io
import time
import zipfile
from datetime import date
from pathlib import Path
from typing import Any

import openpyxl
import pptx
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE

from contracts.tools import ToolResult
from tool_api.documents.programs import DocumentPrograms
from tool_api.documents.reader import DocumentReader
from tool_api.tools.files.controller import FileController
from tool_api.tools.files.types import FileRead
from tool_api.tools.tool import CallContext
from tool_api.workspace import Workspace

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OPC = "http://schemas.openxmlformats.org/package/2006"
_DOC_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"


def context(deadline_s: float = 60.0) -> CallContext:
    async def ignore(_: str) -> None:
        return

    return CallContext(call_id="c", deadline=time.monotonic() + deadline_s, write_output=ignore)


async def read(folder: Path, path: str, deadline_s: float = 60.0, **arguments: Any) -> ToolResult:
    files = FileController(workspace=Workspace(folder), documents=DocumentReader(DocumentPrograms()))
    return await files.read(context(deadline_s), FileRead(path=path, **arguments))


def zipped(parts: dict[str, str | bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return packed.getvalue()


def word(body: str, *, before: str = "", **more: str | bytes) -> bytes:
    """A Word document of these paragraphs, in the words of its format; `before` stands above the first element."""
    types = f'<Default Extension="rels" ContentType="{_OPC}"/><Override PartName="/word/document.xml" '
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{_OPC}/content-types">{types}ContentType="{_DOC_TYPE}"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_OPC}/relationships">'
        f'<Relationship Id="r1" Type="{_RELATION}" Target="word/document.xml"/></Relationships>',
        "word/document.xml": f'{before}<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>',
    }
    return zipped({**parts, **more})


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def workbook() -> bytes:
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.title = "销售"
    sheet.append(["name", "amount", "when"])
    sheet.append(['比较, "x"', 1.5, date(2026, 3, 1)])
    sheet["B9"] = "=SUM(B2:B3)"
    far: Any = book.create_sheet("Far")
    far.sheet_state = "hidden"
    far["XFD70000"] = "far away"
    long: Any = book.create_sheet("Long")
    for number in range(1, 3001):
        long.append([number, f"row {number}"])
    saved = io.BytesIO()
    book.save(saved)
    return saved.getvalue()


def presentation() -> bytes:
    shown: Any = pptx.Presentation()
    slide = shown.slides.add_slide(shown.slide_layouts[1])
    slide.shapes.title.text, slide.placeholders[1].text = "标题", "one\ntwo"
    slide.notes_slide.notes_text_frame.text = "say 你好"
    slide = shown.slides.add_slide(shown.slide_layouts[5])
    table = slide.shapes.add_table(2, 2, 0, 0, 900_000, 900_000).table
    table.cell(0, 0).text, table.cell(1, 1).text = "a|b", "值"
    data: Any = CategoryChartData()
    data.categories = ["Q1", "Q2"]
    data.add_series("Rents", (1, 2))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 900_000, 900_000, data)
    saved = io.BytesIO()
    shown.save(saved)
    return saved.getvalue()


def pdf(*pages: str, encrypt: bool = False) -> bytes:
    """A PDF of one line a page, an empty one for a page without text."""
    objects = ["<</Type/Catalog/Pages 2 0 R>>", "", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
    kids: list[str] = []
    for text in pages:
        content = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else ""
        objects.append(f"<</Length {len(content)}>>stream\n{content}\nendstream")
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents {len(objects)} 0 R"
            "/Resources<</Font<</F1 3 0 R>>>>>>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<</Type/Pages/Kids[{' '.join(kids)}]/Count {len(kids)}>>"
    made, places = b"%PDF-1.7\n", list[int]()
    for number, content in enumerate(objects, 1):
        places.append(len(made))
        made += f"{number} 0 obj\n{content}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    lock = "/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<{0}>/U<{0}>>>/ID[<00><00>]".format("00" * 32) if encrypt else ""
    count = len(objects) + 1
    return (
        made
        + (
            f"xref\n0 {count}\n0000000000 65535 f \n{table}trailer<</Size {count}/Root 1 0 R{lock}>>\n"
            f"startxref\n{len(made)}\n%%EOF"
        ).encode()
    )
