"""Documents as their readers open them. The libraries have no types, so what they give has none here."""

from __future__ import annotations

import io
from typing import Any

import mammoth
import pypdfium2
from pptx import Presentation
from pypdf import PdfReader

_word: Any = mammoth


def deck(data: bytes) -> Any:
    """The presentation of python-pptx."""
    return Presentation(io.BytesIO(data))


def html_of_word(data: bytes, styles: str) -> str:
    """What a Word document says, with these styles as tags of their own."""
    return str(_word.convert_to_html(io.BytesIO(data), style_map=styles).value)


def pdf_pages(data: bytes) -> list[Any]:
    """Pages as pypdfium2 has them."""
    return list(pypdfium2.PdfDocument(data))


def pdf_text(data: bytes) -> str:
    """As it is written in the file: some readers put common characters in by themselves."""
    return "".join(page.extract_text() for page in PdfReader(io.BytesIO(data)).pages)
