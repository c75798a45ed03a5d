"""The page that is printed: how a document looks on paper."""

from __future__ import annotations

import html
import re
from pathlib import Path

MAX_TAG_CHARACTERS = 4000
_KANA = re.compile(r"[\u3040-\u30ff]")
_HANGUL = re.compile(r"[\uac00-\ud7af]")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_STYLE = Path(__file__).with_name("page.css").read_text()


def page_of(*, title: str, content: str, text: str, landscape: bool, more_style: str = "") -> str:
    """The whole page for a document's HTML; `text` is the source, whose language chooses the fonts."""
    style = _STYLE.replace("SIDE", "landscape" if landscape else "portrait")
    return (
        f'<!DOCTYPE html><html lang="{_language(text)}"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"<style>{more_style}{style}</style></head><body>{content}</body></html>"
    )


def with_pictures(content: str, mark: str, embedded: list[str]) -> str:
    """The content with its marks replaced by these pictures; a picture that is left out becomes its description in a
    frame."""

    parts: list[str] = []
    at = 0
    # Found by the mark, not by the tag: a text may have any number of tags that never end.
    for found in re.finditer(rf'src\s*=\s*"{re.escape(mark)}:(\d+)"', content, re.IGNORECASE):
        begin, end = _tag_around(content, at, found)
        if begin < 0:
            continue
        number = int(found[1])
        parts.append(content[at:begin])
        if number < len(embedded) and embedded[number]:
            source = f'src="{html.escape(embedded[number])}"'
            parts.append(f"{content[begin : found.start()]}{source}{content[found.end() : end]}")
        else:
            described = re.search(r"\balt=\"([^\"]*)\"", content[begin:end])
            parts.append(f'<span class="left-out">{(described[1] if described else "") or "picture"}</span>')
        at = end
    return "".join([*parts, content[at:]])


def _tag_around(content: str, after: int, found: re.Match[str]) -> tuple[int, int]:
    """The start and end of the `img` tag around the match; the start is -1 if there is none of a usual length."""
    first = max(after, found.start() - MAX_TAG_CHARACTERS)
    begins = [one.start() for one in re.finditer(r"<img\b", content[first : found.start()], re.IGNORECASE)]
    end = content.find(">", found.end(), found.end() + MAX_TAG_CHARACTERS) + 1
    if not begins or not end or ">" in content[first + begins[-1] : found.start()]:
        return -1, -1
    return first + begins[-1], end


def _language(text: str) -> str:
    if _KANA.search(text):
        return "ja"
    if _HANGUL.search(text):
        return "ko"
    return "zh-CN" if _HAN.search(text) else "en"
