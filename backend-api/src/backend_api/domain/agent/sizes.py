"""How many tokens a text is about, where no provider has counted it."""

from __future__ import annotations

CHARACTERS_A_TOKEN = 4
"""Of ASCII. Any other is taken for a token of its own."""


def weight(text: str) -> int:
    """As many characters of ASCII as have its tokens."""
    if text.isascii():
        return len(text)
    plain = len(text.encode("ascii", "ignore"))
    return plain + (len(text) - plain) * CHARACTERS_A_TOKEN
