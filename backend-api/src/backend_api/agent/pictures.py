"""Pictures that tools took: told by reference in a conversation, and as bytes in what a model is asked.

What is in them came out of a sandbox. Providers refuse a whole conversation for one picture they can't read, so only
what looks whole is sent: bounds of Anthropic's vision guide (5 MB as base64, 8,000 pixels a side for up to 20 pictures
a request, 32 MB a request), which OpenAI's lie above.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

PICTURE_TYPES = frozenset({"image/jpeg", "image/png", "image/webp"})
MAX_PICTURE_BYTES = 3_500_000
MAX_SIDE = 8_000
MIN_SIDE = 32
MAX_RATIO = 200
"""Of the longer side to the shorter one. Open vision models (Qwen-VL 2 to 3) fail at less and at more."""
MOST_PICTURES, MOST_PICTURES_BYTES = 20, 8_000_000
"""In a request. Of more than so many, Anthropic takes only smaller ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """The body of the session's event `seq`, of `size` bytes, or so many of it from `offset` on."""

    seq: int
    media_type: str
    size: int
    offset: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture as models are sent it, in base64."""

    media_type: str
    base64: str = field(repr=False)


class Pictures(Protocol):
    """The pictures of a session."""

    async def load(self, pictures: Sequence[Picture]) -> Mapping[Picture, Image]:
        """Those of them that are there and can be sent: always the same ones. Raises `UnavailableError`."""
        ...
