"""Footnotes in Markdown, `[^1]` and `[^1]: text`: numbered as they are referred to, their texts at the end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

from markdown_it import MarkdownIt
from markdown_it.rules_block.state_block import StateBlock
from markdown_it.rules_core.state_core import StateCore
from markdown_it.rules_inline.state_inline import StateInline
from markdown_it.token import Token

_REFERENCE = re.compile(r"\[\^([^\[\]\s^]{1,100})\]")
_DEFINITION = re.compile(_REFERENCE.pattern + r":[ \t]*")
_INDENT = 4
"""Spaces by which further blocks of a note are indented."""


class _Note(NamedTuple):
    label: str
    tokens: list[Token]


def with_footnotes(markdown: MarkdownIt) -> MarkdownIt:
    """The parser with footnotes: it sets the notes at the end, including unreferenced ones."""
    markdown.block.ruler.before("reference", "footnote", _definition, {"alt": ["paragraph", "reference"]})
    markdown.inline.ruler.before("link", "footnote", _reference)
    markdown.core.ruler.after("inline", "footnotes", _set_at_end)
    markdown.add_render_rule("footnote", _rendered)
    return markdown


def _definition(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    if state.is_code_block(first):
        return False
    found = _DEFINITION.match(state.src, state.bMarks[first] + state.tShift[first], state.eMarks[first])
    if found is None or silent:
        return found is not None
    if state.tokens and state.tokens[-1].type in ("list_item_open", "footnote_open"):
        # The first line of a list item or of another note, which would be empty without it.
        return False
    label = found[1].lower()
    _labels(state.env).add(label)
    state.push("footnote_open", "", 1).meta = {"label": label}
    was = state.bMarks[first], state.tShift[first], state.sCount[first]
    state.blkIndent += _INDENT
    state.bMarks[first], state.tShift[first], state.sCount[first] = found.end(), 0, state.blkIndent
    state.md.block.tokenize(state, first, last)
    state.blkIndent -= _INDENT
    state.bMarks[first], state.tShift[first], state.sCount[first] = was
    state.push("footnote_close", "", -1)
    return True


def _labels(env: Any) -> set[str]:
    return cast("set[str]", env.setdefault("footnotes", set()))


def _reference(state: StateInline, silent: bool) -> bool:
    found = _REFERENCE.match(state.src, state.pos, state.posMax)
    if found is None or found[1].lower() not in _labels(state.env):
        return False
    if not silent:
        state.push("footnote", "sup", 0).meta = {"label": found[1].lower()}
    state.pos = found.end()
    return True


def _rendered(_: Any, tokens: Sequence[Token], index: int, *__: Any) -> str:
    number = tokens[index].content
    return f'<sup><a href="#footnote-{number}">{number}</a></sup>'


def _set_at_end(state: StateCore) -> None:
    body, notes = _apart(state.tokens)
    if not notes:
        return
    # The first of several notes with one label is the one that is meant.
    places = {note.label: place for place, note in reversed(list(enumerate(notes)))}
    meant = dict.fromkeys(places[reference.meta["label"]] for reference in _references(body))
    order = [*meant, *(place for place in range(len(notes)) if place not in meant)]
    numbers = {place: number for number, place in enumerate(order, 1)}
    for reference in _references(state.tokens):
        reference.content = str(numbers[places[reference.meta["label"]]])
    if body and body[-1].type not in ("hr", "heading_close"):
        body.append(Token("hr", "hr", 0, block=True))
    state.tokens = [*body, *_as_list([notes[place] for place in order])]


def _apart(tokens: Sequence[Token]) -> tuple[list[Token], list[_Note]]:
    """The text without its notes, and those in their order."""
    body, notes = list[Token](), list[_Note]()
    open_ones = [body]
    for token in tokens:
        if token.type == "footnote_open":
            notes.append(_Note(str(token.meta["label"]), []))
            open_ones.append(notes[-1].tokens)
        elif token.type == "footnote_close":
            open_ones.pop()
        else:
            open_ones[-1].append(token)
    return body, notes


def _references(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        if token.type == "footnote":
            yield token
        yield from _references(token.children or ())


def _as_list(notes: list[_Note]) -> Iterator[Token]:
    yield Token("ordered_list_open", "ol", 1, block=True)
    for number, note in enumerate(notes, 1):
        yield Token("list_item_open", "li", 1, block=True, attrs={"id": f"footnote-{number}"})
        yield from note.tokens
        yield Token("list_item_close", "li", -1, block=True)
    yield Token("ordered_list_close", "ol", -1, block=True)
