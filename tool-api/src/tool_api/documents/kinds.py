"""The kind of a file by its first bytes: read as lines, or by a program that knows its format."""

from __future__ import annotations

import codecs
import re
from enum import StrEnum
from pathlib import PurePosixPath

SNIFFED_BYTES = 8192
_PDF_WITHIN = 1024
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_RTF = b"{\\rtf"
_ZIP = b"PK\x03\x04"
_OFFICE = frozenset({".docx", ".docm", ".dotx", ".dotm", ".xlsx", ".xlsm", ".xltx", ".xltm"}) | frozenset(
    {".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".potm", ".xlsb"}
)
_OTHER_ARCHIVES = frozenset({".odt", ".ott", ".ods", ".ots", ".odp", ".otp", ".odg"}) | frozenset(
    {".epub", ".pages", ".numbers", ".key"}
)
# The first bytes of such an archive, whatever its name ends in.
_OFFICE_MARKS = (b"[Content_Types].xml", b"_rels/", b"mimetypeapplication/vnd.oasis", b"mimetypeapplication/epub+zip")
_NAME_IN_ZIP = 30
_MAILS = frozenset({".eml", ".mht", ".mhtml"})
_PAGES = frozenset({".html", ".htm", ".xhtml"})
_PICTURES = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a", b"II*\0", b"MM\0*")
_PICTURE_BRANDS = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1", b"avif", b"avis"})
_SVG = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).)*+-->\s*+)*+(?:<!DOCTYPE\s+svg[^>]*>\s*)?<svg[\s>]",
    re.DOTALL,
)
_BMP_HEAD = 18
_BMP_LENGTHS = frozenset(length.to_bytes(4, "little") for length in (12, 40, 52, 56, 64, 108, 124))
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)


class Kind(StrEnum):
    """The way a file is turned into text. `LINES` is read as it is, in its encoding; so is a file that begins as
    `BINARY` but turns out to be text, and a `DRAWING` (SVG), which is shown as a picture too."""

    LINES = "lines"
    BINARY = "binary"
    PICTURE = "picture"
    DRAWING = "drawing"
    PAGE = "page"
    PDF = "pdf"
    OFFICE = "office"
    OLD_OFFICE = "old_office"
    RTF = "rtf"
    MAIL = "mail"
    NOTEBOOK = "notebook"


def kind_of(head: bytes, path: str, *, as_text: bool) -> Kind:
    """The kind of a file by its first `SNIFFED_BYTES`. Pages and notebooks are read as source unless `as_text` is
    set."""
    suffix = PurePosixPath(path).suffix.lower()
    if is_picture(head):
        return Kind.PICTURE
    if b"%PDF-" in head[:_PDF_WITHIN]:
        return Kind.PDF
    if head.startswith(_ZIP) and (
        suffix in _OFFICE or suffix in _OTHER_ARCHIVES or head[_NAME_IN_ZIP:].startswith(_OFFICE_MARKS)
    ):
        return Kind.OFFICE
    if head.startswith(_OLD_OFFICE):
        return Kind.OLD_OFFICE
    if head.startswith(_RTF):
        return Kind.RTF
    if suffix in _MAILS:
        return Kind.MAIL
    if suffix in _PAGES and as_text:
        return Kind.PAGE
    if suffix == ".ipynb" and as_text:
        return Kind.NOTEBOOK
    if is_drawing(head) and not as_text:
        return Kind.DRAWING
    return Kind.BINARY if b"\0" in head and not head.startswith(_WIDE_MARKS) else Kind.LINES


def is_drawing(head: bytes) -> bool:
    """Whether the file begins like an SVG drawing."""
    return _SVG.match(head) is not None


def is_picture(head: bytes) -> bool:
    """Whether the file begins like a pixel picture, whatever its name."""
    if head.startswith(_PICTURES) or (head.startswith(b"RIFF") and head[8:12] == b"WEBP"):
        return True
    if head.startswith(b"BM"):
        # Two letters are a word's, too: the header after those of the file has a known length.
        return len(head) > _BMP_HEAD and head[6:10] == bytes(4) and head[14:18] in _BMP_LENGTHS
    return head[4:8] == b"ftyp" and head[8:12] in _PICTURE_BRANDS
