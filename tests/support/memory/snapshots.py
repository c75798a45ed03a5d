"""Snapshots of files in memory. For tests."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

from backend_api.sandboxes.domain.snapshots import (
    Snapshot,
    SnapshotNotFoundError,
    SnapshotRefusedError,
    StoredSnapshots,
)
from support.memory.sandboxes import MemorySandboxes, MemoryWorkspace

MAX_COUNT = 3


class MemorySnapshots:
    """`Snapshots` of a `MemoryWorkspace`."""

    def __init__(self, workspace: MemoryWorkspace, sandboxes: MemorySandboxes) -> None:
        self._workspace, self._sandboxes = workspace, sandboxes
        self._kept: dict[tuple[str, str], list[tuple[Snapshot, dict[str, bytes]]]] = {}

    async def list_all(self, session_id: str, user_id: str) -> StoredSnapshots:
        """Of this user's session."""
        items = [snapshot for snapshot, _ in self._kept.get((session_id, user_id), [])]
        return StoredSnapshots(items=items, max_count=MAX_COUNT)

    async def create(self, session_id: str, user_id: str, name: str) -> Snapshot:
        """A copy."""
        files = dict(self._workspace.files.get(session_id, {}))
        kept = self._kept.setdefault((session_id, user_id), [])
        if not files:
            raise SnapshotRefusedError("There are no files yet.")
        if len(kept) >= MAX_COUNT:
            raise SnapshotRefusedError("The maximum number of snapshots is reached. Delete one first.")
        size = sum(len(content) for content in files.values())
        snapshot = Snapshot(
            id=secrets.token_hex(4),
            name=name,
            created_at=datetime.now(UTC),
            bytes=size,
            content_bytes=size,
            files=len(files),
        )
        kept.insert(0, (snapshot, files))
        return snapshot

    async def restore(self, session_id: str, user_id: str, snapshot_id: str) -> Snapshot:
        """And the sandbox ends."""
        for snapshot, files in self._kept.get((session_id, user_id), []):
            if snapshot.id == snapshot_id:
                self._workspace.files[session_id] = dict(files)
                await self._sandboxes.end(session_id)
                return snapshot
        raise SnapshotNotFoundError("There is no such snapshot.")

    async def delete(self, session_id: str, user_id: str, snapshot_id: str) -> None:
        """Gone, also when there was none."""
        kept = self._kept.get((session_id, user_id), [])
        kept[:] = [one for one in kept if one[0].id != snapshot_id]
