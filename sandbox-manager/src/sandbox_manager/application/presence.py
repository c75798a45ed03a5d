"""The managers that are present."""

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
    """Whether the manager of this owner name is known to have ended without a word; False if that is unknown."""

    async def renew(self) -> None:
        """Announce this manager; call it more often than every `PRESENT`."""
        place = await self.runtime.place()
        await self.leases.acquire(f"{_owner_prefix(place)}{self.owner}", self.owner, PRESENT)

    async def leave(self) -> bool:
        """Withdraw this manager; returns whether nobody else is at its place. The lease of a killed manager goes on for
        a while, and does not count."""
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
