"""Remove what is left of a sandbox that is over."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field

from sandbox_manager.application.change import change_sandbox
from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.domain.ports import Clock, Runtime, SandboxRegistry
from sandbox_manager.domain.sandbox import Cleanup, Identity, Sandbox

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CleanSandbox:
    """Remove from the machine what the record of a finished sandbox still asks to remove, then free its place.

    Idempotent. Raises `EngineUnavailableError`; the reconciler tries again.
    """

    registry: SandboxRegistry
    runtime: Runtime
    clock: Clock
    deadline_s: float = 60.0
    removals: dict[str, asyncio.Lock] = field(default_factory=dict[str, asyncio.Lock])

    async def __call__(self, sandbox: Sandbox) -> None:
        if sandbox.lives or not sandbox.occupied:
            return
        if sandbox.runtime == self.runtime.name:
            await self.remove(sandbox.identity, keep_workspace=sandbox.cleanup is not Cleanup.ALL)
        await change_sandbox(self.registry, sandbox.id, lambda now: now.settled(sandbox.cleanup, self.clock.now()))
        _log.info("sandbox removed", extra=log_fields(sandbox.identity))

    async def remove(self, identity: Identity, *, keep_workspace: bool) -> None:
        """Remove from the machine only; the registry stays as it is. One removal of a sandbox at a time."""
        removal = self.removals.setdefault(identity.sandbox_id, asyncio.Lock())
        try:
            async with asyncio.timeout(self.deadline_s), removal:
                await self.runtime.remove(identity, keep_workspace=keep_workspace)
        except TimeoutError as error:
            raise EngineUnavailableError("The engine took too long to remove a sandbox; it is tried again.") from error
        finally:
            if not removal.locked():
                self.removals.pop(identity.sandbox_id, None)


def log_fields(identity: Identity) -> dict[str, object]:
    """Fields that name a sandbox on a log line."""
    return {
        "sandbox_id": identity.sandbox_id,
        "session_id": identity.session_id,
        "generation": identity.generation,
    }
