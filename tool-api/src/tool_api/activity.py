"""Last use of the sandbox: by a call, a screen, a terminal, or a command that still runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager


class Activity:
    """`is_busy` reports whether work goes on without anybody connected."""

    def __init__(self, is_busy: Callable[[], bool]) -> None:
        self._is_busy = is_busy
        self._connected = 0
        self._last = time.monotonic()

    @property
    def unused_s(self) -> float:
        """Seconds since the last use; zero while the sandbox is in use."""
        if self._connected or self._is_busy():
            self._last = time.monotonic()
        return time.monotonic() - self._last

    @contextmanager
    def use(self) -> Generator[None]:
        self._connected += 1
        try:
            yield
        finally:
            self._connected -= 1
            self._last = time.monotonic()
