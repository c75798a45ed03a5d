"""The slides of an OpenDocument presentation, or the pages of a drawing."""

from __future__ import annotations

from collections.abc import Iterator

from tool_api.documents.formats.left_out import told
from tool_api.documents.formats.odf_text import OpenDocument, attribute, described, inner_text, remark
from tool_api.documents.formats.trees import Element, local, on_one_line

_DEEPEST = 20


class Slides:
    def __init__(self, document: OpenDocument, faults: list[str]) -> None:
        self._document, self._faults = document, faults
        self._slides = list(document.body.iterfind("{*}page"))
        is_drawing = local(document.body) == "drawing"
        self.unit = "page" if is_drawing else "slide"
        self.count = len(self._slides)
        what = "drawing" if is_drawing else "presentation"
        self.about = f"[{what}, {self.count} {self.unit}{'' if self.count == 1 else 's'}]"

    def mark(self, number: int) -> str:
        return f"--- {self.unit} {number} of {self.count} ---"

    def lines(self, number: int) -> Iterator[str]:
        slide = self._slides[number - 1]
        self._document.left_out.clear()
        shapes = list(_shapes(slide, 0))
        title = next((one for one in shapes if attribute(one, "class") == "title" and inner_text(one)), None)
        if title is not None:
            yield f"# {inner_text(title)}"
        for shape in shapes:
            if shape is not title:
                yield from self._shape(shape)
        for notes in slide.iterfind("{*}notes"):
            for paragraph in notes.iter("{*}p"):
                if inner_text(paragraph):
                    yield f"Notes: {inner_text(paragraph)}"
        yield from (remark(one) for one in slide.iterfind("{*}annotation"))
        yield from told(self._document.left_out)
        if number == self.count:
            yield from self._faults

    def _shape(self, shape: Element) -> Iterator[str]:
        for child in shape:
            name = local(child)
            if name == "table":
                yield from _table(child)
                return
            if name == "object":
                yield from self._document.object_lines(child)
                return
            if name == "object-ole":
                self._document.left_out["embedded object"] += 1
                yield "[embedded object]"
                return
            if name == "plugin":
                self._document.left_out["video or sound"] += 1
                return
            if name == "image" and local(shape) == "frame":
                yield f"![{on_one_line(described(shape))}]"
                return
        for paragraph in shape.iter("{*}p", "{*}h"):
            text = inner_text(paragraph)
            depth = sum(local(one) == "list" for one in paragraph.iterancestors())
            if text:
                yield f"{'  ' * min(max(depth - 1, 0), _DEEPEST)}- {text}"


def _shapes(element: Element, depth: int) -> Iterator[Element]:
    for child in element:
        if local(child) == "g" and depth < _DEEPEST:
            yield from _shapes(child, depth + 1)
        elif local(child) not in ("notes", "annotation", "forms", "") and local(child) != "animations":
            yield child


def _table(table: Element) -> Iterator[str]:
    for number, row in enumerate(table.iter("{*}table-row")):
        cells = [
            inner_text(cell).replace("|", "\\|") for cell in row if local(cell) in ("table-cell", "covered-table-cell")
        ]
        yield f"| {' | '.join(cells)} |"
        if number == 0:
            yield f"|{'---|' * len(cells)}"
