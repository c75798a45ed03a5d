"""What a file is, by how it begins: whether it is read as the lines it has, or by a program that knows its format."""

from __future__ import annotations

import codecs
from enum import StrEnum
from pathlib import PurePosixPath

SNIFFED_BYTES = 8192
_PDF_WITHIN = 1024
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP = b"PK\x03\x04"
_OFFICE = frozenset({".docx", ".docm", ".dotx", ".dotm", ".xlsx", ".xlsm", ".xltx", ".xltm"}) | frozenset(
    {".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".potm"}
)
_PAGES = frozenset({".html", ".htm", ".xhtml"})
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)


class Kind(StrEnum):
    """How a file becomes text. `LINES` is read as it is, in the encoding it has; so is what is `BINARY` by its
    beginning, should it turn out to be text after all."""

    LINES = "lines"
    BINARY = "binary"
    PAGE = "page"
    PDF = "pdf"
    OFFICE = "office"
    OLD_OFFICE = "old_office"


def kind_of(head: bytes, path: str, *, as_text: bool) -> Kind:
    """By the first `SNIFFED_BYTES` of a file. Of a page its source is what it has, unless its text is asked for."""
    suffix = PurePosixPath(path).suffix.lower()
    if b"%PDF-" in head[:_PDF_WITHIN]:
        return Kind.PDF
    if head.startswith(_ZIP) and suffix in _OFFICE:
        return Kind.OFFICE
    if head.startswith(_OLD_OFFICE):
        return Kind.OLD_OFFICE
    if suffix in _PAGES and as_text:
        return Kind.PAGE
    return Kind.BINARY if b"\0" in head and not head.startswith(_WIDE_MARKS) else Kind.LINES
