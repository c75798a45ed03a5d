"""Parts of a sheet beside its cells: comments, text boxes, charts, pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tool_api.documents.archives import BrokenPartError
from tool_api.documents.formats.drawings import graphic_lines, paragraph_text, shown_children
from tool_api.documents.formats.package import Package
from tool_api.documents.formats.trees import Element, local, on_one_line
from tool_api.documents.formats.xlsx_cells import rich_text

_DEEPEST = 20


def comment_lines(package: Package, main: str, part: str) -> Iterator[str]:
    """The comments of a sheet; of a conversation its own words, not the note that stands for it in old programs."""
    talked: set[str] = set()
    for name in package.related(part, "threadedComment"):
        try:
            root = package.tree(name)
        except BrokenPartError as error:
            yield f"[the conversations of this sheet could not be read: {error}]"
            continue
        names = _persons(package, main)
        for comment in root.iter("{*}threadedComment"):
            place = str(comment.get("ref") or "")
            talked.add(place)
            by = names.get(str(comment.get("personId")))
            yield _comment(place, by, str(comment.findtext("{*}text") or ""))
    for name in package.related(part, "comments"):
        try:
            root = package.tree(name)
        except BrokenPartError as error:
            yield f"[the comments of this sheet could not be read: {error}]"
            continue
        authors = [str(one.text or "") for one in root.iterfind("{*}authors/{*}author")]
        for comment in root.iter("{*}comment"):
            place, at = str(comment.get("ref") or ""), str(comment.get("authorId") or "")
            by = authors[int(at)] if at.isdecimal() and len(at) < 9 and int(at) < len(authors) else None
            if place not in talked:
                yield _comment(place, by, rich_text(comment.find("{*}text")))


def _comment(place: str, by: str | None, text: str) -> str:
    return f"Comment on {place}{f' by {on_one_line(by)}' if by else ''}: {on_one_line(text)}"


def _persons(package: Package, main: str) -> dict[str, str]:
    names: dict[str, str] = {}
    for name in package.related(main, "person"):
        try:
            names |= {str(one.get("id")): str(one.get("displayName") or "") for one in package.tree(name)}
        except BrokenPartError:
            continue
    return names


def drawing_lines(package: Package, part: str, identifier: str, left_out: Counter[str]) -> Iterator[str]:
    """The content of a drawing of a sheet."""
    try:
        name = package.target(part, identifier)
        root = package.tree(name)
    except BrokenPartError as error:
        yield f"[a drawing of this sheet could not be read: {error}]"
        return
    for shape in _shapes(root, 0):
        if local(shape) == "pic":
            yield f"![{_described(shape) or 'picture'}]"
        elif local(shape) == "graphicFrame":
            lines = list(graphic_lines(package, name, shape))
            left_out["graphic"] += not lines
            yield from lines
        else:
            text = " / ".join(filter(None, (paragraph_text(one) for one in shape.iterfind(".//{*}txBody/{*}p"))))
            if text:
                yield f"[text box: {text}]"


def _shapes(element: Element, depth: int) -> Iterator[Element]:
    for child in shown_children(element):
        if local(child) in ("pic", "graphicFrame", "sp", "cxnSp"):
            yield child
        elif depth < _DEEPEST and local(child) in ("twoCellAnchor", "oneCellAnchor", "absoluteAnchor", "grpSp"):
            yield from _shapes(child, depth + 1)


def _described(shape: Element) -> str:
    properties = shape.find("./*/{*}cNvPr")
    return "" if properties is None else on_one_line(str(properties.get("descr") or ""))
