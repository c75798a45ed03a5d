"""Documents of all kinds that are read, by the programs that take them apart, with what is odd in them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import openpyxl
import pptx
import pypdf
import pytest

from support import documents
from support.document_text import CHART, DOCUMENT, changed, chart, part, relations
from support.documents import paragraph, read

SLIDE = "ppt/slides/slide2.xml"


def saved(made: Any) -> bytes:
    held = io.BytesIO()
    made.save(held)
    return held.getvalue()


async def test_a_workbook_with_an_empty_fill_and_a_colour_of_the_web_is_read(tmp_path: Path) -> None:
    made: Any = openpyxl.Workbook()
    made.active["A1"] = 7
    styles = part(saved(made), "xl/styles.xml").replace("<fill>", "<fill/><fill>", 1)
    styles = styles.replace("</fonts>", '<font><color rgb="#FFFF00"/></font></fonts>')
    (tmp_path / "a.xlsx").write_bytes(changed(saved(made), {"xl/styles.xml": styles}))
    assert (await read(tmp_path, "a.xlsx")).output.endswith("row,A\n1,7")


async def test_a_deck_with_a_chart_of_three_dimensions_is_read_whole(tmp_path: Path) -> None:
    made: Any = pptx.Presentation()
    for name in ("one", "two", "three"):
        made.slides.add_slide(made.slide_layouts[5]).shapes.title.text = name
    frame = f'<p:graphicFrame xmlns:r="{DOCUMENT}"><c:chart xmlns:c="{CHART}" r:id="c"/></p:graphicFrame></p:spTree>'
    slide = part(saved(made), SLIDE).replace("</p:spTree>", frame)
    for content, lines in (
        (chart("bar3DChart"), ["[chart: Rents]", "North: Q1 1.0, Q2 2.5"]),
        ("no xml", ["[the chart could not be read: it is no XML]"]),
    ):
        parts = {
            SLIDE: slide,
            "ppt/slides/_rels/slide2.xml.rels": relations(c=("chart", "../charts/c.xml")),
            "ppt/charts/c.xml": content,
        }
        (tmp_path / "a.pptx").write_bytes(changed(saved(made), parts))
        said = (await read(tmp_path, "a.pptx")).output.splitlines()
        assert said[1:3] == ["--- slide 1 of 3 ---", "# one"]
        assert said[4:] == ["# two", *lines, "--- slide 3 of 3 ---", "# three"]


PAGE = "<!DOCTYPE html><html><head><title>t</title></head><body><h1>One</h1></body></html>"
ITEM = '<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
TEXT = 'xmlns:office="o" xmlns:text="t"'
READ: dict[str, tuple[bytes, str]] = {
    "a.odt": (
        documents.zipped(
            {
                "mimetype": "application/vnd.oasis.opendocument.text",
                "content.xml": f"<office:document-content {TEXT}><office:body><office:text><text:p>so</text:p>"
                "</office:text></office:body></office:document-content>",
            }
        ),
        "[OpenDocument text]\nso",
    ),
    "a.epub": (
        documents.zipped(
            {
                "mimetype": "application/epub+zip",
                "META-INF/container.xml": '<c><rootfile full-path="a.opf"/></c>',
                "a.opf": f'<package><manifest>{ITEM}</manifest><spine><itemref idref="a"/></spine></package>',
                "a.xhtml": PAGE,
            }
        ),
        "[book, 1 chapter]\n--- chapter 1 of 1 ---\n# One",
    ),
    "a.rtf": (rb"{\rtf1\ansi caf\'e9\par}", "[Rich Text document]\ncafé"),
    "a.eml": (
        "From: a@x\nSubject: s\nContent-Type: text/plain; charset=gb2312\n\n你好".encode("gb18030"),
        "[mail]\nFrom: a@x\nSubject: s\n\n你好",
    ),
    "a.ipynb": (
        json.dumps({"cells": [{"cell_type": "code", "source": "1"}]}).encode(),
        "[notebook, 1 cell]\n--- cell 1: code ---\n1",
    ),
    "named.doc": (documents.word(paragraph("so")), "[Word document]\nso"),
    "named.odd": (rb"{\rtf1 so}", "[Rich Text document]\nso"),
}


@pytest.mark.parametrize("name", READ)
async def test_documents_of_other_programs_are_read(tmp_path: Path, name: str) -> None:
    content, text = READ[name]
    (tmp_path / name).write_bytes(content)
    assert (await read(tmp_path, name, as_text=True)).output == text


async def test_a_notebook_is_its_source_unless_its_text_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_bytes(READ["a.ipynb"][0])
    assert (await read(tmp_path, "a.ipynb")).output.startswith('{"cells"')


async def test_a_pdf_with_a_password_is_refused_and_one_that_opens_without_is_read(tmp_path: Path) -> None:
    for name, password in (("open.pdf", ""), ("locked.pdf", "secret")):
        writer = pypdf.PdfWriter(clone_from=io.BytesIO(documents.pdf("so")))
        writer.encrypt(password, "owner", algorithm="RC4-128")
        writer.write(tmp_path / name)
    assert (await read(tmp_path, "open.pdf")).output.endswith("so")
    locked = await read(tmp_path, "locked.pdf")
    assert not locked.success
    assert "Ask for a copy without a password" in locked.output


async def test_what_is_not_read_says_what_to_do(tmp_path: Path) -> None:
    old = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".ljust(512, b"\0")
    for name, content, said in (
        ("a.doc", old + "WordDocument\0".encode("utf-16-le").ljust(64, b"\0"), "--convert-to docx"),
        ("a.docx", old + "EncryptedPackage\0".encode("utf-16-le").ljust(64, b"\0"), "without a password"),
        ("a.pages", documents.zipped({"Index/Document.iwa": b"x"}), "Pages, Numbers or Keynote"),
        ("a.xlsb", documents.zipped({"xl/workbook.bin": b"x"}), "--convert-to xlsx"),
        ("a.odt", documents.zipped({"mimetype": "application/vnd.oasis.opendocument.text"}), "missing"),
    ):
        (tmp_path / name).write_bytes(content)
        result = await read(tmp_path, name)
        assert not result.success, name
        assert said in result.output
