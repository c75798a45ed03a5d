"""Characters that a person does not see, and a model reads: with them a text says other things to the one than to the
other."""

from __future__ import annotations

import re

UNSEEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control, but for tabs and line feeds
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0"  # as if nothing stood there
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # of no width, or that turn the line round
    "\ufe00-\ufe0e\U000e0000-\U000e0fff"  # variants of what stands before and tags, which spell whole texts
    "\U0001d173-\U0001d17a"  # begin and end of notes of music
    "\ud800-\udfff"  # halves of a character
    "]"
)
"""The one variant that makes an emoji of a sign (U+FE0F) is none of them."""
TAGS = re.compile("[\U000e0000-\U000e0fff]")
"""Those that spell whole texts. For what a person may write in any language, whose words and emoji have others."""
