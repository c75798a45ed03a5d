"""How often all runs of a process together show a piece of text."""

from __future__ import annotations

PIECES_PER_SECOND = 400
"""A piece costs its process, Redis and the gateway of its reader half a millisecond together, however long it is."""
MAX_WAIT_S = 0.125
TICK_S = 0.025
"""Turns that have to be waited for fall together, so that the pieces of many runs are sent in one call."""


class Pace:
    """Gives each next piece its turn: few runs never wait for it, and what many say meanwhile is one piece each."""

    def __init__(self) -> None:
        self._last = 0.0

    def turn(self, now: float) -> float:
        """When whoever asks may show its next piece, at most `MAX_WAIT_S` from now."""
        self._last = min(max(self._last, now) + 1 / PIECES_PER_SECOND, now + MAX_WAIT_S)
        if self._last - now < TICK_S:
            return self._last
        return self._last // TICK_S * TICK_S


PACE = Pace()
"""Of this process."""
