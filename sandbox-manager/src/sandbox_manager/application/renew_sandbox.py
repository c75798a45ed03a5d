"""Count something as activity in a sandbox."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from sandbox_manager.application.change import change_sandbox
from sandbox_manager.domain.errors import SandboxNotFoundError, SandboxOverError
from sandbox_manager.domain.ports import Clock, SandboxRecords
from sandbox_manager.domain.sandbox import Sandbox, Status

_ATTEMPTS = 3
_FRESH = timedelta(seconds=1)
Resume = Callable[[str], Awaitable[object]]


async def _never_paused(_: str) -> None:
    return


@dataclass(frozen=True, slots=True)
class RenewSandbox:
    """Move the idle end of a living sandbox, resumed if it was paused; a queued one stays in line.

    Raises `SandboxNotFoundError`, `SandboxOverError`.
    """

    registry: SandboxRecords
    clock: Clock
    idle: timedelta
    resume: Resume = _never_paused

    async def __call__(self, sandbox_id: str, *, known: Sandbox | None = None) -> Sandbox:
        """Renew it; `known` is its record as just read: one renewed within the last second needs no more."""
        if known is not None and self._is_fresh(known):
            return known
        for _ in range(_ATTEMPTS):
            renewed = await change_sandbox(self.registry, sandbox_id, self._move, known=known)
            if renewed is not None:
                return renewed
            known = await self.registry.get(sandbox_id)
            if known is None:
                raise SandboxNotFoundError
            if known.status is not Status.PAUSED:
                break
            await self.resume(sandbox_id)
        raise SandboxOverError("The computer is gone; start it again.")

    def _is_fresh(self, sandbox: Sandbox) -> bool:
        renewed = sandbox.renewed(self.clock.now() - _FRESH, self.idle)
        return sandbox.status is Status.READY and renewed == sandbox

    def _move(self, sandbox: Sandbox) -> Sandbox | None:
        now = self.clock.now()
        return sandbox.waited_for(now) or sandbox.renewed(now, self.idle)
