"""The allowed sizes of a screen, and the one that fits a viewer's panel best."""

from __future__ import annotations

from dataclasses import dataclass

STEP = 16
"""Pixels between allowed sizes, so that dragging a panel does not resize the screen at each pixel."""
NARROWEST, LOWEST = 480, 320
"""Browsers have no narrower windows."""
WIDEST, HIGHEST = 2560, 1600


@dataclass(frozen=True, slots=True)
class ScreenSize:
    """Width and height in pixels."""

    width: int
    height: int


def nearest_size(width: int, height: int) -> ScreenSize:
    """The allowed size nearest to the requested one, in its shape if possible."""
    wide, high = max(1, width), max(1, height)
    grow = max(1.0, NARROWEST / wide, LOWEST / high)
    shrink = min(1.0, WIDEST / (wide * grow), HIGHEST / (high * grow))
    factor = grow * shrink
    return ScreenSize(
        _step(wide * factor, NARROWEST, WIDEST),
        _step(high * factor, LOWEST, HIGHEST),
    )


def _step(pixels: float, least: int, most: int) -> int:
    return min(most, max(least, round(pixels / STEP) * STEP))
