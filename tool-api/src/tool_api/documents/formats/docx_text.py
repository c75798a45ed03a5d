"""The text of a piece of a Word document without its layout."""

from __future__ import annotations

from collections.abc import Iterator

from tool_api.documents.formats.drawings import shown_children
from tool_api.documents.formats.equations import linear
from tool_api.documents.formats.trees import Element, local, on_one_line

_DEEPEST = 300
_LEFT_OUT = frozenset({"del", "moveFrom", "instrText", "delText", "rPr", "pPr", "sectPr"})


def plain_text(element: Element) -> str:
    """All paragraphs of the element on one line."""
    paragraphs = (on_one_line("".join(_pieces(one, 0))) for one in element.iter("{*}p") if _is_outermost(one))
    return " | ".join(filter(None, paragraphs)) or on_one_line("".join(_pieces(element, 0)))


def _is_outermost(paragraph: Element) -> bool:
    """Whether the paragraph is not nested: the text of a text box is part of the paragraph that holds it."""
    return not any(local(one) == "p" for one in paragraph.iterancestors())


def _pieces(element: Element, depth: int) -> Iterator[str]:
    name = local(element)
    if name == "t":
        yield str(element.text or "")
    elif name == "oMath":
        yield linear(element)
    elif name in ("tab", "br", "cr", "ptab"):
        yield " "
    elif name == "docPr":
        yield f"![{described}] " if (described := picture_of(element)) else ""
    elif name == "textpath":
        yield f"[text art: {element.get('string') or ''}] "
    elif name not in _LEFT_OUT and depth < _DEEPEST:
        for child in shown_children(element):
            yield from _pieces(child, depth + 1)
        if name == "p" and depth:
            yield " "


def picture_of(properties: Element) -> str:
    """The description of the picture that a drawing shows, empty if it is not a picture."""
    drawing = properties.getparent()
    if drawing.find(".//{*}blip") is None:
        return ""
    return on_one_line(str(properties.get("descr") or "").strip() or str(properties.get("title") or "")) or "picture"
