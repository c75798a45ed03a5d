"""Converts Markdown into the HTML that is printed, as a program of its own: some texts take very long.

Its argument: JSON with a `mark` that the text's author can't know. Standard input: the text in UTF-8. Standard output:
JSON with `title` (of its first heading), `html`, in which the address of the picture N is `mark`:N and `<!--mark:N-->`
stands for the drawing N, `pictures`, the addresses as they were written, and `drawings`, each with its `kind`
(`formula`, `displayed` or `diagram`) and its `source`.
"""

from __future__ import annotations

import html
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, cast

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tool_api.documents import fence
from tool_api.documents.emphasis import with_emphasis
from tool_api.documents.footnotes import with_footnotes
from tool_api.documents.formulas import with_formulas
from tool_api.documents.link_targets import with_link_targets

_IMG = re.compile(r"(<img\b[^>]{0,2000}?\bsrc\s*=\s*)(\"[^\"]*\"|'[^']*')", re.IGNORECASE)
_LINK = re.compile(r"(https?|mailto):", re.IGNORECASE)
# Without the second character some fonts draw the box in colour.
_BOXES = {"[ ] ": "☐ ", "[x] ": "☑\ufe0e ", "[X] ": "☑\ufe0e "}


class _Pictures:
    def __init__(self, mark: str) -> None:
        self.written: list[str] = []
        self._mark = mark

    def address(self, written: str) -> str:
        if written not in self.written:
            self.written.append(written)
        return f"{self._mark}:{self.written.index(written)}"

    def within(self, content: str) -> str:
        """The HTML with the addresses of its pictures replaced."""
        return _IMG.sub(lambda found: f'{found[1]}"{self.address(html.unescape(found[2][1:-1]))}"', content)


class _Drawings:
    """Formulas and diagrams, which are drawn elsewhere by libraries."""

    def __init__(self, mark: str) -> None:
        self.all: list[dict[str, str]] = []
        self._mark = mark

    def place(self, kind: str, source: str) -> str:
        self.all.append({"kind": kind, "source": source})
        return f"<!--{self._mark}:{len(self.all) - 1}-->"

    def teach(self, markdown: MarkdownIt) -> None:
        # The renderer's protocol lacks its rules.
        rules = cast("dict[str, Callable[..., str]]", cast("Any", markdown.renderer).rules)
        fenced = rules["fence"]

        def formula(tokens: Sequence[Token], index: int, *_: Any) -> str:
            token = tokens[index]
            placed = self.place("displayed" if token.markup else "formula", token.content)
            return f"<p>{placed}</p>\n" if token.block else placed

        def fence_or_diagram(tokens: Sequence[Token], index: int, *more: Any) -> str:
            token = tokens[index]
            if token.info.strip().split(" ")[0].lower() != "mermaid":
                return fenced(tokens, index, *more)
            return f"{self.place('diagram', token.content)}\n"

        rules["formula"] = formula
        rules["fence"] = fence_or_diagram


def markdown_parser() -> MarkdownIt:
    """The parser of Markdown that is printed."""
    markdown = with_emphasis(MarkdownIt("zero")).configure("commonmark").enable(["table", "strikethrough"])
    return with_link_targets(with_footnotes(with_formulas(markdown)))


def main() -> None:
    fence.limit()
    mark: str = json.loads(sys.argv[1])["mark"]
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    markdown = markdown_parser()
    drawings = _Drawings(mark)
    drawings.teach(markdown)
    fence.install()
    # Addresses are checked below: a link refused here would stay in the page as written text.
    markdown.validateLink = lambda url: True
    pictures = _Pictures(mark)
    tokens = markdown.parse(text)
    title = _first_heading(tokens)
    for token in _walk_tokens(tokens):
        _prepare(token, pictures)
    made = markdown.renderer.render(tokens, markdown.options, {})
    answer = {"title": title, "html": made, "pictures": pictures.written, "drawings": drawings.all}
    sys.stdout.buffer.write(json.dumps(answer).encode())


def _walk_tokens(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _walk_tokens(token.children or ())


def _first_heading(tokens: Sequence[Token]) -> str:
    for before, token in pairwise(tokens):
        if before.type == "heading_open":
            return "".join(
                part.content for part in token.children or () if part.type in ("text", "code_inline", "formula")
            )
    return ""


def _prepare(token: Token, pictures: _Pictures) -> None:
    if token.type == "image":
        token.attrSet("src", pictures.address(str(token.attrGet("src") or "")))
    elif token.type in ("html_inline", "html_block"):
        token.content = pictures.within(token.content)
    elif token.type == "link_open" and not _LINK.match(str(token.attrGet("href") or "")):
        token.attrs.pop("href", None)
    elif token.type == "inline" and token.level > 1 and token.children:
        first = token.children[0]
        for written, shown in _BOXES.items():
            if first.type == "text" and first.content.startswith(written):
                first.content = shown + first.content[len(written) :]
