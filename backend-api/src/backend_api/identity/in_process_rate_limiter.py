"""Rate limits of this process alone."""

from __future__ import annotations

import time

from backend_api.kit.errors import LimitError

_MAX_KEYS = 10_000


class InProcessRateLimiter:
    """`RateLimiter` by fixed windows; bounded."""

    def __init__(self) -> None:
        self._windows: dict[str, tuple[float, int]] = {}

    async def hit(self, key: str, *, limit: int, window_s: int) -> None:
        """Count in the present window."""
        if limit <= 0:
            return
        count = await self.count(key, window_s=window_s)
        if count > limit:
            left = self._windows[key][0] - time.monotonic()
            raise LimitError("Too many attempts. Try again later.", retry_after_s=max(int(left), 1))

    async def count(self, key: str, *, window_s: int) -> int:
        """Count in the present window."""
        now = time.monotonic()
        ends, count = self._windows.get(key, (0.0, 0))
        if ends <= now:
            if len(self._windows) >= _MAX_KEYS:
                self._make_room(now)
            ends, count = now + window_s, 0
        self._windows[key] = (ends, count + 1)
        return count + 1

    async def forget(self, key: str) -> None:
        """Drop the key's window."""
        self._windows.pop(key, None)

    def _make_room(self, now: float) -> None:
        """Drop windows that ended, then those that end soonest, a quarter at once so that it is rarely done."""
        kept = sorted((value[0], name) for name, value in self._windows.items() if value[0] > now)
        self._windows = {name: self._windows[name] for _, name in kept[-(_MAX_KEYS * 3 // 4) :]}
