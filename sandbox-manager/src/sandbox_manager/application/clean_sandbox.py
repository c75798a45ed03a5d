"""Remove the remains of a finished sandbox."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from sandbox_manager.application import measures
from sandbox_manager.application.change import change_sandbox
from sandbox_manager.application.sandbox_work import SandboxWork
from sandbox_manager.domain.errors import EngineUnavailableError, SandboxBusyError
from sandbox_manager.domain.ports import Clock, RuntimeHost, SandboxLifecycle, SandboxRecords
from sandbox_manager.domain.sandbox import ANY_PLACE, Cleanup, Identity, Sandbox

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CleanSandbox:
    """Remove from the machine all that the record of a finished sandbox marks for removal, then free its place.

    Idempotent. Raises `EngineUnavailableError`, `SandboxBusyError` when another manager works on it for longer than
    `wait_s`; the reconciler tries again. Remains at a place with other managers are left to them.
    """

    registry: SandboxRecords
    host: RuntimeHost
    lifecycle: SandboxLifecycle
    clock: Clock
    work: SandboxWork
    deadline_s: float = 60.0
    wait_s: float = 20.0

    async def __call__(self, sandbox: Sandbox, *, wait_s: float | None = None) -> None:
        if sandbox.is_alive or not sandbox.occupied:
            return
        async with self.work.on(sandbox.id, wait_s=self.wait_s if wait_s is None else wait_s) as newest:
            await self.settle(newest)

    async def settle(self, sandbox: Sandbox) -> None:
        """Clean a sandbox whose lease the caller already holds."""
        if sandbox.is_alive or not sandbox.occupied:
            return
        if not await self.is_here(sandbox):
            raise SandboxBusyError
        ran_here = sandbox.place and sandbox.runtime == self.host.name
        if ran_here or sandbox.cleanup is Cleanup.ALL:
            await self.remove(sandbox.identity, keep_workspace=sandbox.cleanup is not Cleanup.ALL)
        await change_sandbox(self.registry, sandbox.id, lambda now: now.settled(sandbox.cleanup, self.clock.now()))
        _log.info("sandbox removed", extra=log_fields(sandbox.identity))

    async def is_here(self, sandbox: Sandbox) -> bool:
        """Whether it is at this manager's place; a sandbox that never ran belongs to every place."""
        return sandbox.place in ("", ANY_PLACE) or sandbox.place == await self.host.place()

    async def remove(self, identity: Identity, *, keep_workspace: bool) -> None:
        """Remove it from the machine only; the registry stays unchanged."""
        try:
            async with asyncio.timeout(self.deadline_s):
                await self.lifecycle.remove(identity, keep_workspace=keep_workspace)
            measures.REMOVED.labels(self.host.name).inc()
        except TimeoutError as error:
            raise EngineUnavailableError(
                "The engine took too long to remove a sandbox; the removal is retried."
            ) from error


def log_fields(identity: Identity) -> dict[str, object]:
    """Fields that name a sandbox on a log line."""
    return {
        "sandbox_id": identity.sandbox_id,
        "session_id": identity.session_id,
        "generation": identity.generation,
    }
