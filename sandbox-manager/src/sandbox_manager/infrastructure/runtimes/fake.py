"""A runtime in memory, for tests."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from sandbox_manager.domain.errors import DomainError
from sandbox_manager.domain.ports import Found, SandboxSpec
from sandbox_manager.domain.sandbox import Identity, Started


class FakeRuntime:
    """Answers like a real one. `hold` keeps starts waiting, `fail_start` and `unavailable` are raised when set."""

    name = "fake"

    def __init__(self) -> None:
        self.things: dict[str, Found] = {}
        self.workspaces: set[str] = set()
        self.starts: list[SandboxSpec] = []
        self.hold: asyncio.Event | None = None
        self.fail_start: DomainError | None = None
        self.unavailable: DomainError | None = None

    async def check(self) -> None:
        if self.unavailable is not None:
            raise self.unavailable

    async def start(self, spec: SandboxSpec) -> Started:
        await self.check()
        identity = spec.identity
        self.starts.append(spec)
        self.workspaces.add(identity.session_id)
        self.things[identity.sandbox_id] = Found(identity=identity, running=True)
        if self.hold is not None:
            await self.hold.wait()
        if self.fail_start is not None:
            raise self.fail_start
        return Started(door=f"http://fake-{identity.sandbox_id}:7000", has_desktop=True, has_network=True)

    async def found(self) -> list[Found]:
        await self.check()
        return list(self.things.values())

    async def remove(self, identity: Identity, *, keep_workspace: bool) -> None:
        await self.check()
        self.things.pop(identity.sandbox_id, None)
        if not keep_workspace:
            self.workspaces.discard(identity.session_id)

    def kill(self, sandbox_id: str) -> None:
        """What an outsider could do to a running sandbox."""
        self.things[sandbox_id] = replace(self.things[sandbox_id], running=False, reason="The sandbox was killed.")
