"""The slides of a presentation: text, tables, the numbers of charts, notes; pictures by their descriptions."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pptx

_library: Any = pptx
_DEEPEST = 20


class Presentation:
    unit = "slide"

    def __init__(self, slides: list[Any]) -> None:
        self._slides = slides
        self.count = len(slides)
        self.about = f"[presentation, {self.count} slide{'' if self.count == 1 else 's'}]"

    def mark(self, number: int) -> str:
        hidden = " (hidden)" if self._slides[number - 1].element.get("show") == "0" else ""
        return f"--- slide {number} of {self.count}{hidden} ---"

    def lines(self, number: int) -> Iterator[str]:
        slide = self._slides[number - 1]
        title = slide.shapes.title
        if title is not None and title.text_frame.text.strip():
            yield f"# {_on_one_line(title.text_frame.text)}"
        for shape in _flatten(slide.shapes):
            if title is None or shape.shape_id != title.shape_id:
                yield from _lines_of(shape)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            notes = str(slide.notes_slide.notes_text_frame.text).strip()
            yield from [f"Notes: {line}" for line in notes.splitlines() if line.strip()]


def _flatten(shapes: Any, depth: int = 0) -> Iterator[Any]:
    for shape in shapes:
        if hasattr(shape, "shapes") and depth < _DEEPEST:
            yield from _flatten(shape.shapes, depth + 1)
        else:
            yield shape


def _lines_of(shape: Any) -> Iterator[str]:
    if getattr(shape, "has_table", False):
        yield from _table(shape.table)
    elif getattr(shape, "has_chart", False):
        yield from _chart(shape.chart)
    elif shape.element.tag.endswith("}pic"):
        properties = shape.element.xpath("./p:nvPicPr/p:cNvPr")
        yield f"![{_on_one_line((properties[0].get('descr') if properties else '') or 'picture')}]"
    elif getattr(shape, "has_text_frame", False):
        for paragraph in shape.text_frame.paragraphs:
            text = _on_one_line(paragraph.text)
            if text:
                yield f"{'  ' * paragraph.level}- {text}"


def _table(table: Any) -> Iterator[str]:
    for number, row in enumerate(table.rows):
        cells = [_on_one_line(cell.text).replace("|", "\\|") for cell in row.cells]
        yield f"| {' | '.join(cells)} |"
        if number == 0:
            yield f"|{'---|' * len(cells)}"


def _chart(chart: Any) -> Iterator[str]:
    title = (
        _on_one_line(chart.chart_title.text_frame.text) if chart.has_title and chart.chart_title.has_text_frame else ""
    )
    yield f"[chart{': ' if title else ''}{title}]"
    for plot in chart.plots:
        categories = [_on_one_line(str(name)) for name in plot.categories]
        for series in plot.series:
            values = ["" if value is None else str(value) for value in series.values]
            named = [f"{name} {value}" for name, value in zip(categories, values, strict=False)] or values
            yield f"{_on_one_line(str(series.name))}: {', '.join(named)}"


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def open_document(data: bytes) -> Presentation:
    return Presentation(list(_library.Presentation(io.BytesIO(data)).slides))
