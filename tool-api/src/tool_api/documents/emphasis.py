"""Emphasis in scripts that set no blanks between words: `**开源：**代码`.

CommonMark takes a mark between punctuation and a letter for one that can only open, or only close. Beside Chinese,
Japanese and Korean it can do both, as the specification "CommonMark CJK-friendly" has it. Text in other scripts is
read as CommonMark reads it.
"""

from __future__ import annotations

import re
import unicodedata

from markdown_it import MarkdownIt
from markdown_it.common.utils import isMdAsciiPunct, isPunctChar, isWhiteSpace
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_inline.state_inline import Scanned, StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType

_LETTER = re.compile(
    "[\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3041-\u30ff\u3131-\u318e"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7fb\uf900-\ufaff\uff66-\uffdc"
    "\U00020000-\U0003ffff]"
)
_QUOTES = "\u2018\u2019\u201c\u201d"
_FORMS = range(0xFE00, 0xFE0F)
"""Variants of a character, behind it; the last of the block makes it an emoji."""
_IDEOGRAPHIC_FORMS = range(0xE0100, 0xE01F0)


def with_emphasis(markdown: MarkdownIt) -> MarkdownIt:
    """The parser with this reading of emphasis; call it before its rules are configured."""
    markdown.inline = _Inline()
    return markdown


class _Inline(ParserInline):
    def parse(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> list[Token]:
        state = _State(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


class _State(StateInline):
    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:  # noqa: N802, N803 -- the library's names
        found = super().scanDelims(start, canSplitWord)
        before = self.src[start - 1] if start > 0 else " "
        end = start + found.length
        after = self.src[end] if end < self.posMax else " "
        if not canSplitWord:
            closes = _is_punctuation(before) and _LETTER.match(after) is not None
            opens = _LETTER.match(before) is not None and _is_punctuation(after)
            return Scanned(found.can_open or opens, found.can_close or closes, found.length)
        is_form = ord(before) in _FORMS
        main = self.src[start - 2] if is_form and start > 1 else before
        if isWhiteSpace(ord(main)) or isWhiteSpace(ord(after)):
            return found
        if _is_wide(after) or _is_wide_before(before, main if is_form else None):
            return Scanned(can_open=True, can_close=True, length=found.length)
        return found


def _is_wide_before(before: str, varied: str | None) -> bool:
    if varied is None:
        return _is_wide(before) or ord(before) in _IDEOGRAPHIC_FORMS
    return _is_wide(varied) or (ord(before) == 0xFE01 and varied in _QUOTES)


def _is_wide(char: str) -> bool:
    """Whether the character belongs to such a script or is punctuation of its width; False for an emoji."""
    match unicodedata.east_asian_width(char):
        case "F" | "H":
            return True
        case "W":
            return not _is_emoji(ord(char))
        case "N":
            return _LETTER.match(char) is not None and "HANGUL" in unicodedata.name(char, "")
        case _:
            return False


def _is_emoji(code: int) -> bool:
    """Whether a wide character is an emoji: symbols below the scripts, and the picture blocks without squared
    ideographs."""
    if code in (0x2329, 0x232A):
        return False
    return 0x2300 <= code < 0x2E80 or (0x1F000 <= code <= 0x1FAFF and not 0x1F200 <= code <= 0x1F265)


def _is_punctuation(char: str) -> bool:
    return isMdAsciiPunct(ord(char)) or isPunctChar(char)
