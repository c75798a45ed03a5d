"""Masks keys in the errors of a provider: many repeat a part of a key they refuse."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from backend_api.agent.model import ModelError

MASK = "…"
LEAST = 5
"""The shortest run of a key's characters that is masked."""
LEAST_IN_PIECES = 8
"""The shortest run of its letters and digits that is masked, whatever stands between them."""
SHORTEST_KEY = 8
"""Shorter values are placeholders for servers without keys, such as `none`."""
_LOOKS_LIKE_KEY = re.compile(
    r"\b(?:sk|pk|rk|tvly|gsk|xai|key)[-_][\w.*…-]{4,}|\bAIza[\w-]{8,}|\*{3,}[\w-]*|\bBearer +\S{6,}"
)


def mask_key(text: str, key: str = "") -> str:
    """The text without this key and longer parts of it, also encoded or in pieces, and without anything that looks like
    another key."""
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
    """Masks each place where `least` characters of the key follow each other. `places` maps positions in `text` to the
    whole text."""
    for start in range(len(key) - least + 1):
        part, at = key[start : start + least], -1
        while (at := text.find(part, at + 1)) >= 0:
            first, last = places[at], places[at + least - 1]
            hidden[first : last + 1] = [True] * (last + 1 - first)


def _forms(key: str) -> Iterator[str]:
    """The key and its encodings. In base64 its ends depend on the bytes around it, so they are cut off."""
    yield key
    yield key.encode().hex()
    for before in range(3):
        yield b64encode(bytes(before) + key.encode()).decode()[4 if before else 0 : -4]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyMask:
    """Masks a provider's key in its errors. For a user's own key the text says so, since `key_setting`, which the error
    says to check, is the deployment's."""

    key: str = field(repr=False)
    key_setting: str
    is_own: bool

    def masked(self, error: ModelError) -> ModelError:
        """The same error without the key. Raise it without a cause, whose text has the provider's message."""
        detail = mask_key(error.detail, self.key)
        if self.is_own:
            detail = detail.replace(f"Check {self.key_setting}.", "Check your own key in the settings.")
        return type(error)(detail, may_retry=error.may_retry, retry_after_s=error.retry_after_s)
