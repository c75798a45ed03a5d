"""Remove a sandbox."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox_manager.application.change import change_sandbox
from sandbox_manager.application.clean_sandbox import CleanSandbox
from sandbox_manager.application.launch_sandbox import Launcher
from sandbox_manager.domain.ports import SandboxRecords
from sandbox_manager.domain.sandbox import Cleanup, Sandbox, Status


@dataclass(frozen=True, slots=True)
class DeleteSandbox:
    """Remove all of a sandbox, also in the middle of its start by any manager, and its workspace unless that is to be
    kept; with `only_queued`, only a waiting one, and a paused one no longer waits to be woken.

    Idempotent. Raises `EngineUnavailableError`; what is left is then removed by the reconciler.
    """

    registry: SandboxRecords
    launcher: Launcher
    clean: CleanSandbox

    async def __call__(
        self,
        sandbox_id: str,
        *,
        keep_workspace: bool,
        reason: str = "The computer was deleted.",
        only_queued: bool = False,
    ) -> None:
        cleanup = Cleanup.KEEP_WORKSPACE if keep_workspace else Cleanup.ALL

        def move(now: Sandbox) -> Sandbox | None:
            if only_queued and now.status is not Status.QUEUED:
                return now.left_paused()
            # If two callers wait for the same one, the other may request it again.
            return now.retired(reason, cleanup, retryable=only_queued)

        retired = await change_sandbox(self.registry, sandbox_id, move)
        if only_queued and retired is None:
            return
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
