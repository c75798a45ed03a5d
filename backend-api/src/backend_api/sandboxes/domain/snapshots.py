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
    """No files yet, too large, as many as allowed, or another snapshot or restore goes on. The detail says which."""

    code = "snapshot_refused"


class SessionBusyError(ConflictError):
    """The agent works on the files."""

    code = "session_busy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The files as they were; `bytes` is what it takes, `content_bytes` what the files in it have."""

    id: str
    name: str
    created_at: datetime
    bytes: int
    content_bytes: int
    files: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSnapshots:
    """Newest first, with how many there may be."""

    items: list[Snapshot]
    max_count: int


class Snapshots(Protocol):
    """Kept beside the workspaces. Every call may raise `SandboxUnavailableError`."""

    async def kept(self, session_id: str, user_id: str) -> KeptSnapshots: ...

    async def create(self, session_id: str, user_id: str, name: str) -> Snapshot:
        """What runs goes on running. Raises `SnapshotRefusedError`."""
        ...

    async def restore(self, session_id: str, user_id: str, snapshot_id: str) -> Snapshot:
        """All files or none; the sandbox ends and starts again when it is used.

        Raises `SnapshotNotFoundError`, `SnapshotRefusedError`.
        """
        ...

    async def delete(self, session_id: str, user_id: str, snapshot_id: str) -> None:
        """Idempotent. Raises `SnapshotRefusedError` while another snapshot or restore goes on."""
        ...
