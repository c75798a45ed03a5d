"""Characters that a person does not see but a model reads: with them a text says one thing to the one and another to
the other."""

from __future__ import annotations

import re
from typing import Any, cast

INVISIBLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, but tabs and the ends of lines
    r"\xad\u034f\u061c\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # of formatting
    r"\u115f\u1160\u17b4\u17b5\u3164\uffa0"  # letters without a shape
    r"\U0001d173-\U0001d17a"  # begin and end of notes of music
    r"\ud800-\udfff"  # halves of characters
    r"\ufe00-\ufe0d\U000e0000-\U000e0fff]"  # variants and tags, which spell whole texts
    r"|(?<=[\ufe0e\ufe0f])[\ufe0e\ufe0f]"  # how one sign is drawn, said again and again
)
"""A single U+FE0E or U+FE0F, which selects how the preceding sign is drawn, is not included."""
_SIGNS_OF_DRAWING = "\ufe0e\ufe0f\u2800"
"""The selectors of how a sign is drawn, and the empty Braille pattern."""
TAGS = re.compile("[\U000e0000-\U000e0fff]")
"""The tag characters, which can spell whole texts. For text that people write in any language, whose words and emoji
use the others."""
UNTYPEABLE = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]|{TAGS.pattern}")
"""Tags, control characters but tabs and line ends, and halves of characters: nobody types any of them."""


def is_blank(text: str) -> bool:
    """Whether nothing in it is visible: only white space, control characters, or signs without a shape."""
    return not INVISIBLE.sub("", text).translate(dict.fromkeys(map(ord, _SIGNS_OF_DRAWING))).strip()


NUL_FAULT = "it contains the character NUL (U+0000), which is not allowed: leave it out"
BLANK_FAULT = "it has only white space or invisible characters: write something"


def is_written_blank(text: str) -> bool:
    """Whether a text was written that has nothing visible. An empty text does not count: where it is allowed, it means
    that there is none."""
    return bool(text) and is_blank(text)


def has_nul(value: Any) -> bool:
    """Whether the character NUL is in a text, or in any text of a JSON value, at any depth."""
    left: list[Any] = [value]
    while left:
        one = left.pop()
        if isinstance(one, str) and "\0" in one:
            return True
        if isinstance(one, dict):
            fields = cast("dict[Any, Any]", one)
            left += [*map(str, fields), *fields.values()]
        elif isinstance(one, list):
            left += cast("list[Any]", one)
    return False
