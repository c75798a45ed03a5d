"""The text about a page that the model reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MAX_ELEMENTS = 120
MAX_TEXT = 6000
SHORT_TEXT = 1500
PDF = "This is a PDF, whose text is not seen here: get it with browser_download and its address, and read the file."


@dataclass(frozen=True, slots=True, kw_only=True)
class PageView:
    """A page as our script describes it."""

    url: str
    title: str
    lines: Sequence[str]
    left: int
    foreign: int
    text: str
    text_length: int
    width: int
    height: int
    above: int
    below: int
    is_pdf: bool = False

    @classmethod
    def from_script(cls, found: dict[str, Any]) -> PageView:
        """The script's answer, bounded: the page decides on its content, not on its size."""
        return cls(
            url=str(found["url"])[:2000],
            title=str(found["title"])[:300],
            lines=[str(line)[:600] for line in found["lines"][:MAX_ELEMENTS]],
            left=int(found["left"]),
            foreign=int(found["foreign"]),
            text=str(found["text"])[:MAX_TEXT],
            text_length=int(found["textLength"]),
            width=int(found["width"]),
            height=int(found["height"]),
            above=int(found["above"]),
            below=int(found["below"]),
            is_pdf=bool(found.get("isPdf")),
        )


def describe(view: PageView, said: str, notes: Sequence[str]) -> str:
    """The action's outcome, the address, the usable elements, and the page's text."""
    parts = [*filter(None, [said]), *notes]
    parts += [f"Page: {view.title or '(no title)'}", f"Address: {view.url}"]
    parts.append(
        f"Visible part: {view.width}x{view.height} pixels, {view.above} pixels above it, {view.below} pixels below."
    )
    if view.is_pdf:
        parts.append(PDF)
    if view.lines:
        more = [f"({view.left} more elements are not listed)"] if view.left else []
        parts += ["", "Elements to use by index:", *view.lines, *more]
    if view.foreign:
        parts += ["", f"Frames of other sites, {view.foreign} here, are not listed: use what is in them by x and y."]
    if view.text:
        cut = (
            f" (the first {len(view.text)} of {view.text_length} characters)"
            if len(view.text) < view.text_length
            else ""
        )
        parts += ["", f"Text of the page{cut}:", view.text]
    return "\n".join(parts)
