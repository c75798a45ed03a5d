"""Documents read as text, by the programs that take them apart."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psutil
import pytest

from contracts.tools import FileDisplay
from support import documents
from support.documents import paragraph, read


async def test_a_pdf_is_read_page_by_page(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(documents.pdf("first page", "", "third page"))
    whole = await read(tmp_path, "a.pdf")
    assert whole.output.splitlines() == [
        "[PDF, 3 pages]",
        "--- page 1 of 3 ---",
        "first page",
        "--- page 2 of 3 ---",
        "[no text on this page; if it is a scan, open the file in the browser and look at it]",
        "--- page 3 of 3 ---",
        "third page",
    ]
    assert whole.display == FileDisplay(path="a.pdf", operation="read", size=(tmp_path / "a.pdf").stat().st_size)
    assert (await read(tmp_path, "a.pdf", start_page=3)).output.endswith("--- page 3 of 3 ---\nthird page")
    beyond = await read(tmp_path, "a.pdf", start_page=4)
    assert not beyond.success
    assert "It has only 3 pages." in beyond.output


async def test_a_word_document_is_read_as_markdown(tmp_path: Path) -> None:
    heading = '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>报告</w:t></w:r></w:p>'
    cells = "".join(f"<w:tc>{paragraph(text)}</w:tc>" for text in ("a", "比"))
    bold = "<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>so</w:t></w:r></w:p>"
    styles = '<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
    styles += '<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style></w:styles>'
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles"
    made = documents.word(
        f"{heading}{bold}<w:tbl><w:tr>{cells}</w:tr><w:tr>{cells}</w:tr></w:tbl>",
        **{
            "word/styles.xml": styles,
            "word/_rels/document.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
            f'relationships"><Relationship Id="r1" Type="{relation}" Target="styles.xml"/></Relationships>',
        },
    )
    (tmp_path / "a.docx").write_bytes(made)
    said = (await read(tmp_path, "a.docx")).output
    assert said.startswith("[Word document]\n# 报告\n\n**so**\n")
    assert "| a | 比 |" in said


async def test_the_sheets_of_a_workbook_have_marks_and_rows_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_bytes(documents.workbook())
    said = (await read(tmp_path, "a.xlsx", end_page=2)).output
    assert said.splitlines() == [
        "[workbook, 3 sheets]",
        "--- sheet 1 of 3: 销售 ---",
        "row,A,B,C",
        "1,name,amount,when",
        '2,"比较, ""x""",1.5,2026-03-01',
        "9,,=SUM(B2:B3)",
        "--- sheet 2 of 3: Far (hidden) ---",
        "70000, of many columns those with something in them: XFD: far away",
    ]
    cut = (await read(tmp_path, "a.xlsx", start_page=3)).output
    assert len(cut) < 16_000
    line = int(cut.rpartition("start_line=")[2].rstrip("]"))
    rest = (await read(tmp_path, "a.xlsx", start_page=3, start_line=line, end_line=line)).output
    assert rest.splitlines()[-1] == f"{line - 1},{line - 1},row {line - 1}"


async def test_the_slides_of_a_presentation_have_their_tables_charts_and_notes(tmp_path: Path) -> None:
    (tmp_path / "a.pptx").write_bytes(documents.presentation())
    assert (await read(tmp_path, "a.pptx")).output.splitlines() == [
        "[presentation, 2 slides]",
        "--- slide 1 of 2 ---",
        "# 标题",
        "- one",
        "- two",
        "Notes: say 你好",
        "--- slide 2 of 2 ---",
        "| a\\|b |  |",
        "|---|---|",
        "|  | 值 |",
        "[chart]",
        "Rents: Q1 1.0, Q2 2.0",
    ]


async def test_a_page_is_its_source_or_its_text_as_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<title>T</title><script>alert(1)</script><h1>比</h1><p>so")
    assert "<script>" in (await read(tmp_path, "a.html")).output
    assert (await read(tmp_path, "a.html", as_text=True)).output == "[page as Markdown: T]\n# 比\n\nso"


@pytest.mark.parametrize("encoding", ["GB18030", "UTF-16", "Big5"])
async def test_text_in_another_encoding_is_read(tmp_path: Path, encoding: str) -> None:
    text = "年份,地區,人口\n一九九九,臺北,許多的人在這裡生活\n"
    (tmp_path / "a.csv").write_bytes(text.encode(encoding))
    said = (await read(tmp_path, "a.csv")).output
    name = "UTF-16LE" if encoding == "UTF-16" else encoding
    assert said == f"[text in {name}, shown in UTF-8]\n{text}"


@pytest.mark.parametrize("name", ["a.md", "a.csv", "a.txt"])
async def test_text_is_read_as_it_is(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("# a,数\r\n\n| x |\n")
    assert (await read(tmp_path, name)).output == (tmp_path / name).read_bytes().decode()
    assert not (await read(tmp_path, name, start_page=2)).success


async def test_what_can_not_be_read_says_what_may_help(tmp_path: Path) -> None:
    (tmp_path / "locked.pdf").write_bytes(documents.pdf("x", encrypt=True))
    (tmp_path / "cut.pdf").write_bytes(b"%PDF-1.7 and no more")
    (tmp_path / "old.doc").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600)
    (tmp_path / "no.docx").write_bytes(documents.zipped({"a.txt": "x"}))
    (tmp_path / "broken.xlsx").write_bytes(documents.workbook()[:3000])
    (tmp_path / "a.zip").write_bytes(documents.zipped({"a.txt": "x"}))
    for name, said in {
        "locked.pdf": "without a password",
        "cut.pdf": "not a complete PDF",
        "old.doc": "Ask for a copy as .docx",
        "no.docx": "not a text document",
        "broken.xlsx": "corrupt",
        "a.zip": "binary file",
    }.items():
        result = await read(tmp_path, name)
        assert not result.success, name
        assert said in result.output


async def test_who_cancels_ends_the_program(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_bytes(documents.workbook())
    before = set(psutil.Process().children())
    reading = asyncio.create_task(read(tmp_path, "a.xlsx", start_page=3))
    async with asyncio.timeout(5):
        while not (started := set(psutil.Process().children()) - before):
            await asyncio.sleep(0.005)
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    assert not any(process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in started)
