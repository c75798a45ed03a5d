"""Named leases for unit tests."""

from __future__ import annotations

from datetime import timedelta

from sandbox_manager.domain.ports import Clock, HeldLease
from sandbox_manager.infrastructure.machine import SystemClock


class MemoryLeases:
    """Leases in a dict."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._leases: dict[str, HeldLease] = {}
        self.clock: Clock = clock or SystemClock()

    async def acquire(self, name: str, owner: str, ttl: timedelta) -> bool:
        now = self.clock.now()
        known = self._leases.get(name)
        if known is not None and known.owner != owner and known.until > now:
            return False
        self._leases[name] = HeldLease(name=name, owner=owner, until=now + ttl)
        return True

    async def release(self, name: str, owner: str) -> None:
        known = self._leases.get(name)
        if known is not None and known.owner == owner:
            del self._leases[name]

    async def known(self, prefix: str) -> list[HeldLease]:
        return [one for name, one in self._leases.items() if name.startswith(prefix)]
