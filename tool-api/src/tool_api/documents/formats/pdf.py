"""The text of a PDF's pages, by the library that Chrome shows them with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pypdfium2

from tool_api.documents.parts import RefusedDocumentError

_NO_TEXT = "[no text on this page; if it is a scan, open the file in the browser and look at it]"
_NOT_SHOWN = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


class PdfDocument:
    unit = "page"

    def __init__(self, pages: Any) -> None:
        self._pages = pages
        self.count = len(pages)
        title = " ".join(str(pages.get_metadata_value("Title") or "").split())[:300]
        self.about = f"[PDF, {self.count} page{'' if self.count == 1 else 's'}{': ' if title else ''}{title}]"

    def mark(self, number: int) -> str:
        return f"--- page {number} of {self.count} ---"

    def lines(self, number: int) -> Iterator[str]:
        page = self._pages[number - 1]
        try:
            text = str(page.get_textpage().get_text_range())
        except pypdfium2.PdfiumError:
            yield "[this page is broken and can't be read]"
            return
        finally:
            page.close()
        text = _NOT_SHOWN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
        yield from text.splitlines() if text.strip() else [_NO_TEXT]


def open_document(data: bytes) -> PdfDocument:
    """Raises `RefusedDocumentError` for one that is broken or wants a password."""
    try:
        return PdfDocument(pypdfium2.PdfDocument(data))
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise RefusedDocumentError("It is encrypted. Ask for a copy without a password.") from error
        raise RefusedDocumentError("It is no whole PDF.") from error
