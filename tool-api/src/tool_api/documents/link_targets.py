"""Targets of links and pictures as models write them: paths with blanks are targets too, and a reference definition
whose target is none stays text."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, reference

_WORKSPACE = r"(?:sandbox|file|attachments?|computer|workspace):"
_SPACED = re.compile(
    r'([^()<>\n"]*(?:\([^()\n]*\)[^()<>\n"]*)*?\.[^\W_]{1,10}(?:[?#][^\s()]*)?)(?:[ \t]+"[^"\n]*")?[ \t]*\)'
)
"""A destination with blanks, of a file by its ending, and perhaps a title."""
_LONGEST = 1_000
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_OF_WORKSPACE = re.compile(_WORKSPACE, re.IGNORECASE)
_ADDRESS = re.compile(rf"{_WORKSPACE}|(?:https?|ftp|mailto|tel|data):|[a-z][a-z0-9+.-]*://|#|\.{{0,2}}/", re.IGNORECASE)
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}(?:[?#]\S*)?$")
_PROSE = re.compile("[《》〈〉「」『』“”，。；、：]")


def with_link_targets(markdown: MarkdownIt) -> MarkdownIt:
    """The parser with link targets read that way."""
    parse = markdown.helpers.parseLinkDestination

    def destination(text: str, start: int, end: int) -> Any:
        found = parse(text, start, end)
        spaced = _spaced(text, start, end, found)
        if spaced:
            found.pos, found.str = start + len(spaced), spaced
        return found

    # They are a module, which all parsers have in common.
    own = SimpleNamespace(**{**vars(markdown.helpers), "parseLinkDestination": destination})
    markdown.helpers = cast("Any", own)
    markdown.block.ruler.at("reference", _reference)
    return markdown


def _spaced(text: str, start: int, end: int, found: Any) -> str:
    """The whole destination, if only its beginning was found, which is no link by the rules; else nothing."""
    after = text[found.pos : end] if found.ok else ""
    if after[:1] not in (" ", "\t") or text[start] == "<" or re.match(r"""\s*[)"'(]""", after):
        return ""
    whole = _SPACED.match(text, start, min(end, start + _LONGEST))
    if whole is None or (_SCHEME.match(whole[1]) and not _OF_WORKSPACE.match(whole[1])):
        return ""
    return whole[1]


def _reference(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """The definition of a reference. Definitions are not shown, so text that only looks like one is none."""
    known = cast("dict[str, dict[str, Any]]", state.env.setdefault("references", {}))
    again = cast("list[dict[str, Any]]", state.env.setdefault("duplicate_refs", []))
    before = len(known)
    if not reference(state, first, last, silent):
        return False
    if silent:
        return True
    is_new = len(known) > before
    label, defined = next(reversed(known.items())) if is_new else ("", again[-1])
    if not label.startswith("^") and _is_address(str(defined["href"])):
        return True
    if is_new:
        known.popitem()
    else:
        again.pop()
    state.line = first
    return False


def _is_address(target: str) -> bool:
    written = unquote(target)
    if _ADDRESS.match(written) or _ENDING.search(written):
        return True
    return "/" in written and _PROSE.search(written) is None
