"""The store of folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from backend_api.folders.domain import Folder, FolderId
from backend_api.kit.ids import SessionId, UserId


class Folders(Protocol):
    """Folders of users. All raise `StoreUnavailableError`, those that name a folder `FolderNotFoundError`."""

    async def add(self, folder: Folder) -> None: ...

    async def get(self, folder_id: FolderId, user_id: UserId) -> Folder: ...

    async def of_user(self, user_id: UserId) -> Sequence[Folder]:
        """The user's folders, sorted by name."""
        ...

    async def of_session(self, session_id: SessionId, user_id: UserId) -> Folder | None:
        """The folder of a session; None if it is in none."""
        ...

    async def change(self, folder_id: FolderId, user_id: UserId, values: Mapping[str, str]) -> Folder: ...

    async def delete(self, folder_id: FolderId, user_id: UserId) -> int:
        """Delete the folder, and return the number of its sessions, which stay and are in no folder."""
        ...
