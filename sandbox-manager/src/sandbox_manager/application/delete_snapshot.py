"""Delete a snapshot."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox_manager.application.workspace_work import WorkspaceWork
from sandbox_manager.domain.workspace import WorkKind


@dataclass(frozen=True, slots=True)
class DeleteSnapshot:
    """Remove its archive, then its entry. Idempotent. Raises `WorkspaceBusyError`, `EngineUnavailableError`."""

    work: WorkspaceWork

    async def __call__(self, session_id: str, user_id: str, snapshot_id: str) -> None:
        known = await self.work.get(session_id, user_id)
        if all(one.id != snapshot_id for one in known.snapshots):
            return
        async with self.work.hold(session_id, user_id, WorkKind.DROP, snapshot_id):
            await self.work.archives.drop(session_id, user_id, snapshot_id)
            await self.work.change(session_id, user_id, lambda now: now.without_snapshot(snapshot_id))
