"""A Word document as Markdown: headings, lists, tables, notes, comments, headers and footers, text boxes, charts;
pictures by their descriptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tool_api.documents.archives import BrokenPartError
from tool_api.documents.formats.docx_markdown import Converter
from tool_api.documents.formats.docx_text import plain_text
from tool_api.documents.formats.docx_tree import WORD, WordPart, prepared
from tool_api.documents.formats.left_out import told
from tool_api.documents.formats.package import Package
from tool_api.documents.formats.placeholders import Placeholders
from tool_api.documents.formats.trees import RELATION_ID, Element
from tool_api.documents.formats.whole import WholeDocument

_NOTES = {"footnotes": "footnote", "endnotes": "endnote", "comments": "comment"}
_WITHOUT_TEXT = ("styles", "numbering")
_PAGES = {"first": " of the first page", "even": " of even pages"}


def open_document(data: bytes) -> WholeDocument:
    """Raises `RefusedDocumentError`."""
    return WholeDocument(about="[Word document]", text=_Reader(Package(data)).text())


class _Reader:
    def __init__(self, package: Package) -> None:
        self._package = package
        self._main, self._root = package.main_tree("word/document.xml")
        self._left_out: Counter[str] = Counter()
        self._changes: Counter[str] = Counter()
        self._faults: list[str] = []
        self._placeholders = Placeholders()

    def text(self) -> str:
        parts: dict[str, Element] = {
            kind: root for kind in (*_NOTES, *_WITHOUT_TEXT) if (root := self._part(kind)) is not None
        }
        known = {kind: {str(one.get(f"{WORD}id")) for one in parts.get(kind, ())} for kind in _NOTES}
        above = list(self._margins("header"))
        below = list(self._margins("footer"))
        relations = {"document": self._prepare(self._main, self._root, known)}
        for kind in _NOTES:
            if kind in parts:
                relations[kind] = self._prepare(self._name(kind), parts[kind], known)
        converter = Converter(parts, relations)
        markdown = self._placeholders.fill(converter.markdown(self._root)).strip("\n")
        for name, fault in self._package.faults.items():
            what = "the document" if name == self._main else name
            self._faults.append(f"a part of {what} could not be read: {fault}")
        faults = [f"[{fault}]" for fault in (*self._faults, *converter.faults)]
        return "\n".join([*above, markdown, *below, *faults, *_told_changes(self._changes), *told(self._left_out)])

    def _prepare(self, name: str, root: Element, known: dict[str, set[str]]) -> dict[str, str]:
        part = WordPart(self._package, name, known, self._left_out, self._changes, self._placeholders)
        return prepared(root, part)

    def _name(self, kind: str) -> str:
        usual = f"{self._main.rpartition('/')[0]}/{kind}.xml"
        named = self._package.related(self._main, kind)
        return next((name for name in (*named, usual) if name in self._package.archive), (*named, "")[0])

    def _part(self, kind: str) -> Element | None:
        name = self._name(kind)
        try:
            return self._package.tree(name) if name else None
        except BrokenPartError as error:
            self._faults.append(f"the {kind} of the document could not be read: {error}")
            return None

    def _margins(self, kind: str) -> Iterator[str]:
        """The headers or footers of the pages, each text once."""
        said: set[str] = set()
        for reference in self._root.iter(f"{WORD}{kind}Reference"):
            pages = _PAGES.get(str(reference.get(f"{WORD}type")), "")
            try:
                name = self._package.target(self._main, reference.get(f"{RELATION_ID}id"))
                line = f"[{kind}{pages}: {plain_text(self._package.tree(name))}]"
            except BrokenPartError as error:
                line = f"[the {kind}{pages} could not be read: {error}]"
            if line not in said and not line.endswith(": ]"):
                yield line
            said.add(line)


def _told_changes(changes: Counter[str]) -> Iterator[str]:
    counted = [f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in changes.items()]
    if counted:
        struck = ", what was deleted is ~~struck through~~" if changes["deletion"] else ""
        yield f"[tracked changes: {', '.join(counted)}{struck}]"
