"""A page of the web, as Markdown."""

from __future__ import annotations

import html
import re

from html_to_markdown import ConversionOptions, InlineDataMedia, PreprocessingOptions, convert

from tool_api.documents.formats.whole import WholeDocument
from tool_api.text_encoding import UTF8, encoding_of, shown_text

_HEAD = 65_536
_TITLE = re.compile(r"<title(?:\s[^>]{0,200})?>([^<]{0,2000})", re.IGNORECASE)
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?([\w-]{1,40})", re.IGNORECASE)
_DECLARED = frozenset(
    {"gb2312", "gbk", "gb18030", "big5", "shift_jis", "euc-jp", "euc-kr", "iso-8859-1", "windows-1252"}
)


def open_document(data: bytes) -> WholeDocument:
    """The whole page, including the site's navigation; nothing that the page names is fetched."""
    page = _text(data)
    found = _TITLE.search(page, 0, _HEAD)
    title = " ".join(html.unescape(found[1]).split())[:300] if found else ""
    about = f"[page as Markdown: {title}]" if title else "[page as Markdown]"
    return WholeDocument(about=about, text=as_markdown(page))


def as_markdown(page: str) -> str:
    made = convert(
        page,
        ConversionOptions(
            compact_tables=True,
            extract_metadata=False,
            inline_data_media=InlineDataMedia.ALT_TEXT_ONLY,
            preprocessing=PreprocessingOptions(enabled=False, remove_forms=False),
        ),
    )
    return made.content or ""


def _text(data: bytes) -> str:
    declared = _CHARSET.search(data[:4096])
    name = declared[1].decode().lower() if declared else ""
    if name in _DECLARED:
        return data.decode(name, "replace")
    return shown_text((encoding_of(data) or UTF8).decode(data))
