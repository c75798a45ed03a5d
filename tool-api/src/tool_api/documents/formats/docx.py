"""A Word document as Markdown: headings, lists, tables, notes and comments; pictures by their descriptions."""

from __future__ import annotations

import io
import re
from typing import Any

import mammoth

from tool_api.documents.formats.page import as_markdown
from tool_api.documents.formats.whole import WholeDocument

_library: Any = mammoth
_STYLES = """
comment-reference => sup
p[style-name='Quote'] => blockquote > p:fresh
p[style-name='Intense Quote'] => blockquote > p:fresh
p[style-name='Code'] => pre:separator('\\n')
p[style-name='Source Code'] => pre:separator('\\n')
p[style-name='HTML Preformatted'] => pre:separator('\\n')
"""
_ANCHOR = re.compile(r'<a id="[^"]*"></a>')


def open_document(data: bytes) -> WholeDocument:
    made = _library.convert_to_html(
        io.BytesIO(data),
        style_map=_STYLES,
        include_embedded_style_map=False,
        convert_image=_library.images.img_element(_described),
    )
    return WholeDocument(about="[Word document]", text=_markdown(made.value))


def _described(image: Any) -> dict[str, str]:
    return {"src": "", "alt": image.alt_text or "picture"}


def _markdown(page: str) -> str:
    # A picture has no address that anybody could follow.
    return as_markdown(_ANCHOR.sub("", page)).replace("](<>)", "]")
