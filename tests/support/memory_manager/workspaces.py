"""Workspace records in memory, for tests."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sandbox_manager.domain.workspace import Workspace


class MemoryWorkspaces:
    """`WorkspaceRecords`."""

    def __init__(self) -> None:
        self.stored: dict[str, Workspace] = {}

    async def get(self, session_id: str) -> Workspace | None:
        return self.stored.get(session_id)

    async def save(self, workspace: Workspace) -> bool:
        known = self.stored.get(workspace.session_id)
        if (known.version if known else 0) != workspace.version:
            return False
        self.stored[workspace.session_id] = replace(workspace, version=workspace.version + 1)
        return True

    async def due(self, now: datetime) -> list[Workspace]:
        return [
            one
            for one in self.stored.values()
            if (one.work is not None and one.work.until <= now) or (one.remove_at is not None and one.remove_at <= now)
        ]

    async def forget(self, session_id: str) -> None:
        self.stored.pop(session_id, None)
