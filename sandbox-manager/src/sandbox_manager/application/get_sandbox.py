"""Look at one sandbox, waiting for its start if asked to."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from sandbox_manager.application.launch_sandbox import Launcher
from sandbox_manager.domain.errors import SandboxNotFoundError
from sandbox_manager.domain.ports import SandboxRegistry
from sandbox_manager.domain.sandbox import Sandbox, Status

_OTHER_MANAGER_POLL_S = 0.25


@dataclass(frozen=True, slots=True)
class GetSandbox:
    """Answer a sandbox; with `wait_s`, once it left `starting` or at the deadline. Raises `SandboxNotFoundError`."""

    registry: SandboxRegistry
    launcher: Launcher

    async def __call__(self, sandbox_id: str, wait_s: float = 0.0) -> Sandbox:
        loop = asyncio.get_running_loop()
        until = loop.time() + wait_s
        while True:
            sandbox = await self.registry.get(sandbox_id)
            if sandbox is None:
                raise SandboxNotFoundError
            left = until - loop.time()
            if sandbox.status is not Status.STARTING or left <= 0:
                return sandbox
            if not await self.launcher.wait(sandbox_id, left):
                await asyncio.sleep(min(left, _OTHER_MANAGER_POLL_S))
