"""Small PDFs: with text, without any, and locked."""

from __future__ import annotations

import io
from collections.abc import Sequence

from pypdf import PdfReader, PdfWriter


def pdf_of(*pages: Sequence[str]) -> bytes:
    """A page for each list of lines."""
    streams = [
        "\n".join(["BT /F1 10 Tf 12 TL 50 780 Td", *(f"({_escaped(one)}) Tj T*" for one in page), "ET"])
        for page in pages
    ]
    return _document(streams)


def scanned() -> bytes:
    """Pages of rectangles."""
    return _document(["0 0 300 300 re f"] * 3)


def encrypted() -> bytes:
    """With a password to open it."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf_of(["Secret"]))))
    writer.encrypt("secret", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def _document(streams: Sequence[str]) -> bytes:
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(streams)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(streams)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, stream in enumerate(streams):
        content = f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream"
        page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> "
        objects += [f"{page}/Contents {5 + 2 * number} 0 R >>", content]
    out, places = b"%PDF-1.4\n", list[int]()
    for number, text in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{text}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF"
    return out + f"xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}".encode()


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
