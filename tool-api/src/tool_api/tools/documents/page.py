"""The page that is printed: how a document looks on paper."""

from __future__ import annotations

import html
import re
from pathlib import Path

_KANA = re.compile(r"[\u3040-\u30ff]")
_HANGUL = re.compile(r"[\uac00-\ud7af]")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_STYLE = Path(__file__).with_name("page.css").read_text()


def page_of(*, title: str, content: str, text: str, landscape: bool) -> str:
    """The whole page of a document's HTML; `text` is what it was made of, whose language chooses the fonts."""
    style = _STYLE.replace("SIDE", "landscape" if landscape else "portrait")
    return (
        f'<!DOCTYPE html><html lang="{_language(text)}"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"<style>{style}</style></head><body>{content}</body></html>"
    )


def with_pictures(content: str, mark: str, embedded: list[str]) -> str:
    """The content with these in the place of its marks; a picture that is left out is its description in a frame."""

    def image(found: re.Match[str]) -> str:
        number = int(found[2])
        if number < len(embedded) and embedded[number]:
            return f'{found[1]}src="{html.escape(embedded[number])}"{found[3]}'
        described = re.search(r"\balt=\"([^\"]*)\"", found[0])
        return f'<span class="left-out">{(described[1] if described else "") or "picture"}</span>'

    marked = re.compile(rf'(<img\b[^>]*?)src\s*=\s*"{re.escape(mark)}:(\d+)"([^>]*>)', re.IGNORECASE)
    return marked.sub(image, content)


def _language(text: str) -> str:
    if _KANA.search(text):
        return "ja"
    if _HANGUL.search(text):
        return "ko"
    return "zh-CN" if _HAN.search(text) else "en"
