"""Workspaces in memory, for tests."""

from __future__ import annotations

from sandbox_manager.domain.errors import DomainError
from sandbox_manager.domain.workspace import ArchiveBounds, Packed, SnapshotRefusedError


class FakeArchives:
    """`WorkspaceArchives`. `files` is what each session has; `fail` is raised by `pack` and
    `unpack` when set, `fail_mending` by `mend`."""

    def __init__(self, workspaces: set[str]) -> None:
        self._workspaces = workspaces
        self.files: dict[str, str] = {}
        self.kept: dict[tuple[str, str], str] = {}
        self.mended: list[str] = []
        self.fail: DomainError | None = None
        self.fail_mending: DomainError | None = None

    async def pack(self, session_id: str, user_id: str, snapshot_id: str, bounds: ArchiveBounds) -> Packed:
        self._check()
        content = self.files.get(session_id)
        if not content:
            raise SnapshotRefusedError("There are no files yet.")
        if len(content) > bounds.max_bytes:
            raise SnapshotRefusedError("The files are larger than a snapshot may be.")
        self.kept[session_id, snapshot_id] = content
        return Packed(bytes=len(content), content_bytes=len(content), files=1)

    async def unpack(self, session_id: str, user_id: str, snapshot_id: str, bounds: ArchiveBounds) -> None:
        self._check()
        if (session_id, snapshot_id) not in self.kept:
            raise SnapshotRefusedError("The snapshot's archive is gone.")
        self.files[session_id] = self.kept[session_id, snapshot_id]

    async def mend(self, session_id: str, user_id: str) -> None:
        if self.fail_mending is not None:
            raise self.fail_mending
        self.mended.append(session_id)

    async def drop(self, session_id: str, user_id: str, snapshot_id: str) -> None:
        self.kept.pop((session_id, snapshot_id), None)

    async def remove(self, session_id: str, user_id: str) -> None:
        self._workspaces.discard(session_id)
        self.files.pop(session_id, None)
        self.kept = {key: content for key, content in self.kept.items() if key[0] != session_id}

    def _check(self) -> None:
        if self.fail is not None:
            raise self.fail
