"""Makes the HTML that is printed of Markdown, as a program of its own: some texts take very long.

Its argument: JSON with a `mark` that nobody who wrote the text knows. Standard input: the text in UTF-8. Standard
output: JSON with `title` (of its first heading), `html`, in which the address of the picture N is `mark`:N, and
`pictures`, the addresses as they were written.
"""

from __future__ import annotations

import html
import json
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tool_api.documents import fence

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
        """With the addresses of pictures in HTML replaced."""
        return _IMG.sub(lambda found: f'{found[1]}"{self.address(html.unescape(found[2][1:-1]))}"', content)


def main() -> None:
    fence.limit()
    mark: str = json.loads(sys.argv[1])["mark"]
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    markdown = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    fence.install()
    # What is addressed is looked at below: else it would stand in the page as it was written.
    markdown.validateLink = lambda url: True
    pictures = _Pictures(mark)
    tokens = markdown.parse(text)
    title = _first_heading(tokens)
    for token in _walk_tokens(tokens):
        _prepare(token, pictures)
    made = markdown.renderer.render(tokens, markdown.options, {})
    sys.stdout.buffer.write(json.dumps({"title": title, "html": made, "pictures": pictures.written}).encode())


def _walk_tokens(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _walk_tokens(token.children or ())


def _first_heading(tokens: Sequence[Token]) -> str:
    for before, token in pairwise(tokens):
        if before.type == "heading_open":
            return "".join(part.content for part in token.children or () if part.type in ("text", "code_inline"))
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
