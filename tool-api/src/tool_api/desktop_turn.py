"""Turns at the desktop: one call of the agent at a time, which relies on the size of the screen."""

from __future__ import annotations

import asyncio
import time

HELD_S = 120.0
"""Seconds after a call used the screen in which the next one may refer to points of that picture."""


class DesktopTurn(asyncio.Lock):
    """Held by the call that uses the desktop, one at a time; remembers until when the agent may count on its size."""

    def __init__(self, held_s: float = HELD_S) -> None:
        super().__init__()
        self._held_s = held_s
        self._until = 0.0

    def keep_size(self) -> None:
        """A picture was made that the next call may refer to."""
        self._until = time.monotonic() + self._held_s

    def release(self) -> None:
        self.keep_size()
        super().release()

    @property
    def held_s(self) -> float:
        """Seconds for which the size is kept at least, from now on."""
        return self._held_s if self.locked() else max(0.0, self._until - time.monotonic())
