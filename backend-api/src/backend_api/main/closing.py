"""The end of a process: callbacks that run before anything is closed."""

from __future__ import annotations

import time
from collections.abc import Callable


class Closing:
    """Begun by a signal, once."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[[], None]] = []
        self._begun_at: float | None = None

    def on_begin(self, callback: Callable[[], None]) -> None:
        """Call this when the end begins."""
        self._callbacks.append(callback)

    def begin(self) -> None:
        """Call everyone that registered, once."""
        if self._begun_at is None:
            self._begun_at = time.monotonic()
            for callback in self._callbacks:
                callback()

    def remaining_s(self, seconds: float) -> float:
        """What is left of so many seconds from the beginning of the end on."""
        self.begin()
        assert self._begun_at is not None
        return max(self._begun_at + seconds - time.monotonic(), 0.0)
