"""The end of a process: callbacks that run before anything is closed."""

from __future__ import annotations

import time
from collections.abc import Callable


class Closing:
    """The shutdown, begun once by a signal."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[[], None]] = []
        self._begun_at: float | None = None

    def on_begin(self, callback: Callable[[], None]) -> None:
        """Registers a callback for the beginning of the shutdown."""
        self._callbacks.append(callback)

    def begin(self) -> None:
        """Calls all callbacks, once."""
        if self._begun_at is None:
            self._begun_at = time.monotonic()
            for callback in self._callbacks:
                callback()

    def remaining_s(self, seconds: float) -> float:
        """The rest of so many seconds, counted from the beginning of the shutdown."""
        self.begin()
        assert self._begun_at is not None
        return max(self._begun_at + seconds - time.monotonic(), 0.0)
