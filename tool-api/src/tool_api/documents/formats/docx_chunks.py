"""Files of other kinds that a Word document shows as a part of its text."""

from __future__ import annotations

from tool_api.documents.archives import BrokenPartError
from tool_api.documents.formats import page
from tool_api.documents.formats.package import Package

_PAGES = (".htm", ".html", ".xhtml")


def chunk_text(package: Package, part: str, identifier: str | None) -> str:
    """The text of the inserted file, or the reason why it was not read."""
    try:
        name = package.target(part, identifier)
        content = package.archive.read(name)
    except BrokenPartError as error:
        return f"[an inserted file could not be read: {error}]"
    if name.lower().endswith(_PAGES):
        return page.open_document(content).text
    if name.lower().endswith(".txt"):
        return content.decode("utf-8-sig", "replace")
    return f"[not read: the inserted file {name}]"
