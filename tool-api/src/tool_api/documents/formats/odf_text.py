"""The text of an OpenDocument file as Markdown."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Iterator
from html import escape

from tool_api.documents.archives import Archive, BrokenPartError
from tool_api.documents.formats.left_out import told
from tool_api.documents.formats.page import as_markdown
from tool_api.documents.formats.placeholders import Placeholders
from tool_api.documents.formats.trees import Element, local, on_one_line, parse

_SKIPPED = frozenset(
    {"sequence-decls", "variable-decls", "user-field-decls", "forms", "change-start", "change-end", "change"}
)
_MOST_SPACES = 100
_MOST_COLUMNS = 200


class OpenDocument:
    """The parts of a file, and the counts of what is left out."""

    def __init__(self, archive: Archive, root: Element, body: Element) -> None:
        self.archive, self.root, self.body = archive, root, body
        self.left_out: Counter[str] = Counter()

    def object_lines(self, element: Element) -> Iterator[str]:
        """The lines of an embedded object, such as a chart."""
        name = posixpath.normpath(attribute(element, "href")).lstrip("/")
        try:
            root, _ = parse(self.archive.read_xml(f"{name}/content.xml"))
        except BrokenPartError as error:
            self.left_out["embedded object"] += 1
            yield f"[an embedded object could not be read: {error}]"
            return
        chart = next(root.iter("{*}chart"), None)
        if chart is not None and chart.find("{*}plot-area") is not None:
            title = inner_text(chart.find("{*}title"))
            yield f"[chart: {title}]" if title else "[chart]"
            for row in chart.iter("{*}table-row"):
                yield ", ".join(inner_text(cell) for cell in row.iterfind("{*}table-cell"))
            return
        formula = next(root.iter("{*}annotation"), None) if local(root) == "math" else None
        if local(root) == "math":
            yield inner_text(root if formula is None else formula)
            return
        self.left_out["embedded object"] += 1
        yield "[embedded object]"


def attribute(element: Element, name: str) -> str:
    """The value of an attribute by its local name, whatever its namespace."""
    return next((str(value) for key, value in element.attrib.items() if key.rpartition("}")[2] == name), "")


def count_of(element: Element, name: str, most: int) -> int:
    """The repeat count of an element that the file stores once."""
    written = attribute(element, name)
    return min(max(int(written), 1), most) if written.isdecimal() and len(written) < 10 else 1


def inner_text(element: Element | None) -> str:
    """All text of the element on one line, with the spaces that are elements and without comments."""
    return "" if element is None else on_one_line("".join(_pieces(element, 0)))


def _pieces(element: Element, depth: int) -> Iterator[str]:
    name = local(element)
    if name in ("annotation", "tracked-changes", "note", "desc", "title") and depth:
        return
    if name in ("s", "tab", "line-break"):
        yield " " * count_of(element, "c", _MOST_SPACES)
    yield str(element.text or "")
    for child in element:
        if isinstance(child.tag, str):
            yield from _pieces(child, depth + 1)
            if local(child) in ("p", "h"):
                yield " "
        yield str(child.tail or "")


def described(frame: Element) -> str:
    """The description of a picture, if it has one."""
    return on_one_line(str(frame.findtext("{*}desc") or frame.findtext("{*}title") or "")) or "picture"


def remark(element: Element) -> str:
    by = on_one_line(str(element.findtext("{*}creator") or ""))
    text = " ".join(inner_text(one) for one in element.iterfind("{*}p"))
    return f"Comment{f' by {by}' if by else ''}: {text}"


def read_text(document: OpenDocument) -> str:
    """All of a text document, with its notes and comments below."""
    return _Writer(document).text()


class _Writer:
    def __init__(self, document: OpenDocument) -> None:
        self._document = document
        self._placeholders = Placeholders()
        self._notes: list[str] = []
        self._after: list[str] = []
        self._remarks: list[str] = []
        self._changes: Counter[str] = Counter()
        self._bold, self._italic, self._numbered = _styles(document.root)

    def text(self) -> str:
        made = self._blocks(self._document.body)
        notes = "".join(f"<p>[{number}] {note}</p>" for number, note in enumerate(self._notes, 1))
        markdown = self._placeholders.fill(as_markdown(made + notes)).strip("\n")
        return "\n".join([markdown, *self._remarks, *self._told_changes(), *told(self._document.left_out)])

    def _told_changes(self) -> Iterator[str]:
        counted = [f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in self._changes.items()]
        if counted:
            gone = ", what was deleted is not shown" if self._changes["deletion"] else ""
            yield f"[tracked changes: {', '.join(counted)}{gone}]"

    def _blocks(self, element: Element, *, numbered: bool = False) -> str:
        return "".join(self._block(child, numbered=numbered) for child in element if isinstance(child.tag, str))

    def _block(self, element: Element, *, numbered: bool) -> str:
        name = local(element)
        if name in ("p", "h"):
            level = count_of(element, "outline-level", 6)
            tag = f"h{level}" if name == "h" else "p"
            inline, after = self._apart(self._inline, element)
            return f"<{tag}>{inline}</{tag}>{after}"
        if name == "list":
            style = attribute(element, "style-name")
            is_numbered = style in self._numbered if style else numbered
            tag = "ol" if is_numbered else "ul"
            items = (self._blocks(item, numbered=is_numbered) for item in element if local(item).startswith("list-"))
            return f"<{tag}>{''.join(f'<li>{item}</li>' for item in items)}</{tag}>"
        if name == "table":
            rows = (row for row in element.iter("{*}table-row") if _table_around(row) is element)
            return f"<table>{''.join(self._row(row) for row in rows)}</table>"
        if name == "tracked-changes":
            for change in element.iter("{*}insertion", "{*}deletion"):
                self._changes[local(change)] += 1
            return ""
        if name == "frame":
            inline, after = self._apart(self._frame, element)
            return f"<p>{inline}</p>{after}"
        return "" if name in _SKIPPED else self._blocks(element)

    def _apart(self, write: Callable[[Element], str], element: Element) -> tuple[str, str]:
        """The inline text of an element, and the blocks in it, which stand below its paragraph."""
        outer, self._after = self._after, []
        inline = write(element)
        after, self._after = self._after, outer
        return inline, "".join(after)

    def _row(self, row: Element) -> str:
        cells: list[str] = []
        for cell in row:
            if local(cell) in ("table-cell", "covered-table-cell"):
                made = f"<td>{self._blocks(cell)}</td>"
                cells += [made] * count_of(cell, "number-columns-repeated", _MOST_COLUMNS - len(cells))
        return f"<tr>{''.join(cells[:_MOST_COLUMNS])}</tr>"

    def _inline(self, element: Element) -> str:
        made = [escape(str(element.text or ""))]
        for child in element:
            if isinstance(child.tag, str):
                made.append(self._child(child))
            made.append(escape(str(child.tail or "")))
        return "".join(made)

    def _child(self, element: Element) -> str:
        name = local(element)
        if name == "s":
            return " " * count_of(element, "c", _MOST_SPACES)
        if name == "tab":
            return " "
        if name == "line-break":
            return "<br>"
        if name == "a":
            return f'<a href="{escape(attribute(element, "href"))}">{self._inline(element)}</a>'
        if name == "span":
            return self._styled(element)
        if name == "note":
            body = element.find("{*}note-body")
            self._notes.append("" if body is None else escape(inner_text(body)))
            return f"<sup>[{len(self._notes)}]</sup>"
        if name == "annotation":
            self._remarks.append(remark(element))
            return ""
        if name == "frame":
            return self._frame(element)
        if name == "ruby":
            return escape(f"{inner_text(element.find('{*}ruby-base'))}({inner_text(element.find('{*}ruby-text'))})")
        if name == "custom-shape" or element.find("{*}p") is not None:
            self._after.append(self._blocks(element))
            return ""
        return "" if name in _SKIPPED else self._inline(element)

    def _styled(self, element: Element) -> str:
        style, made = attribute(element, "style-name"), self._inline(element)
        if style in self._italic and made.strip():
            made = f"<em>{made}</em>"
        return f"<strong>{made}</strong>" if style in self._bold and made.strip() else made

    def _frame(self, frame: Element) -> str:
        for child in frame:
            name = local(child)
            if name == "text-box":
                self._after.append(self._blocks(child))
                return ""
            if name == "object":
                lines = list(self._document.object_lines(child))
                return self._placeholders.put("\n".join(lines))
            if name == "object-ole":
                self._document.left_out["embedded object"] += 1
                return self._placeholders.put("[embedded object]")
            if name == "table":
                self._after.append(self._block(child, numbered=False))
                return ""
            if name == "image":
                return self._placeholders.put(f"![{described(frame)}]")
            if name == "plugin":
                self._document.left_out["video or sound"] += 1
                return ""
        return ""


def _table_around(row: Element) -> Element | None:
    return next((one for one in row.iterancestors() if local(one) == "table"), None)


def _styles(root: Element) -> tuple[set[str], set[str], set[str]]:
    """The names of the bold styles, of the italic ones, and of those of numbered lists."""
    bold: set[str] = set()
    italic: set[str] = set()
    for style in root.iterfind("{*}automatic-styles/{*}style"):
        for properties in style.iterfind("{*}text-properties"):
            if attribute(properties, "font-weight") == "bold":
                bold.add(attribute(style, "name"))
            if attribute(properties, "font-style") == "italic":
                italic.add(attribute(style, "name"))
    lists = root.iterfind("{*}automatic-styles/{*}list-style")
    numbered = {attribute(one, "name") for one in lists if len(one) and local(one[0]) == "list-level-style-number"}
    return bold, italic, numbered
