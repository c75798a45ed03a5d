"""Guessed passwords: an address is limited, a name is only slowed, so that nobody locks out another."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from backend_api.application.identity.limits import Limits
from backend_api.domain.identity.ports import RateLimiter

NAMES_OF_AN_ADDRESS = 5
"""So many times the limit of one name is that of all names an address tries: people may share an address."""
FREE_TRIES = 5
TRIES_WINDOW_S = 600
FIRST_PAUSE_S = 0.25
LONGEST_PAUSE_S = 4.0
WAITING_MOST = 200
"""Log-ins one process lets wait; more of them go on at once, held by the limit of their addresses."""


def pause_of(tries: int) -> float:
    """Seconds before the password is looked at, by the tries for a name from anywhere, this one among them."""
    if tries <= FREE_TRIES:
        return 0.0
    return float(min(FIRST_PAUSE_S * 2 ** min(tries - FREE_TRIES - 1, 16), LONGEST_PAUSE_S))


@dataclass(slots=True)
class Guesses:
    """Every try counts before its password is looked at, or many at once would all be the first."""

    limiter: RateLimiter
    limits: Limits
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    _waiting: int = field(default=0, init=False)

    async def admit(self, name: str, address: str) -> None:
        """Raises `LimitError` for an address alone, and waits for a name: the right password is never refused for
        what others tried."""
        limit = self.limits.login_per_minute
        if limit <= 0:
            return
        await self.limiter.hit(f"login:{address}", limit=limit * NAMES_OF_AN_ADDRESS, window_s=60)
        await self.limiter.hit(_pair(name, address), limit=limit, window_s=60)
        pause = pause_of(await self.limiter.count(_everywhere(name), window_s=TRIES_WINDOW_S))
        if pause and self._waiting < WAITING_MOST:
            self._waiting += 1
            try:
                await self.sleep(pause)
            finally:
                self._waiting -= 1

    async def was_right(self, name: str, address: str) -> None:
        """The owner came in: the name is as if nobody had tried. The address's own count stays, as whoever has an
        account could begin it anew."""
        if self.limits.login_per_minute > 0:
            await asyncio.gather(*map(self.limiter.forget, (_pair(name, address), _everywhere(name))))


def _pair(name: str, address: str) -> str:
    return f"login:{address}:{name}"


def _everywhere(name: str) -> str:
    return f"login-name:{name}"
