"""A runtime in memory, for tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

from sandbox_manager.domain.errors import DomainError, EngineUnavailableError, WorkspaceExistsError
from sandbox_manager.domain.ports import Found, Report, SandboxSpec, Usage
from sandbox_manager.domain.sandbox import Identity, Started, pool_session
from support.memory_manager.archives import FakeArchives


class FakeRuntime:
    """Answers like a real one. `hold` keeps starts waiting, `fail_start` and `unavailable` are raised when set."""

    name = "fake"
    where = "fake-place"

    def __init__(self) -> None:
        self.things: dict[str, Found] = {}
        self.workspaces: set[str] = set()
        self.archives = FakeArchives(self.workspaces)
        self.starts: list[SandboxSpec] = []
        self.made_by = "fingerprint-1"
        self.missing: set[str] = set()
        """Images that are not on the engine."""
        self.fail_pause: DomainError | None = None
        self.fail_resume: DomainError | None = None
        self.hold: asyncio.Event | None = None
        self.fail_start: DomainError | None = None
        self.unavailable: DomainError | None = None
        self.unused_s: dict[str, float] = {}
        self.disk_bytes = 0
        self.disk_files = 0
        self.restless = False
        self.fail_keep: DomainError | None = None
        self.kept: list[str] = []
        self.removals: list[str] = []
        self.ended: asyncio.Queue[str] = asyncio.Queue()

    async def place(self) -> str:
        return self.where

    async def check(self) -> None:
        if self.unavailable is not None:
            raise self.unavailable

    async def image_trouble(self, image: str) -> str | None:
        await self.check()
        return f"The image {image} is missing." if image in self.missing else None

    async def start_sandbox(self, spec: SandboxSpec) -> Started:
        await self.check()
        identity = spec.identity
        self.starts.append(spec)
        self.workspaces.add(identity.session_id)
        self.things[identity.sandbox_id] = Found(identity=identity, running=True)
        if self.hold is not None:
            await self.hold.wait()
        if self.fail_start is not None:
            raise self.fail_start
        return Started(endpoint=f"http://fake-{identity.sandbox_id}:7000", has_desktop=True, has_network=True)

    async def pause(self, identity: Identity) -> None:
        await self._set_paused(identity, self.fail_pause, paused=True)

    async def resume(self, identity: Identity) -> None:
        await self._set_paused(identity, self.fail_resume, paused=False)

    async def _set_paused(self, identity: Identity, failure: DomainError | None, *, paused: bool) -> None:
        await self.check()
        thing = self.things.get(identity.sandbox_id)
        if failure is not None:
            raise failure
        if thing is None or not thing.running:
            raise EngineUnavailableError("The sandbox does not run.")
        self.things[identity.sandbox_id] = replace(thing, paused=paused)

    async def assign_workspace(self, identity: Identity) -> None:
        await self.check()
        if identity.session_id in self.workspaces:
            raise WorkspaceExistsError
        self.workspaces.remove(pool_session(identity.sandbox_id))
        self.workspaces.add(identity.session_id)

    async def fingerprint(self) -> str:
        await self.check()
        return self.made_by

    async def found(self) -> list[Found]:
        await self.check()
        return list(self.things.values())

    async def remove(self, identity: Identity, *, keep_workspace: bool) -> None:
        await self.check()
        self.removals.append(identity.sandbox_id)
        self.things.pop(identity.sandbox_id, None)
        self.workspaces.discard(pool_session(identity.sandbox_id))
        if not keep_workspace:
            self.workspaces.discard(identity.session_id)

    async def keep_alive(self, identity: Identity, endpoint: str, token: str) -> Report:
        """Unused since long, unless `unused_s` says otherwise."""
        await self.check()
        if self.fail_keep is not None:
            raise self.fail_keep
        thing = self.things.get(identity.sandbox_id)
        if thing is None or not thing.running or thing.paused:
            raise EngineUnavailableError("The sandbox does not answer.")
        self.kept.append(identity.sandbox_id)
        unused_s = self.unused_s.get(identity.sandbox_id, 1e6)
        return Report(
            unused_s=unused_s, disk_bytes=self.disk_bytes, disk_files=self.disk_files, resting=not self.restless
        )

    async def usage(self, identity: Identity) -> Usage | None:
        await self.check()
        thing = self.things.get(identity.sandbox_id)
        if thing is None or not thing.running:
            return None
        return Usage(cpu_s=0.0, memory_bytes=0, memory_limit_bytes=0, pids=1)

    async def endings(self) -> AsyncGenerator[str]:
        while True:
            yield await self.ended.get()

    def kill(self, sandbox_id: str) -> None:
        """What an outsider could do to a running sandbox."""
        self.ended.put_nowait(sandbox_id)
        self.things[sandbox_id] = replace(
            self.things[sandbox_id], running=False, paused=False, reason="The sandbox was killed."
        )
