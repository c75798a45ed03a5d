"""Registry for unit tests, under the same contract suite as the real one."""

from __future__ import annotations

from dataclasses import replace

from sandbox_manager.domain.errors import RegistryUnavailableError
from sandbox_manager.domain.sandbox import Sandbox


class MemoryRegistry:
    """Records in a dict. `broken` makes every call fail as an unreachable database would."""

    def __init__(self) -> None:
        self._records: dict[str, Sandbox] = {}
        self.broken = False

    async def add(self, sandbox: Sandbox) -> bool:
        await self.check()
        for known in self._records.values():
            if known.identity.session_id == sandbox.identity.session_id and (
                known.occupied or known.identity.generation == sandbox.identity.generation
            ):
                return False
        self._records[sandbox.id] = sandbox
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
        self._records[sandbox.id] = replace(sandbox, version=sandbox.version + 1)
        return True

    async def check(self) -> None:
        if self.broken:
            raise RegistryUnavailableError("The manager's database does not answer; try again later.")
