"""Text of drawings in Office documents: shapes, the numbers of charts, the words of diagrams."""

from __future__ import annotations

from collections.abc import Iterator

from tool_api.documents.archives import BrokenPartError
from tool_api.documents.formats.equations import linear
from tool_api.documents.formats.package import Package
from tool_api.documents.formats.trees import RELATION_ID, Element, local, on_one_line, texts

_DEEPEST = 60


def paragraph_text(element: Element, depth: int = 0) -> str:
    """The text of a paragraph on a slide or in a shape, on one line."""
    return on_one_line(_inner(element, depth))


def _inner(element: Element, depth: int) -> str:
    name = local(element)
    if name == "t":
        return str(element.text or "")
    if name == "oMath":
        return linear(element)
    if name in ("br", "tab"):
        return " "
    if depth > _DEEPEST:
        return texts(element)
    return "".join(_inner(child, depth + 1) for child in _shown(element))


def _shown(element: Element) -> Iterator[Element]:
    """The element's children; of alternatives for different programs, the richest one."""
    for child in element:
        if local(child) != "AlternateContent":
            yield child
        else:
            ways = [way for way in child if local(way) in ("Choice", "Fallback") and len(way)]
            yield from ways[0] if ways else ()


shown_children = _shown


def graphic_lines(package: Package, part: str, element: Element) -> Iterator[str]:
    """The lines of a chart or diagram that an element names, or why there are none. Nothing for any other element."""
    for found in element.iter("{*}chart", "{*}relIds"):
        is_chart = local(found) == "chart"
        identifier = found.get(f"{RELATION_ID}id" if is_chart else f"{RELATION_ID}dm")
        what = "chart" if is_chart else "diagram"
        try:
            root = package.tree(package.target(part, identifier))
            lines = list(chart_lines(root) if is_chart else diagram_lines(root))
        except BrokenPartError as error:
            lines = [f"[the {what} could not be read: {error}]"]
        yield from lines


def diagram_lines(root: Element) -> Iterator[str]:
    """The words of a SmartArt diagram's nodes."""
    yield "[diagram]"
    for node in root.iter("{*}pt"):
        if node.get("type", "node") in ("node", "asst"):
            text = on_one_line(" ".join(texts(paragraph) for paragraph in node.iter("{*}p")))
            if text:
                yield f"- {text}"


def chart_lines(root: Element) -> Iterator[str]:
    """The numbers of a chart of any kind, each series on a line.

    Raises:
        BrokenPartError: it is not a chart.
    """
    chart = root.find("{*}chart")
    if chart is None:
        raise BrokenPartError("it is not a chart")
    title = chart.find("{*}title")
    written = on_one_line(texts(title) or texts(title, "v"))
    yield f"[chart: {written}]" if written else "[chart]"
    data = {one.get("id"): one for one in root.iterfind("{*}chartData/{*}data")}
    count = 0
    for series in chart.iter("{*}ser", "{*}series"):
        count += 1
        yield _series_line(series, data)
    if not count:
        yield "[the chart has no numbers]"


def _series_line(series: Element, data: dict[str | None, Element]) -> str:
    named = series.find("{*}tx")
    name = on_one_line(texts(named, "v") or texts(named)) or "series"
    source = series.find("{*}dataId")
    if source is not None:
        found = data.get(source.get("val"))
        names = _points(found, "strDim")
        values = _points(found, "numDim")
    else:
        names = _points(series, "cat", "xVal")
        values = _points(series, "val", "yVal")
    if not values:
        formula = next((on_one_line(texts(one, "f")) for one in series if local(one) in ("val", "yVal")), "")
        return f"{name}: {f'the values of {formula}' if formula else 'no values'}"
    told = [f"{names[at]} {_number(value)}" if at in names else _number(value) for at, value in values.items()]
    return f"{name}: {', '.join(told)}"


def _points(element: Element | None, *sources: str) -> dict[int, str]:
    """The values stored with a chart, by their positions; those of several levels are joined."""
    points: dict[int, str] = {}
    for source in () if element is None else (one for one in element if local(one) in sources):
        levels = list(source.iter("{*}lvl")) or [source]
        for level in reversed(levels):
            for at, point in enumerate(level.iter("{*}pt")):
                place = str(point.get("idx") or "")
                key = int(place) if place.isdecimal() and len(place) < 10 else at
                text = on_one_line(texts(point, "v") or str(point.text or ""))
                points[key] = f"{points[key]} {text}" if key in points else text
    return points


def _number(text: str) -> str:
    try:
        return str(float(text))
    except ValueError:
        return text
