"""Snapshots of a session's files."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from backend_api.kit.errors import ConflictError, NotFoundError


class SnapshotNotFoundError(NotFoundError):
    """No snapshot of this session has this id."""

    code = "snapshot_not_found"


class SnapshotRefusedError(ConflictError):
    """No files yet, too large, at the limit of snapshots, or another snapshot or restore in progress. The detail
    gives the reason."""

    code = "snapshot_refused"


class SessionBusyError(ConflictError):
    """The agent works on the files."""

    code = "session_busy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A copy of the files; `bytes` is its size on disk, `content_bytes` the size of the files in it."""

    id: str
    name: str
    created_at: datetime
    bytes: int
    content_bytes: int
    files: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSnapshots:
    """The snapshots, newest first, and how many there may be."""

    items: list[Snapshot]
    max_count: int


class Snapshots(Protocol):
    """Snapshots are kept beside the workspaces. Every call may raise `SandboxUnavailableError`."""

    async def list_all(self, session_id: str, user_id: str) -> StoredSnapshots: ...

    async def create(self, session_id: str, user_id: str, name: str) -> Snapshot:
        """Copy the files; running programs go on. Raises `SnapshotRefusedError`."""
        ...

    async def restore(self, session_id: str, user_id: str, snapshot_id: str) -> Snapshot:
        """Restore all files or none; the sandbox ends and starts again when it is used.

        Raises `SnapshotNotFoundError`, `SnapshotRefusedError`.
        """
        ...

    async def delete(self, session_id: str, user_id: str, snapshot_id: str) -> None:
        """Delete a snapshot; idempotent. Raises `SnapshotRefusedError` while another snapshot or restore is in
        progress."""
        ...
