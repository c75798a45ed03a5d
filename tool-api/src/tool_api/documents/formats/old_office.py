"""Documents of old Office programs, and new ones with a password: which it is, and the remedy."""

from __future__ import annotations

from tool_api.documents.formats.whole import WholeDocument
from tool_api.documents.parts import RefusedDocumentError

_CONVERT = (
    "Ask for a copy as .{0}, or make one where LibreOffice is installed: soffice --headless --convert-to {0} FILE"
)
_KINDS = {
    "EncryptedPackage": "It has a password. Ask for a copy without a password.",
    "WordDocument": f"It is a Word document of the old format .doc. {_CONVERT.format('docx')}",
    "PowerPoint Document": f"It is a presentation of the old format .ppt. {_CONVERT.format('pptx')}",
    "Workbook": f"It is a workbook of the old format .xls. {_CONVERT.format('xlsx')}",
    "Book": f"It is a workbook of the old format .xls. {_CONVERT.format('xlsx')}",
    "__properties_version1.0": "It is a mail of Outlook (.msg). Ask for a copy as .eml, or for its text.",
}
_OTHER = (
    "It is a document of an old Office format, or of a program that keeps its files as these did. Ask for a copy as "
    ".docx, .xlsx or .pptx, or as PDF."
)


def open_document(data: bytes) -> WholeDocument:
    """Always raises `RefusedDocumentError`, with a text by the names of its parts."""
    for name, said in _KINDS.items():
        if f"\0{name}\0".encode("utf-16-le")[1:] in data:
            raise RefusedDocumentError(said)
    raise RefusedDocumentError(_OTHER)
