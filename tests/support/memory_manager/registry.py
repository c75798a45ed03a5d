"""Registry for unit tests, under the same contract suite as the real one."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta

from sandbox_manager.domain.errors import MarkLostError, RegistryUnavailableError
from sandbox_manager.domain.ports import Change, Clock
from sandbox_manager.domain.sandbox import LONG_AGO, Sandbox
from sandbox_manager.infrastructure.machine import SystemClock


class MemoryRegistry:
    """Records in a dict. `broken` makes every call fail as an unreachable database would."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._records: dict[str, Sandbox] = {}
        self._changes: list[Change] = []
        self._changed = asyncio.Condition()
        self.clock: Clock = clock or SystemClock()
        self.broken = False

    async def add(self, sandbox: Sandbox) -> bool:
        await self.check()
        if not self._is_free_for(sandbox):
            return False
        await self._store(sandbox)
        return True

    async def get(self, sandbox_id: str) -> Sandbox | None:
        await self.check()
        return self._records.get(sandbox_id)

    async def find(
        self, *, user_id: str | None = None, session_id: str | None = None, occupied: bool | None = None
    ) -> list[Sandbox]:
        await self.check()
        matching = [
            one
            for one in self._records.values()
            if user_id in (None, one.identity.user_id)
            and session_id in (None, one.identity.session_id)
            and occupied in (None, one.occupied)
        ]
        return sorted(matching, key=lambda one: (one.created_at, one.identity.generation), reverse=True)

    async def save(self, sandbox: Sandbox) -> bool:
        await self.check()
        known = self._records.get(sandbox.id)
        if known is None or known.version != sandbox.version:
            return False
        await self._store(
            replace(sandbox, version=sandbox.version + 1, lease_owner=known.lease_owner, lease_until=known.lease_until)
        )
        return True

    async def acquire_lease(self, sandbox_id: str, owner: str, ttl: timedelta) -> Sandbox | None:
        await self.check()
        known = self._records.get(sandbox_id)
        now = self.clock.now()
        if known is None or (known.lease_owner != owner and known.lease_until > now):
            return None
        version = known.version + (known.lease_owner != owner)
        self._records[sandbox_id] = replace(known, lease_owner=owner, lease_until=now + ttl, version=version)
        return self._records[sandbox_id]

    async def release_lease(self, sandbox_id: str, owner: str) -> None:
        await self.check()
        known = self._records.get(sandbox_id)
        if known is not None and known.lease_owner == owner:
            self._records[sandbox_id] = replace(known, lease_owner="", lease_until=LONG_AGO)

    async def admit(self, decide: Callable[[list[Sandbox], datetime], list[Sandbox]]) -> list[Sandbox]:
        await self.check()
        occupied = sorted((one for one in self._records.values() if one.occupied), key=lambda one: one.created_at)
        changed = decide(occupied, self.clock.now())
        if any(one.id not in self._records and not self._is_free_for(one) for one in changed):
            return []
        stored = [replace(one, version=one.version + 1) if one.id in self._records else one for one in changed]
        for one in stored:
            await self._store(one)
        return stored

    @asynccontextmanager
    async def changes(self, after: str | None) -> AsyncGenerator[AsyncIterator[Change]]:
        await self.check()
        try:
            begin = len(self._changes) if after is None else int(after)
        except ValueError as error:
            raise MarkLostError("There is no such mark.") from error
        yield self._changes_from(begin)

    async def check(self) -> None:
        if self.broken:
            raise RegistryUnavailableError("The manager's database does not answer; try again later.")

    def _is_free_for(self, sandbox: Sandbox) -> bool:
        return not any(
            known.identity.session_id == sandbox.identity.session_id
            and (known.occupied or known.identity.generation == sandbox.identity.generation)
            for known in self._records.values()
        )

    async def _store(self, sandbox: Sandbox) -> None:
        known = self._records.get(sandbox.id)
        self._records[sandbox.id] = sandbox
        if known is None or known.revision != sandbox.revision:
            self._changes.append(Change(mark=str(len(self._changes) + 1), sandbox=sandbox))
            async with self._changed:
                self._changed.notify_all()

    async def _changes_from(self, begin: int) -> AsyncIterator[Change]:
        for at in itertools.count(begin):
            async with self._changed:
                while len(self._changes) <= at:
                    await self._changed.wait()
            yield self._changes[at]
