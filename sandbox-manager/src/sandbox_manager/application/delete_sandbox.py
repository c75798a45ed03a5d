"""Remove a sandbox."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox_manager.application.change import change_sandbox
from sandbox_manager.application.clean_sandbox import CleanSandbox
from sandbox_manager.application.launch_sandbox import Launcher
from sandbox_manager.domain.ports import SandboxRegistry
from sandbox_manager.domain.sandbox import Cleanup, Sandbox


@dataclass(frozen=True, slots=True)
class DeleteSandbox:
    """Remove all of a sandbox, also in the middle of its start, and its workspace unless that is to be kept.

    Idempotent. Raises `EngineUnavailableError`; what is left is then removed by the reconciler.
    """

    registry: SandboxRegistry
    launcher: Launcher
    clean: CleanSandbox

    async def __call__(
        self, sandbox_id: str, *, keep_workspace: bool, reason: str = "The sandbox was deleted."
    ) -> None:
        cleanup = Cleanup.KEEP_WORKSPACE if keep_workspace else Cleanup.ALL
        await change_sandbox(self.registry, sandbox_id, lambda now: now.retired(reason, cleanup, retryable=False))
        await self.launcher.cancel(sandbox_id)
        sandbox = await self.registry.get(sandbox_id)
        if sandbox is None:
            return
        if sandbox.occupied:
            await self.clean(sandbox)
        elif not keep_workspace:
            await self._remove_kept_workspace(sandbox)

    async def _remove_kept_workspace(self, sandbox: Sandbox) -> None:
        successors = await self.registry.find(session_id=sandbox.identity.session_id, occupied=True)
        if not successors:
            await self.clean.remove(sandbox.identity, keep_workspace=False)
