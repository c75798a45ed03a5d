"""The resource usage of sandboxes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from sandbox_manager.application.keep_alive import KeepAlive
from sandbox_manager.domain.admission import Limits, Room
from sandbox_manager.domain.errors import SandboxNotFoundError
from sandbox_manager.domain.ports import SandboxMonitor, SandboxRecords, Usage
from sandbox_manager.domain.sandbox import Sandbox, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxStats:
    """Usage of one sandbox; `usage` is None if it does not run."""

    sandbox: Sandbox
    usage: Usage | None
    disk_bytes: int | None
    unused_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Totals of all sandboxes of the deployment, and the memory its machine has left."""

    by_status: dict[str, int]
    users: int
    free_memory_bytes: int | None
    max_total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadStats:
    """Raises `SandboxNotFoundError`, `EngineUnavailableError`, `RegistryUnavailableError`."""

    registry: SandboxRecords
    runtime: SandboxMonitor
    keep_alive: KeepAlive
    room: Callable[[], Awaitable[Room]]
    limits: Limits

    async def __call__(self, sandbox_id: str) -> SandboxStats:
        sandbox = await self.registry.get(sandbox_id)
        if sandbox is None or sandbox.is_pooled:
            raise SandboxNotFoundError
        runs = sandbox.status in (Status.READY, Status.PAUSED)
        usage = self.runtime.usage(sandbox.identity) if runs else _no_usage()
        asked = self.keep_alive.ask(sandbox) if sandbox.status is Status.READY else _no_usage()
        used, report = await asyncio.gather(usage, asked)
        return SandboxStats(
            sandbox=sandbox,
            usage=used,
            disk_bytes=report.disk_bytes if report else None,
            unused_s=report.unused_s if report else None,
        )

    async def totals(self) -> Totals:
        """The totals of the deployment."""
        occupied, room = await self.registry.find(occupied=True), await self.room()
        return Totals(
            by_status=dict(Counter(one.shown.value for one in occupied)),
            users=len({one.identity.user_id for one in occupied if not one.is_pooled}),
            free_memory_bytes=room.free,
            max_total=self.limits.max_total,
        )


async def _no_usage() -> None:
    return
