"""The chapters of a book, each a page of the web, as Markdown."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from urllib.parse import unquote

from tool_api.documents.archives import Archive, BrokenPartError
from tool_api.documents.formats import page
from tool_api.documents.formats.trees import Element, on_one_line, parse
from tool_api.documents.parts import RefusedDocumentError

_CONTAINER = "META-INF/container.xml"
_PAGES = ("application/xhtml+xml", "text/html", "application/xml", "text/x-oeb1-document")
# Fonts are made unreadable in books that are open otherwise.
_FONTS = (".ttf", ".otf", ".woff", ".woff2")


class Book:
    unit = "chapter"

    def __init__(self, archive: Archive, title: str, chapters: list[str], locked: frozenset[str]) -> None:
        self._archive, self._chapters, self._locked = archive, chapters, locked
        self.count = len(chapters)
        about = f"{self.count} chapter{'' if self.count == 1 else 's'}"
        self.about = f"[book, {about}{f': {title}' if title else ''}]"

    def mark(self, number: int) -> str:
        return f"--- chapter {number} of {self.count} ---"

    def lines(self, number: int) -> Iterator[str]:
        name = self._chapters[number - 1]
        try:
            if name in self._locked:
                raise BrokenPartError("it is encrypted")
            text = page.open_document(self._archive.read(name)).text
        except BrokenPartError as error:
            yield f"[chapter {number} could not be read: {error}]"
            return
        yield from text.splitlines() if text.strip() else ["[no text in this chapter]"]


def open_document(data: bytes) -> Book:
    """Raises `RefusedDocumentError`."""
    archive = Archive(data)
    name = _package_name(archive)
    try:
        root, _ = parse(archive.read_xml(name))
    except BrokenPartError as error:
        raise RefusedDocumentError(f"The list of its chapters can't be read: {error}.") from error
    folder = posixpath.dirname(name)
    items = {str(one.get("id")): one for one in root.iterfind("{*}manifest/{*}item")}
    named = [items.get(str(one.get("idref"))) for one in root.iterfind("{*}spine/{*}itemref")]
    chapters = [_place(folder, one) for one in named if one is not None and one.get("media-type") in _PAGES]
    if not chapters:
        chapters = [_place(folder, one) for one in items.values() if one.get("media-type") in _PAGES]
    if not chapters:
        raise RefusedDocumentError("The book has no chapters with text.")
    title = on_one_line(str(root.findtext("{*}metadata/{*}title") or root.findtext(".//{*}title") or ""))[:300]
    return Book(archive, title, chapters, _locked(archive))


def _place(folder: str, item: Element) -> str:
    path = unquote(str(item.get("href") or "").partition("#")[0])
    return posixpath.normpath(posixpath.join("/", folder, path)).lstrip("/")


def _package_name(archive: Archive) -> str:
    try:
        root, _ = parse(archive.read_xml(_CONTAINER))
        found = [str(one.get("full-path")) for one in root.iter("{*}rootfile")]
    except BrokenPartError:
        found = []
    found += [name for name in archive.names() if name.lower().endswith(".opf")]
    for name in found:
        if name in archive:
            return name
    raise RefusedDocumentError("The book has no list of its chapters.")


def _locked(archive: Archive) -> frozenset[str]:
    """The chapters that only a program with the shop's key opens."""
    try:
        root, _ = parse(archive.read_xml("META-INF/encryption.xml"))
    except BrokenPartError:
        return frozenset()
    named = (unquote(str(one.get("URI"))) for one in root.iter("{*}CipherReference"))
    return frozenset(name for name in named if not name.lower().endswith(_FONTS))
