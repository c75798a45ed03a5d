"""How a file is read is seen by how it begins."""

from __future__ import annotations

import pytest

from tool_api.documents.kinds import SNIFFED_BYTES, Kind, kind_of

CASES = {
    "text": (b"one\n", "a.txt", Kind.LINES),
    "nothing": (b"", "a.docx", Kind.LINES),
    "csv": ("a,数\n".encode(), "a.csv", Kind.LINES),
    "cut character": (b"x" * (SNIFFED_BYTES - 1) + "数".encode()[:1], "a.txt", Kind.LINES),
    "chinese": ("数据".encode("gb18030"), "a.csv", Kind.LINES),
    "wide": ("数".encode("utf-16"), "a.csv", Kind.LINES),
    "pdf": (b"%PDF-1.7", "a", Kind.PDF),
    "pdf after something": (b"\0\n%PDF-1.7", "a.txt", Kind.PDF),
    "word": (b"PK\x03\x04\0", "A.DOCX", Kind.OFFICE),
    "zip": (b"PK\x03\x04\0", "a.zip", Kind.BINARY),
    "old": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0", "a.doc", Kind.OLD_OFFICE),
    "open document": (b"PK\x03\x04\0", "a.odt", Kind.OFFICE),
    "book": (b"PK\x03\x04\0", "a.EPUB", Kind.OFFICE),
    "office by another name": (b"PK\x03\x04".ljust(30, b"\0") + b"[Content_Types].xml", "a.doc", Kind.OFFICE),
    "book without a name": (b"PK\x03\x04".ljust(30, b"\0") + b"mimetypeapplication/epub+zip", "a", Kind.OFFICE),
    "rich text": (b"{\\rtf1", "a.doc", Kind.RTF),
    "mail": (b"From: a\n", "a.eml", Kind.MAIL),
    "notebook": (b"{}", "a.ipynb", Kind.LINES),
    "program": (b"\x7fELF\0", "a", Kind.BINARY),
    "page": (b"<p>", "a.html", Kind.LINES),
}


@pytest.mark.parametrize(("head", "path", "kind"), CASES.values(), ids=CASES)
def test_a_file_is_what_it_begins_as(head: bytes, path: str, kind: Kind) -> None:
    assert kind_of(head, path, as_text=False) is kind


def test_the_text_of_a_page_is_read_where_it_is_asked_for() -> None:
    assert kind_of(b"<p>", "a.HTM", as_text=True) is Kind.PAGE
    assert kind_of(b"{}", "a.ipynb", as_text=True) is Kind.NOTEBOOK
    assert kind_of(b"x", "a.txt", as_text=True) is Kind.LINES
