"""Conversion between pixels of the screen and of a picture that models take as it is."""

from __future__ import annotations

import math
from dataclasses import dataclass

MAX_SIDE = 1568
"""Models' providers make pictures with a longer side smaller, and coordinates would not fit then."""
MAX_PIXELS = 1_150_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """A screen, or a part of it, of `width` x `height` pixels, and its picture, which is smaller if the screen is
    large."""

    width: int
    height: int

    @property
    def picture(self) -> tuple[int, int]:
        """Width and height of the picture."""
        factor = min(1.0, MAX_SIDE / max(self.width, self.height), math.sqrt(MAX_PIXELS / (self.width * self.height)))
        return max(1, int(self.width * factor)), max(1, int(self.height * factor))

    def to_screen(self, x: int, y: int) -> tuple[int, int] | None:
        """The screen position of a pixel of the picture, in its middle; None if the picture has no such pixel."""
        wide, high = self.picture
        if x >= wide or y >= high:
            return None
        return int((x + 0.5) * self.width / wide), int((y + 0.5) * self.height / high)

    def to_picture(self, x: int, y: int) -> tuple[int, int]:
        """The pixel of the picture that shows a pixel of the screen."""
        wide, high = self.picture
        across, down = int((x + 0.5) * wide / self.width), int((y + 0.5) * high / self.height)
        return min(across, wide - 1), min(down, high - 1)
