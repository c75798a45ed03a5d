"""Removal of a session's files."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from sandbox_manager.application.delete_sandbox import DeleteSandbox
from sandbox_manager.application.workspace_location import is_elsewhere
from sandbox_manager.application.workspace_work import WorkspaceWork
from sandbox_manager.domain.ports import SandboxRecords
from sandbox_manager.domain.workspace import Workspace, WorkspaceBusyError


@dataclass(frozen=True, slots=True)
class RemoveWorkspace:
    """End a session's sandbox and remove its files and snapshots, at once or after the delay, then by the reconciler.

    Idempotent. Raises `EngineUnavailableError`, `WorkspaceBusyError`; the reconciler tries again.
    """

    work: WorkspaceWork
    registry: SandboxRecords
    delete: DeleteSandbox
    delay: timedelta
    place: Callable[[], Awaitable[str]]

    async def __call__(self, session_id: str, user_id: str) -> None:
        due = self.work.clock.now() + self.delay
        marked = await self.work.change(
            session_id, user_id, lambda now: now if now.remove_at else replace(now, remove_at=due)
        )
        for sandbox in await self.registry.find(session_id=session_id, occupied=True):
            await self.delete(sandbox.id, keep_workspace=True)
        if marked.remove_at is not None and marked.remove_at <= self.work.clock.now():
            await self.finish(marked)

    async def finish(self, workspace: Workspace) -> None:
        """Remove the files, as the delay is over. Files at another engine are left to the managers there.

        Unfinished work of a dead manager is not completed first: it may never be, and all of it goes.
        """
        session_id, user_id = workspace.session_id, workspace.user_id
        if await self.is_elsewhere(session_id):
            return
        known = await self.work.records.get(session_id)
        if known is not None and known.work is not None and known.work.until > self.work.clock.now():
            raise WorkspaceBusyError(
                "The files of this session are being saved or restored; they are removed afterwards."
            )
        for sandbox in await self.registry.find(session_id=session_id, occupied=True):
            await self.delete(sandbox.id, keep_workspace=True)
        await self.work.archives.remove(session_id, user_id)
        await self.work.records.forget(session_id)

    async def is_elsewhere(self, session_id: str) -> bool:
        """Whether the session's sandboxes ran at an engine this manager does not have."""
        return await is_elsewhere(self.registry, self.place, session_id)
