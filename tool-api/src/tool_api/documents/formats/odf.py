"""OpenDocument files, such as those of LibreOffice: their parts, and their kind of the three."""

from __future__ import annotations

import posixpath
from urllib.parse import unquote

from tool_api.documents.archives import Archive, BrokenPartError
from tool_api.documents.formats.odf_sheets import Sheets
from tool_api.documents.formats.odf_slides import Slides
from tool_api.documents.formats.odf_text import OpenDocument, read_text
from tool_api.documents.formats.trees import Element, local, on_one_line, parse
from tool_api.documents.formats.whole import WholeDocument
from tool_api.documents.parts import Document, RefusedDocumentError


def open_document(data: bytes) -> Document:
    """Raises `RefusedDocumentError`."""
    archive = Archive(data)
    if _is_encrypted(archive):
        raise RefusedDocumentError("It is encrypted. Ask for a copy without a password.")
    try:
        root, fault = parse(archive.read_xml("content.xml"))
    except BrokenPartError as error:
        raise RefusedDocumentError(f"Its text can't be read: {error}.") from error
    body = next(
        (one for one in root.iterfind("{*}body/*") if local(one) in ("text", "spreadsheet", "presentation", "drawing")),
        None,
    )
    if body is None:
        raise RefusedDocumentError("It is not a text document, spreadsheet or presentation.")
    faults = [f"[a part of the document could not be read: {fault}]"] if fault else []
    document = OpenDocument(archive, root, body)
    if local(body) == "spreadsheet":
        return Sheets(document, faults)
    if local(body) in ("presentation", "drawing"):
        return Slides(document, faults)
    above, below = _margins(archive)
    return WholeDocument(about="[OpenDocument text]", text="\n".join([*above, read_text(document), *below, *faults]))


def _margins(archive: Archive) -> tuple[list[str], list[str]]:
    """The headers and footers of the pages."""
    found: dict[str, list[str]] = {"header": [], "footer": []}
    try:
        root, _ = parse(archive.read_xml("styles.xml"))
    except BrokenPartError as error:
        return [], [f"[headers and footers could not be read: {error}]"] if "styles.xml" in archive else []
    for page in root.iterfind("{*}master-styles/{*}master-page"):
        for margin in page:
            kind, _, which = local(margin).partition("-")
            if kind in found:
                paragraphs = (on_one_line("".join(one.itertext())) for one in margin.iter("{*}p", "{*}h"))
                text = " | ".join(filter(None, paragraphs))
                pages = {"left": " of even pages", "first": " of the first page"}.get(which, "")
                line = f"[{kind}{pages}: {text}]"
                if text and line not in found[kind]:
                    found[kind].append(line)
    return found["header"], found["footer"]


def _is_encrypted(archive: Archive) -> bool:
    try:
        root: Element = parse(archive.read_xml("META-INF/manifest.xml"))[0]
    except BrokenPartError:
        return False
    for entry in root.iter("{*}file-entry"):
        names = [str(value) for key, value in entry.attrib.items() if key.endswith("full-path")]
        path = posixpath.normpath(unquote(names[0])) if names else ""
        if path in ("content.xml", "encrypted-package") and entry.find("{*}encryption-data") is not None:
            return True
    return False
