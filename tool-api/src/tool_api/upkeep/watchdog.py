"""The watchdog: a sandbox that no manager keeps alive ends itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

TICK_S = 1.0


class Watchdog:
    """Counts ticks without a manager, not time: a sandbox that is held still does not tick, so its pause is not held
    against it. With a limit of zero it never ends anything."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._alone_s = 0.0

    def reset(self) -> None:
        """Record that a manager is there."""
        self._alone_s = 0.0

    async def watch(self, end: Callable[[], None], *, tick_s: float = TICK_S) -> None:
        """Call `end` once no manager was there for too long."""
        while self._limit_s <= 0 or self._alone_s < self._limit_s:
            await asyncio.sleep(tick_s)
            self._alone_s += tick_s
        end()
