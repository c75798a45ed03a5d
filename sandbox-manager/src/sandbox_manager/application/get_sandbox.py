"""Read one sandbox, waiting for its start if requested."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from datetime import timedelta

from sandbox_manager.application.change import change_sandbox
from sandbox_manager.application.launch_sandbox import Launcher
from sandbox_manager.domain.admission import Limits, QueuePlace, place_in_line
from sandbox_manager.domain.errors import RegistryUnavailableError, SandboxNotFoundError
from sandbox_manager.domain.ports import Clock, SandboxRecords
from sandbox_manager.domain.sandbox import Sandbox, Status

_OTHER_MANAGER_POLL_S = 0.25
_ASKED_EVERY = timedelta(seconds=3)


@dataclass(frozen=True, slots=True)
class GetSandbox:
    """Return a sandbox; with `wait_s`, once it left `starting`, left `queued`, or at the deadline.

    Waiting for a queued one keeps it in line. Raises `SandboxNotFoundError`.
    """

    registry: SandboxRecords
    launcher: Launcher
    clock: Clock
    limits: Limits

    async def __call__(self, sandbox_id: str, wait_s: float = 0.0) -> Sandbox:
        loop = asyncio.get_running_loop()
        until = loop.time() + wait_s
        was_queued = False
        while True:
            sandbox = await self.registry.get(sandbox_id)
            if sandbox is None or sandbox.is_pooled:
                raise SandboxNotFoundError
            left = until - loop.time()
            is_queued = sandbox.is_waiting
            if left <= 0 or (was_queued and not is_queued) or not (is_queued or sandbox.status is Status.STARTING):
                return sandbox
            was_queued = is_queued
            if is_queued:
                await self._ask(sandbox)
            if is_queued or not await self.launcher.wait(sandbox_id, left):
                await asyncio.sleep(min(left, _OTHER_MANAGER_POLL_S))

    async def place_in_line(self, sandbox: Sandbox) -> QueuePlace | None:
        """The place of a queued sandbox in line; None for others."""
        if not sandbox.is_waiting:
            return None
        return place_in_line(await self.registry.find(occupied=True), sandbox.id, self.limits)

    async def _ask(self, sandbox: Sandbox) -> None:
        now = self.clock.now()
        if sandbox.asked_at is not None and now - sandbox.asked_at < _ASKED_EVERY:
            return
        with contextlib.suppress(RegistryUnavailableError):
            await change_sandbox(self.registry, sandbox.id, lambda one: one.waited_for(now))
