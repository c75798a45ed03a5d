"""Create, change and delete folders, and put conversations into them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from backend_api.conversations.domain.entity import Session
from backend_api.conversations.ports import SessionRepository
from backend_api.folders.domain import MOST_FOLDERS, Folder, FolderId, checked_instructions, checked_name
from backend_api.folders.errors import TooManyFoldersError
from backend_api.folders.ports import FolderFiles, Folders
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.ids import SessionId, UserId


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeFolders:
    """All raise `InvalidError`, `FolderNotFoundError`, `LimitError`, `StoreUnavailableError`."""

    folders: Folders
    files: FolderFiles
    sessions: SessionRepository
    limiter: RateLimiter
    limits: Limits
    clock: Callable[[], float]

    async def create(self, user_id: UserId, name: str, instructions: str) -> Folder:
        """Create a folder. Raises `TooManyFoldersError`."""
        folder = Folder(
            id=FolderId(uuid4().hex),
            user_id=user_id,
            name=checked_name(name),
            instructions=checked_instructions(instructions),
            created_at=datetime.fromtimestamp(self.clock(), UTC),
        )
        await self._count(user_id)
        if len(await self.folders.of_user(user_id)) >= MOST_FOLDERS:
            raise TooManyFoldersError(MOST_FOLDERS)
        await self.folders.add(folder)
        return folder

    async def change(
        self, folder_id: FolderId, user_id: UserId, *, name: str | None = None, instructions: str | None = None
    ) -> Folder:
        """Change a folder; None leaves a field unchanged."""
        values: dict[str, str] = {}
        if name is not None:
            values["name"] = checked_name(name)
        if instructions is not None:
            values["instructions"] = checked_instructions(instructions)
        if not values:
            return await self.folders.get(folder_id, user_id)
        await self._count(user_id)
        return await self.folders.change(folder_id, user_id, values)

    async def move(self, session_id: SessionId, user_id: UserId, folder_id: FolderId | None) -> Session:
        """Put a session into a folder, or out of any. Its agent follows the instructions there from its next run on.
        Raises `SessionNotFoundError`."""
        if folder_id is not None:
            await self.folders.get(folder_id, user_id)
        await self._count(user_id)
        return await self.sessions.update(session_id, user_id, {"folder_id": folder_id})

    async def delete(self, folder_id: FolderId, user_id: UserId) -> int:
        """With its files. How many sessions were in it: they stay, and what their workspaces have."""
        moved = await self.folders.delete(folder_id, user_id)
        await self.files.delete_all(folder_id)
        return moved

    async def _count(self, user_id: UserId) -> None:
        await self.limiter.hit(f"folders:{user_id}", limit=self.limits.sessions_per_minute, window_s=60)
