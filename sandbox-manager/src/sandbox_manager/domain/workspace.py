"""The workspace of a session: its snapshots, and the one piece of work that may go on at it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from sandbox_manager.domain.errors import ConflictError, DomainError, EngineUnavailableError, NotFoundError


class WorkspaceBusyError(ConflictError):
    """Another snapshot or restore of this session is in progress."""

    code = "workspace_busy"
    retryable = True


class SnapshotNotFoundError(NotFoundError):
    """No snapshot of this session has this id."""

    code = "snapshot_not_found"


class SnapshotLimitError(ConflictError):
    """The session keeps as many snapshots, or as large ones, as allowed."""

    code = "snapshot_limit"


class SnapshotRefusedError(ConflictError):
    """These files can't be packed (none, too large), or an archive can't be unpacked."""

    code = "snapshot_refused"


class WorkKind(StrEnum):
    """The kinds of work on the files as a whole."""

    PACK = "pack"
    RESTORE = "restore"
    DROP = "drop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Work held by one manager; lapsed once nobody renews it."""

    kind: WorkKind
    snapshot_id: str
    owner: str
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A snapshot of the files; `bytes` is the size of the archive, `content_bytes` that of its content."""

    id: str
    name: str
    created_at: datetime
    bytes: int
    content_bytes: int
    files: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """The workspace's record; `version` 0 was never stored. `remove_at` is set once the session is gone."""

    session_id: str
    user_id: str
    snapshots: tuple[Snapshot, ...] = ()
    work: Work | None = None
    remove_at: datetime | None = None
    version: int = 0

    def snapshot(self, snapshot_id: str) -> Snapshot:
        """Raises `SnapshotNotFoundError`."""
        found = next((one for one in self.snapshots if one.id == snapshot_id), None)
        if found is None:
            raise SnapshotNotFoundError("There is no such snapshot.")
        return found

    def begun(self, work: Work) -> Workspace | None:
        """Begin work. None while there is work at it, lapsed or not: lapsed work is mended first."""
        return replace(self, work=work) if self.work is None else None

    def ended(self, owner: str) -> Workspace:
        """End the work, if it is this owner's."""
        return replace(self, work=None) if self.work is not None and self.work.owner == owner else self

    def with_snapshot(self, snapshot: Snapshot) -> Workspace:
        return replace(self, snapshots=(snapshot, *self.snapshots))

    def without_snapshot(self, snapshot_id: str) -> Workspace:
        return replace(self, snapshots=tuple(one for one in self.snapshots if one.id != snapshot_id))


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """The size of an archive and of its content."""

    bytes: int
    content_bytes: int
    files: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveBounds:
    """Limits of one snapshot."""

    max_bytes: int
    max_files: int = 500_000


class WorkspaceRecords(Protocol):
    """Records of workspaces. Every call may raise `RegistryUnavailableError`."""

    async def get(self, session_id: str) -> Workspace | None: ...

    async def save(self, workspace: Workspace) -> bool:
        """Store with the version plus one. False when somebody else stored it since it was read."""
        ...

    async def due(self, now: datetime) -> list[Workspace]:
        """Workspaces whose work lapsed or whose removal is due."""
        ...

    async def forget(self, session_id: str) -> None: ...


class WorkspaceArchives(Protocol):
    """Files of workspaces as a whole, beside the runtime that runs sandboxes on them.

    The caller makes one call a session at a time. Every call may raise `EngineUnavailableError`. A cancelled call is
    broken off, and no longer touches the files when it returns.
    """

    async def pack(self, session_id: str, user_id: str, snapshot_id: str, bounds: ArchiveBounds) -> Packed:
        """Keep the files as they are now, also while a sandbox runs on them. Raises `SnapshotRefusedError`."""
        ...

    async def unpack(self, session_id: str, user_id: str, snapshot_id: str, bounds: ArchiveBounds) -> None:
        """Replace the files by the snapshot's, all or none; no sandbox may run on them.

        Raises `SnapshotRefusedError`. If interrupted, `mend` completes it.
        """
        ...

    async def mend(self, session_id: str, user_id: str) -> None:
        """Bring an interrupted `unpack` to its end, one way or the other; else do nothing."""
        ...

    async def drop(self, session_id: str, user_id: str, snapshot_id: str) -> None:
        """Remove an archive, also one that does not exist."""
        ...

    async def remove(self, session_id: str, user_id: str) -> None:
        """Remove the workspace and all archives, if there are any; no sandbox may run on it."""
        ...


def refusal(code: str, detail: str) -> DomainError:
    """The domain's error for an archive program's error code."""
    if code in ("too_large", "empty", "missing", "damaged"):
        return SnapshotRefusedError(detail)
    if code == "full":
        return EngineUnavailableError("There is no room left for snapshots on this machine.")
    return EngineUnavailableError(f"The files could not be packed or unpacked: {detail}.")
