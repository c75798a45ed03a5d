"""Formulas in Markdown, as models write them: `$…$`, `$$…$$`, `\\(…\\)` or `\\[…\\]`. Amounts of money are no
formulas."""

from __future__ import annotations

import re
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_block.state_block import StateBlock
from markdown_it.rules_inline.state_inline import StateInline

LONGEST = 2_000
_MOST_LINES = 200
_PAIRS = (("$$", "$$"), (r"\[", r"\]"), (r"\(", r"\)"), ("$", "$"))
# Signs of a formula, required between escaped brackets, and after a number, which may be an amount.
_IS_MATH = re.compile(r"[\\^_={}+<>]")
_BETWEEN_WORDS = re.compile(r"[\s\u3001\u3002\uff0c\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_WORD = re.compile(r"[A-Za-z0-9_]")


class Formula(NamedTuple):
    """A formula in TeX; `is_displayed` if it is on a line of its own, and the text goes on at `end`."""

    tex: str
    is_displayed: bool
    end: int


def formula_at(text: str, at: int) -> Formula | None:
    """The formula that begins there."""
    pair = next((pair for pair in _PAIRS if text.startswith(pair[0], at)), None)
    if pair is None:
        return None
    opening, closing = pair
    if opening == "$":
        return _among_words(text, at)
    begin = at + len(opening)
    end = text.find(closing, begin, begin + LONGEST)
    tex = "" if end < 0 else text[begin:end].strip()
    if not tex or re.search(r"\n\s*\n", tex) or (opening == r"\[" and not _IS_MATH.search(tex)):
        return None
    return Formula(tex, opening != r"\(", end + len(closing))


def _among_words(text: str, at: int) -> Formula | None:
    before, after = text[at - 1] if at else " ", text[at + 1 : at + 2] or " "
    if _WORD.match(before) or before in "$\\" or after.isspace() or after == "$":
        return None
    for end in range(at + 2, min(len(text), at + LONGEST)):
        if text[end - 1 : end + 1] == "\n\n":
            return None
        behind = text[end + 1 : end + 2]
        closes = text[end] == "$" and not text[end - 1].isspace() and text[end - 1] != "\\"
        if closes and behind != "$" and not _WORD.match(behind):
            tex = text[at + 1 : end]
            is_amount = "0" <= tex[0] <= "9" and _BETWEEN_WORDS.search(tex) and not _IS_MATH.search(tex)
            return None if is_amount else Formula(tex, is_displayed=False, end=end + 1)
    return None


def with_formulas(markdown: MarkdownIt) -> MarkdownIt:
    """The parser with formulas: they become tokens `formula`, whose markup is `display` on a line of their own."""
    markdown.inline.ruler.before("escape", "formula", _inline)
    markdown.inline.add_terminator_char("$")
    markdown.block.ruler.before("fence", "formula", _block, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    return markdown


def _inline(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "$\\":
        return False
    formula = formula_at(state.src, state.pos)
    if formula is None or formula.end > state.posMax:
        return False
    if not silent:
        token = state.push("formula", "math", 0)
        token.content = formula.tex
        token.markup = "display" if formula.is_displayed else ""
    state.pos = formula.end
    return True


def _block(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    def line_at(line: int) -> str:
        return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]

    begun = line_at(first)
    closing = next((closing for opening, closing in _PAIRS[:2] if begun.startswith(opening)), None)
    if closing is None or state.is_code_block(first):
        return False
    lines: list[str] = []
    for line in range(first, min(last, first + _MOST_LINES)):
        text = begun[2:] if line == first else line_at(line)
        if text and state.sCount[line] < state.blkIndent:
            return False
        end = text.find(closing)
        if end < 0:
            lines.append(text)
            continue
        tex = "\n".join([*lines, text[:end]]).strip()
        if text[end + 2 :].strip() or not tex or (closing == r"\]" and not _IS_MATH.search(tex)):
            return False
        if not silent:
            state.line = line + 1
            token = state.push("formula", "math", 0)
            token.block, token.content, token.markup = True, tex, "display"
            token.map = [first, line + 1]
        return True
    return False
