"""Restore a session's files from a snapshot."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox_manager.application.delete_sandbox import DeleteSandbox
from sandbox_manager.application.workspace_work import WorkspaceWork
from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.domain.ports import SandboxRecords
from sandbox_manager.domain.workspace import ArchiveBounds, Snapshot, WorkKind

_ATTEMPTS = 5
_REASON = "Its files were restored from a snapshot. It starts again when it is used."


@dataclass(frozen=True, slots=True)
class RestoreSnapshot:
    """End the session's sandbox, and replace its files by the snapshot's, all or none; the next use starts a new
    sandbox, one generation up.

    Raises `SnapshotNotFoundError`, `SnapshotRefusedError`, `WorkspaceBusyError`, `EngineUnavailableError`.
    """

    work: WorkspaceWork
    registry: SandboxRecords
    delete: DeleteSandbox
    bounds: ArchiveBounds

    async def __call__(self, session_id: str, user_id: str, snapshot_id: str) -> Snapshot:
        (await self.work.get(session_id, user_id)).snapshot(snapshot_id)
        async with self.work.hold(session_id, user_id, WorkKind.RESTORE, snapshot_id) as workspace:
            snapshot = workspace.snapshot(snapshot_id)
            await self._end_sandbox(session_id)
            await self.work.archives.unpack(session_id, user_id, snapshot_id, self.bounds)
        return snapshot

    async def _end_sandbox(self, session_id: str) -> None:
        # A start that comes now waits for the hold to end, so that this finds nothing more in the end.
        for _ in range(_ATTEMPTS):
            occupied = await self.registry.find(session_id=session_id, occupied=True)
            if not occupied:
                return
            for sandbox in occupied:
                await self.delete(sandbox.id, keep_workspace=True, reason=_REASON)
        raise EngineUnavailableError("The computer could not be stopped for the restore; nothing was changed.")
