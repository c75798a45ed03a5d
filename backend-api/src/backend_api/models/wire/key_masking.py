"""No key in the errors of a provider: many repeat a part of it where they refuse it."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from backend_api.agent.model import ModelError

MASK = "…"
LEAST = 5
"""So many characters of a key in a row are hidden."""
LEAST_IN_PIECES = 8
"""The same of letters and digits, whatever stands between them."""
SHORTEST_KEY = 8
"""What is shorter is a word that servers without keys are given, such as `none`."""
_LOOKS_LIKE_KEY = re.compile(
    r"\b(?:sk|pk|rk|tvly|gsk|xai|key)[-_][\w.*…-]{4,}|\bAIza[\w-]{8,}|\*{3,}[\w-]*|\bBearer +\S{6,}"
)


def mask_key(text: str, key: str = "") -> str:
    """The text without this key, longer parts of it, also in other forms or in pieces, and what looks like another."""
    hidden = [False] * len(text)
    if len(key) >= SHORTEST_KEY:
        _hide(hidden, range(len(text)), text, key, LEAST)
        places = [place for place, character in enumerate(text) if character.isalnum()]
        letters = "".join(text[place] for place in places)
        for form in _forms(key):
            _hide(hidden, places, letters, "".join(filter(str.isalnum, form)), LEAST_IN_PIECES)
    shown = "".join("\0" if is_hidden else character for character, is_hidden in zip(text, hidden, strict=True))
    return _LOOKS_LIKE_KEY.sub(MASK, re.sub("\0+", MASK, shown))


def _hide(hidden: list[bool], places: Sequence[int], text: str, key: str, least: int) -> None:
    """Wherever `least` of its characters stand in a row. `places` says where in the whole those of the text stand."""
    for start in range(len(key) - least + 1):
        part, at = key[start : start + least], -1
        while (at := text.find(part, at + 1)) >= 0:
            first, last = places[at], places[at + least - 1]
            hidden[first : last + 1] = [True] * (last + 1 - first)


def _forms(key: str) -> Iterator[str]:
    """The key, and what it is in others. In base64 it depends on what stands before it, but for the ends."""
    yield key
    yield key.encode().hex()
    for before in range(3):
        yield b64encode(bytes(before) + key.encode()).decode()[4 if before else 0 : -4]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyMask:
    """Hides a provider's key in its faults. That of a user is named as such: `key_setting`, which such a fault says to
    check, is the deployment's."""

    key: str = field(repr=False)
    key_setting: str
    is_own: bool

    def masked(self, error: ModelError) -> ModelError:
        """The same fault without the key. It is to be raised without a cause, whose text has what the provider said."""
        detail = mask_key(error.detail, self.key)
        if self.is_own:
            detail = detail.replace(f"Check {self.key_setting}.", "Check your own key in the settings.")
        return type(error)(detail, may_retry=error.may_retry, retry_after_s=error.retry_after_s)
