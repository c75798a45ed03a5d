"""Count something as activity in a sandbox."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sandbox_manager.application.change import change_sandbox
from sandbox_manager.domain.errors import SandboxNotFoundError, SandboxOverError
from sandbox_manager.domain.ports import Clock, SandboxRegistry
from sandbox_manager.domain.sandbox import Sandbox


@dataclass(frozen=True, slots=True)
class RenewSandbox:
    """Move the idle end of a living sandbox. Raises `SandboxNotFoundError`, `SandboxOverError`."""

    registry: SandboxRegistry
    clock: Clock
    idle: timedelta

    async def __call__(self, sandbox_id: str) -> Sandbox:
        renewed = await change_sandbox(self.registry, sandbox_id, lambda now: now.renewed(self.clock.now(), self.idle))
        if renewed is not None:
            return renewed
        if await self.registry.get(sandbox_id) is None:
            raise SandboxNotFoundError
        raise SandboxOverError("The sandbox is gone; create it again.")
