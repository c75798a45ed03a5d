"""Take a snapshot of a session's files."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from sandbox_manager.application.workspace_work import WorkspaceWork
from sandbox_manager.domain.workspace import (
    ArchiveBounds,
    Snapshot,
    SnapshotLimitError,
    SnapshotRefusedError,
    WorkKind,
    Workspace,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotLimits:
    """Limits of one session: the number of snapshots, and the bytes of all archives together; `bounds` hold for one."""

    max_count: int
    max_bytes: int
    bounds: ArchiveBounds


@dataclass(frozen=True, slots=True)
class TakeSnapshot:
    """Pack the files under a name while programs go on running.

    Raises `SnapshotLimitError`, `SnapshotRefusedError`, `WorkspaceBusyError`, `EngineUnavailableError`.
    """

    work: WorkspaceWork
    limits: SnapshotLimits

    async def __call__(self, session_id: str, user_id: str, name: str) -> Snapshot:
        snapshot_id = secrets.token_hex(8)
        async with self.work.hold(session_id, user_id, WorkKind.PACK, snapshot_id) as workspace:
            self._check(workspace, 0)
            try:
                packed = await self.work.archives.pack(session_id, user_id, snapshot_id, self.limits.bounds)
                self._check(workspace, packed.bytes)
                snapshot = Snapshot(
                    id=snapshot_id,
                    name=name,
                    created_at=self.work.clock.now(),
                    bytes=packed.bytes,
                    content_bytes=packed.content_bytes,
                    files=packed.files,
                )
                await self.work.change(session_id, user_id, lambda now: now.with_snapshot(snapshot))
            except SnapshotRefusedError:
                raise
            except BaseException:
                await self.work.archives.drop(session_id, user_id, snapshot_id)
                raise
        return snapshot

    def _check(self, workspace: Workspace, more: int) -> None:
        count, room = len(workspace.snapshots), self.limits.max_bytes - sum(one.bytes for one in workspace.snapshots)
        if count >= self.limits.max_count:
            raise SnapshotLimitError(f"There are {count} snapshots already, which is the maximum. Delete one first.")
        if more > room:
            raise SnapshotLimitError(
                "The snapshots of this session use all the space they are allowed. Delete one first."
            )
