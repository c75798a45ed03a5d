"""Signs that nobody sees: with them a text reads otherwise for a person than for a model."""

from __future__ import annotations

import re

UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, but tabs and the ends of lines
    r"\xad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # of formatting
    r"\u115f\u1160\u17b4\u17b5\u3164\uffa0"  # letters without a shape
    r"\ud800-\udfff"  # halves of signs
    r"\ufe00-\ufe0d\U000e0000-\U000e0fff]"  # tags and variants, by which any text can be written unseen
    r"|(?<=[\ufe0e\ufe0f])[\ufe0e\ufe0f]"  # how one sign is drawn, said again and again
)
