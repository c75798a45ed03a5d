"""The text of a PDF's pages, by the PDF library of Chrome, with form values and comments."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from tool_api.documents.formats.left_out import told
from tool_api.documents.formats.pdf_annotations import Annotations
from tool_api.documents.formats.trees import on_one_line
from tool_api.documents.parts import RefusedDocumentError

_raw: Any = pdfium
_NO_TEXT = "[no text on this page; if it is a scan, open the file in the browser and look at it]"
_SCAN = "[page {} is a picture without text, such as a scan; open the file in the browser and look at it]"
_BROKEN = "[page {} is corrupt and can't be read]"
_XFA = "[its form is an XFA form, which is not read; ask for a copy that is printed to PDF]"
_NOT_SHOWN = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
# Smaller ones are signs and lines of a letter's head.
_PICTURE_POINTS = 72
_MOST_TOLD = 20
_FAULTS = (pypdfium2.PdfiumError, OSError, ValueError, UnicodeError)


class PdfDocument:
    unit = "page"

    def __init__(self, pages: Any) -> None:
        self._pages = pages
        self._form = _form_of(pages)
        self.count = len(pages)
        title = on_one_line(str(pages.get_metadata_value("Title") or ""))[:300]
        self.about = f"[PDF, {self.count} page{'' if self.count == 1 else 's'}{': ' if title else ''}{title}]"
        if pages.get_formtype() in (_raw.FORMTYPE_XFA_FULL, _raw.FORMTYPE_XFA_FOREGROUND):
            self.about += f"\n{_XFA}"

    def mark(self, number: int) -> str:
        return f"--- page {number} of {self.count} ---"

    def lines(self, number: int) -> Iterator[str]:
        try:
            page = self._pages[number - 1]
        except _FAULTS:
            yield _BROKEN.format(number)
        else:
            try:
                yield from self._page_lines(page, number)
            finally:
                page.close()
        if number == self.count:
            yield from self._attached()

    def _page_lines(self, page: Any, number: int) -> Iterator[str]:
        left_out = Counter[str]()
        said = list(self._annotations(page, left_out))
        pictures, all_pictures = _pictures(page)
        left_out["picture"] = pictures
        try:
            text = str(page.get_textpage().get_text_range())
        except _FAULTS:
            yield _BROKEN.format(number)
            return
        text = _NOT_SHOWN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
        if text.strip():
            yield from text.splitlines()
        elif all_pictures:
            left_out["picture"] = 0
            yield _SCAN.format(number)
        elif not said:
            yield _NO_TEXT
        yield from said
        yield from told(left_out)

    def _annotations(self, page: Any, left_out: Counter[str]) -> Iterator[str]:
        try:
            yield from Annotations(page, self._form, left_out).lines()
        except _FAULTS:
            yield "[fields or comments of this page could not be read]"

    def _attached(self) -> Iterator[str]:
        names: list[str] = []
        try:
            count = int(self._pages.count_attachments())
        except _FAULTS:
            return
        for at in range(min(count, _MOST_TOLD)):
            try:
                names.append(on_one_line(str(self._pages.get_attachment(at).get_name())))
            except _FAULTS:
                names.append("one without a name")
        if count > 0:
            more = f" and {count - _MOST_TOLD} more" if count > _MOST_TOLD else ""
            yield f"[not read: {count} attached file{'' if count == 1 else 's'}: {', '.join(names)}{more}]"


def _form_of(pages: Any) -> Any:
    try:
        pages.init_forms()
    except _FAULTS:
        return None
    return pages.formenv


def _pictures(page: Any) -> tuple[int, int]:
    """The number of pictures large enough to look at, and the number of all."""
    counted, all_pictures = 0, 0
    try:
        for found in page.get_objects(filter=[_raw.FPDF_PAGEOBJ_IMAGE], max_depth=5):
            all_pictures += 1
            left, bottom, right, top = found.get_bounds()
            counted += right - left >= _PICTURE_POINTS and top - bottom >= _PICTURE_POINTS
    except _FAULTS:
        pass
    return counted, all_pictures


def open_document(data: bytes) -> PdfDocument:
    """Raises `RefusedDocumentError` for one that is broken or wants a password."""
    try:
        return PdfDocument(pypdfium2.PdfDocument(data))
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise RefusedDocumentError("It is encrypted. Ask for a copy without a password.") from error
        raise RefusedDocumentError("It is not a complete PDF.") from error
