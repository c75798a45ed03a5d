"""Converts a document into text, as a program of its own: time and memory depend on the document's maker.

Its argument: JSON of the request (`kind`, and the fields of `Asked`). Standard input: the document. Standard output:
JSON, with `text`, or with `refused` if there is none.
"""

from __future__ import annotations

import importlib
import json
import sys

from tool_api.documents import fence
from tool_api.documents.answering import answer, check_length, read_document
from tool_api.documents.archives import Archive, BrokenPartError
from tool_api.documents.kinds import Kind
from tool_api.documents.parts import Asked, RefusedDocumentError, read_part

_FORMATS = {
    Kind.PAGE: "page",
    Kind.PDF: "pdf",
    Kind.OLD_OFFICE: "old_office",
    Kind.RTF: "rtf",
    Kind.MAIL: "mail",
    Kind.NOTEBOOK: "notebook",
}
_OFFICE = {"word/": "docx", "xl/": "xlsx", "ppt/": "pptx"}
_TYPES = {b"wordprocessingml": "docx", b"spreadsheetml": "xlsx", b"presentationml": "pptx"}


def main() -> None:
    fence.limit()
    asked = json.loads(sys.argv[1])
    kind = Kind(asked.pop("kind"))
    data = read_document()
    answer(lambda: {"text": _read(data, kind, Asked(**asked))})


def _read(data: bytes, kind: Kind, asked: Asked) -> str:
    check_length(data)
    name = _office_format(data) if kind is Kind.OFFICE else _FORMATS[kind]
    library = importlib.import_module(f"tool_api.documents.formats.{name}")
    fence.install()
    return read_part(library.open_document(data), asked)


def _office_format(data: bytes) -> str:
    """The format of an Office document by its content: its name may end in anything."""
    archive = Archive(data)
    try:
        media_type = archive.read("mimetype")[:200].strip().decode("ascii", "replace")
    except BrokenPartError:
        media_type = ""
    names = [name.lower() for name in archive.names()]
    if media_type == "application/epub+zip" or "META-INF/container.xml" in archive:
        return "epub"
    if media_type.startswith("application/vnd.oasis.opendocument.") or "content.xml" in names:
        return "odf"
    if any(name.endswith(".iwa") or name == "index.zip" for name in names):
        raise RefusedDocumentError("It is a document of Pages, Numbers or Keynote. Ask for a copy as PDF or .docx.")
    for folder, its_format in _OFFICE.items():
        if any(name.replace("\\", "/").lstrip("/").startswith(folder) for name in names):
            return its_format
    try:
        types = archive.read("[Content_Types].xml")
    except BrokenPartError:
        types = b""
    for kind, its_format in _TYPES.items():
        if kind in types:
            return its_format
    raise RefusedDocumentError("It is not a text document, spreadsheet or presentation.")
