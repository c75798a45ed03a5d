"""How fast the bridge tells what a kernel says, however often that is cleared and said anew."""

from __future__ import annotations

from collections.abc import Callable

BURST = 16_000_000
PER_SECOND = 4_000_000
"""Characters; a picture of a plot has some ten thousand."""
_PER_LINE = 200


class Throttle:
    """A bucket of characters that fills with the time. `clock` tells seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._room: float = BURST
        self._at = clock()

    def has_room(self) -> bool:
        """Whether a line may be told now."""
        now = self._clock()
        self._room = min(BURST, self._room + (now - self._at) * PER_SECOND)
        self._at = now
        return self._room > 0

    def count(self, characters: int) -> None:
        """A line is told."""
        self._room -= characters + _PER_LINE
