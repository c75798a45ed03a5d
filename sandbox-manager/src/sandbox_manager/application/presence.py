"""Which managers are there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from sandbox_manager.domain.ports import Clock, Leases, RuntimeHost

PRESENT = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Presence:
    """Each manager keeps a lease of its own that names the place of its sandboxes, so that others know of it.

    Raises `EngineUnavailableError`, `RegistryUnavailableError`.
    """

    leases: Leases
    runtime: RuntimeHost
    clock: Clock
    owner: str
    has_ended: Callable[[str], bool]
    """Whether the manager that is this owner is known to have ended, without a word; False where nobody knows."""

    async def renew(self) -> None:
        """I am here; say so more often than every `PRESENT`."""
        place = await self.runtime.place()
        await self.leases.acquire(f"{_owner_prefix(place)}{self.owner}", self.owner, PRESENT)

    async def leave(self) -> bool:
        """I go; answers whether nobody else is at this place. The lease of one that was killed goes on for a while, and
        keeps nothing."""
        place = await self.runtime.place()
        await self.leases.release(f"{_owner_prefix(place)}{self.owner}", self.owner)
        now, others = self.clock.now(), await self.leases.known(_owner_prefix(place))
        return not any(one.until > now and not self.has_ended(one.owner) for one in others)

    async def is_kept(self, place: str, *, within: timedelta = timedelta()) -> bool:
        """Whether a manager is at a place, or was within that time."""
        since = self.clock.now() - within
        return any(one.until > since for one in await self.leases.known(_owner_prefix(place)))


def _owner_prefix(place: str) -> str:
    return f"manager:{place}:"
