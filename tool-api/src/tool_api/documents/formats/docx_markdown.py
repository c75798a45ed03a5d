"""Markdown of a Word document that was prepared for the library; parts that break the library are read without
layout."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

import mammoth

from tool_api.documents.formats.docx_text import plain_text
from tool_api.documents.formats.page import as_markdown
from tool_api.documents.formats.trees import DOCUMENT, Element, etree

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
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_MOST_ATTEMPTS = 60


class Converter:
    def __init__(self, parts: dict[str, Element], relations: dict[str, dict[str, str]]) -> None:
        """`parts` are those beside the text, by their kinds; `relations` the addresses of the links in each."""
        self._parts = {f"word/{kind}.xml": _bytes(root) for kind, root in parts.items()}
        self._relations = {
            f"word/_rels/{kind}.xml.rels": _relations(named) for kind, named in relations.items() if named
        }
        self.faults: list[str] = []
        self._attempts = 0

    def markdown(self, root: Element) -> str:
        """Markdown of the whole document; if the library fails on it, its blocks are converted separately."""
        try:
            return self._convert(_bytes(root))
        except Exception:  # noqa: BLE001  # the library raises what it likes over what it is given
            self._leave_out_broken_parts()
        body = root.find("{*}body")
        return "" if body is None else "\n\n".join(self._pieces(list(body)))

    def _leave_out_broken_parts(self) -> None:
        whole, self._parts = self._parts, dict[str, bytes]()
        for name, content in whole.items():
            kind = name.removeprefix("word/").removesuffix(".xml")
            self._parts[name] = content
            try:
                self._convert(_document(()))
            except Exception:  # noqa: BLE001  # as above
                del self._parts[name]
                self.faults.append(f"the {kind} of the document could not be read")

    def _pieces(self, blocks: Sequence[Element]) -> list[str]:
        """Markdown of the blocks: a run that breaks the library is halved until the broken block is alone."""
        if not blocks:
            return []
        self._attempts += 1
        if self._attempts <= _MOST_ATTEMPTS:
            try:
                return [self._convert(_document(blocks))]
            except Exception:  # noqa: BLE001  # as above
                if len(blocks) > 1:
                    half = len(blocks) // 2
                    return [*self._pieces(blocks[:half]), *self._pieces(blocks[half:])]
        texts = [text for block in blocks if (text := plain_text(block))]
        return ["\n\n".join(["[what follows is read without its layout, which could not be read]", *texts])]

    def _convert(self, document: bytes) -> str:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name, content in {"word/document.xml": document, **self._parts, **self._relations}.items():
                archive.writestr(name, content)
        made = _library.convert_to_html(packed, style_map=_STYLES, include_embedded_style_map=False)
        return as_markdown(_ANCHOR.sub("", made.value))


def _bytes(root: Element) -> bytes:
    return etree.tostring(root, encoding="utf-8")


def _document(blocks: Sequence[Element]) -> bytes:
    inner = b"".join(map(_bytes, blocks))
    return f'<w:document xmlns:w="{_WORD}"><w:body>'.encode() + inner + b"</w:body></w:document>"


def _relations(addresses: dict[str, str]) -> str:
    links = "".join(
        f'<Relationship Id={quoteattr(identifier)} Type="{DOCUMENT}/relationships/hyperlink" TargetMode="External" '
        f"Target={quoteattr(address)}/>"
        for identifier, address in addresses.items()
    )
    return (
        f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{links}</Relationships>'
    )
