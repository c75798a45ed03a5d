"""Documents of all kinds that are read, by the programs that take them apart, with what is odd in them."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pypdf
import pytest

from support import documents
from support.documents import paragraph, read

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
