"""Restore a session's files from a snapshot."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.agent.events import FilesChanged, SandboxUpdated
from backend_api.conversations.domain.entity import SessionStatus
from backend_api.conversations.ports import EventLog, SessionRepository, SessionStream
from backend_api.kit.ids import SessionId, UserId
from backend_api.sandboxes.domain.snapshots import SessionBusyError, Snapshot, Snapshots


@dataclass(frozen=True, slots=True)
class RestoreSnapshot:
    """Restores all files or none, and adds the events for all who watch.

    Raises `SessionNotFoundError`, `SessionBusyError`, `SnapshotNotFoundError`, `SnapshotRefusedError`,
    `SandboxUnavailableError`.
    """

    sessions: SessionRepository
    snapshots: Snapshots
    log: EventLog
    stream: SessionStream

    async def __call__(self, session_id: SessionId, user_id: UserId, snapshot_id: str) -> Snapshot:
        session = await self.sessions.get(session_id, user_id)
        if session.status in (SessionStatus.QUEUED, SessionStatus.RUNNING):
            raise SessionBusyError("The agent is working on these files. Stop it first, then restore.")
        restored = await self.snapshots.restore(session_id, user_id, snapshot_id)
        reason = f"The files were restored from “{restored.name}”. The computer starts again when it is used."
        events = [SandboxUpdated(status="gone", reason=reason), FilesChanged(paths=["."], origin="user")]
        await self.stream.append(session_id, await self.log.append(session_id, events))
        return restored
