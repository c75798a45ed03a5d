"""The slides of a presentation: text, tables, the numbers of charts, notes, comments; pictures by descriptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from tool_api.documents.archives import BrokenPartError
from tool_api.documents.formats.drawings import graphic_lines, paragraph_text, shown_children
from tool_api.documents.formats.left_out import told
from tool_api.documents.formats.package import Package
from tool_api.documents.formats.trees import RELATION_ID, Element, local, on_one_line, texts

_DEEPEST = 20
_MEDIA = {
    "videoFile": "video",
    "audioFile": "sound",
    "wavAudioFile": "sound",
    "audioCd": "sound",
    "quickTimeFile": "video",
}
_TITLES = frozenset({"title", "ctrTitle"})
# The slide's picture, the page number and the text on all pages are not notes.
_NOTES = frozenset({"body"})
_LEVELS = frozenset("012345678")


class Presentation:
    unit = "slide"

    def __init__(self, package: Package, slides: list[str | None]) -> None:
        """`slides` are the names of their parts, None where the file does not name one."""
        self._package, self._slides = package, slides
        self.count = len(slides)
        self.about = f"[presentation, {self.count} slide{'' if self.count == 1 else 's'}]"

    def mark(self, number: int) -> str:
        try:
            hidden = " (hidden)" if self._root(number).get("show") in ("0", "false") else ""
        except BrokenPartError:
            hidden = ""
        return f"--- slide {number} of {self.count}{hidden} ---"

    def lines(self, number: int) -> Iterator[str]:
        try:
            root = self._root(number)
        except BrokenPartError as error:
            yield f"[slide {number} could not be read: {error}]"
            return
        part = self._slides[number - 1] or ""
        yield from _Slide(self._package, part, root).lines()
        if part in self._package.faults:
            yield f"[a part of this slide could not be read: {self._package.faults[part]}]"
        for notes in self._package.related(part, "notesSlide"):
            yield from self._parts_lines("notes", notes, lambda root: _notes(root))
        for comments in self._package.related(part, "comments"):
            yield from self._parts_lines("comments", comments, self._comments)

    def _root(self, number: int) -> Element:
        part = self._slides[number - 1]
        if part is None:
            raise BrokenPartError("the file does not name its part")
        return self._package.tree(part)

    def _parts_lines(self, what: str, part: str, lines_of: Callable[[Element], Iterator[str]]) -> Iterator[str]:
        try:
            yield from lines_of(self._package.tree(part))
        except BrokenPartError as error:
            yield f"[the {what} could not be read: {error}]"

    def _comments(self, root: Element) -> Iterator[str]:
        authors: dict[str, str] = {}
        main = self._package.main_part("ppt/presentation.xml")
        for part in (*self._package.related(main, "commentAuthors"), *self._package.related(main, "authors")):
            try:
                authors |= {str(one.get("id")): str(one.get("name") or "") for one in self._package.tree(part)}
            except BrokenPartError:
                continue
        for comment in root.iter("{*}cm", "{*}reply"):
            name = authors.get(str(comment.get("authorId"))) or "somebody"
            body = comment.find("{*}txBody")
            text = on_one_line(texts(body) if body is not None else texts(comment.find("{*}text"), "text"))
            yield f"Comment by {name}: {text}"


class _Slide:
    def __init__(self, package: Package, part: str, root: Element) -> None:
        self._package, self._part, self._root = package, part, root
        self._left_out: Counter[str] = Counter()

    def lines(self) -> Iterator[str]:
        shapes = list(_shapes(self._root))
        title = next((shape for shape in shapes if _placeholder(shape) in _TITLES and _text(shape)), None)
        if title is not None:
            yield f"# {_text(title)}"
        for shape in shapes:
            if shape is not title:
                yield from self._shape(shape)
        yield from told(self._left_out)

    def _shape(self, shape: Element) -> Iterator[str]:
        name = local(shape)
        media = next((_MEDIA[local(one)] for one in shape.iter() if local(one) in _MEDIA), "")
        if media:
            self._left_out[media] += 1
            yield f"[{media}: {_described(shape) or 'without a description'}]"
        elif name == "pic":
            yield f"![{_described(shape) or 'picture'}]"
        elif name == "graphicFrame":
            yield from self._graphic(shape)
        elif name == "contentPart":
            self._left_out["drawing by hand"] += 1
        else:
            yield from text_lines(shape)

    def _graphic(self, shape: Element) -> Iterator[str]:
        table = shape.find(".//{*}tbl")
        if table is not None:
            yield from _table(table)
            return
        lines = list(graphic_lines(self._package, self._part, shape))
        yield from lines
        if not lines:
            found = next(shape.iter("{*}oleObj"), None)
            kind = "" if found is None else found.get("progId") or found.get("name") or ""
            self._left_out["graphic" if found is None else "embedded object"] += 1
            yield f"[{'graphic' if found is None else 'embedded object'}{': ' if kind else ''}{kind}]"


def _shapes(root: Element) -> Iterator[Element]:
    for tree in root.iterfind("{*}cSld/{*}spTree"):
        yield from _flatten(tree)


def _flatten(group: Element, depth: int = 0) -> Iterator[Element]:
    for shape in shown_children(group):
        name = local(shape)
        if name == "grpSp" and depth < _DEEPEST:
            yield from _flatten(shape, depth + 1)
        elif name in ("sp", "pic", "graphicFrame", "cxnSp", "contentPart", "grpSp"):
            yield shape


def _placeholder(shape: Element) -> str:
    found = shape.find("./*/{*}nvPr/{*}ph")
    return "" if found is None else str(found.get("type") or "body")


def _described(shape: Element) -> str:
    properties = shape.find("./*/{*}cNvPr")
    return "" if properties is None else on_one_line(properties.get("descr") or "")


def _text(shape: Element) -> str:
    return on_one_line(" ".join(paragraph_text(one) for one in shape.iterfind("{*}txBody/{*}p")))


def text_lines(shape: Element) -> Iterator[str]:
    """The paragraphs of a shape, each with the depth it has as a point of a list."""
    for paragraph in shape.iterfind(".//{*}txBody/{*}p"):
        text = paragraph_text(paragraph)
        if text:
            yield f"{'  ' * _level(paragraph)}- {text}"


def _level(paragraph: Element) -> int:
    properties = paragraph.find("{*}pPr")
    level = "" if properties is None else str(properties.get("lvl"))
    return int(level) if level in _LEVELS else 0


def _table(table: Element) -> Iterator[str]:
    for number, row in enumerate(table.iterfind("{*}tr")):
        cells = [
            on_one_line(" ".join(paragraph_text(one) for one in cell.iter("{*}p"))).replace("|", "\\|")
            for cell in row.iterfind("{*}tc")
        ]
        yield f"| {' | '.join(cells)} |"
        if number == 0:
            yield f"|{'---|' * len(cells)}"


def _notes(root: Element) -> Iterator[str]:
    for shape in _shapes(root):
        if _placeholder(shape) in _NOTES:
            for paragraph in shape.iterfind("{*}txBody/{*}p"):
                text = paragraph_text(paragraph)
                if text:
                    yield f"Notes: {text}"


def open_document(data: bytes) -> Presentation:
    """Raises `RefusedDocumentError`."""
    package = Package(data)
    main, root = package.main_tree("ppt/presentation.xml")
    slides: list[str | None] = []
    for slide in root.iterfind("{*}sldIdLst/{*}sldId"):
        try:
            slides.append(package.target(main, slide.get(f"{RELATION_ID}id")))
        except BrokenPartError:
            slides.append(None)
    return Presentation(package, slides or list(package.related(main, "slide")))
