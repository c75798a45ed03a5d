"""The end of a process: who must know is told before anything is closed."""

from __future__ import annotations

import time
from collections.abc import Callable


class Closing:
    """Begun by a signal, once."""

    def __init__(self) -> None:
        self._told: list[Callable[[], None]] = []
        self._begun_at: float | None = None

    def then(self, tell: Callable[[], None]) -> None:
        """Call this when the end begins."""
        self._told.append(tell)

    def begin(self) -> None:
        """Tell everyone."""
        if self._begun_at is None:
            self._begun_at = time.monotonic()
            for tell in self._told:
                tell()

    def rest(self, seconds: float) -> float:
        """What is left of so many seconds from the beginning of the end on."""
        self.begin()
        assert self._begun_at is not None
        return max(self._begun_at + seconds - time.monotonic(), 0.0)
