"""Take a snapshot of a session's files."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.conversations.ports import SessionRepository
from backend_api.kit.ids import SessionId, UserId
from backend_api.sandboxes.domain.snapshots import Snapshot, Snapshots


@dataclass(frozen=True, slots=True)
class TakeSnapshot:
    """Programs in the sandbox go on meanwhile. Raises `SessionNotFoundError`, `SnapshotRefusedError`,
    `SandboxUnavailableError`."""

    sessions: SessionRepository
    snapshots: Snapshots

    async def __call__(self, session_id: SessionId, user_id: UserId, name: str) -> Snapshot:
        await self.sessions.get(session_id, user_id)
        return await self.snapshots.create(session_id, user_id, name)
