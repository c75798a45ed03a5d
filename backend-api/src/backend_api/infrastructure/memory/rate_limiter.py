"""Counts of this process alone."""

from __future__ import annotations

import time

from backend_api.domain.errors import LimitError

_MAX_KEYS = 10_000


class MemoryRateLimiter:
    """`RateLimiter` by fixed windows; bounded."""

    def __init__(self) -> None:
        self._windows: dict[str, tuple[float, int]] = {}

    async def hit(self, key: str, *, limit: int, window_s: int) -> None:
        """Count in the present window."""
        if limit <= 0:
            return
        now = time.monotonic()
        ends, count = self._windows.get(key, (0.0, 0))
        if ends <= now:
            if len(self._windows) >= _MAX_KEYS:
                self._make_room(now)
            ends, count = now + window_s, 0
        self._windows[key] = (ends, count + 1)
        if count + 1 > limit:
            raise LimitError("Too many tries. Wait a little.", retry_after_s=max(int(ends - now), 1))

    def _make_room(self, now: float) -> None:
        """Windows that ended go first, then those that end soonest, a quarter at once so that it is rarely done."""
        kept = sorted((value[0], name) for name, value in self._windows.items() if value[0] > now)
        self._windows = {name: self._windows[name] for _, name in kept[-(_MAX_KEYS * 3 // 4) :]}
