"""Pictures of tools: references in a conversation, and bytes in a request to a model.

Their content comes from a sandbox. Providers refuse a whole conversation for one picture they can't read, so only what
looks whole is sent: bounds of Anthropic's vision guide (5 MB as base64, 8,000 pixels a side for up to 20 pictures a
request, 32 MB a request), which OpenAI's lie above.
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
"""The largest ratio of the longer side to the shorter one. Open vision models (Qwen-VL 2 to 3) fail beyond it, and
below `MIN_SIDE`."""
MOST_PICTURES, MOST_PICTURES_BYTES = 20, 8_000_000
"""The most pictures and bytes of a request. With more pictures, Anthropic takes only smaller ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A reference to the body of the session's event `seq`, of `size` bytes, or to that many of it from `offset` on."""

    seq: int
    media_type: str
    size: int
    offset: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture in base64, as it is sent to models."""

    media_type: str
    base64: str = field(repr=False)


class Pictures(Protocol):
    """The pictures of a session."""

    async def load(self, pictures: Sequence[Picture]) -> Mapping[Picture, Image]:
        """The pictures that exist and can be sent: always the same ones. Raises `UnavailableError`."""
        ...
