"""The store of folders."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Protocol

from backend_api.folders.domain import FileBounds, Folder, FolderFile, FolderId
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


class FolderFiles(Protocol):
    """Files of folders. All raise `StoreUnavailableError`."""

    async def of_folder(self, folder_id: FolderId) -> Sequence[FolderFile]:
        """By their names."""
        ...

    async def bytes_elsewhere(self, user_id: UserId, folder_id: FolderId) -> int:
        """Of all files in the user's other folders."""
        ...

    async def add(
        self,
        folder: Folder,
        name: str,
        content: AsyncIterator[bytes],
        *,
        most_bytes: int,
        within: FileBounds,
    ) -> FolderFile:
        """In the place of one that has the name. Of what is over `most_bytes`, or over the bounds, however many are
        added at once, nothing is left. Raises `UploadTooLargeError`, `FolderFullError`, `FolderFilesQuotaError` and
        `FolderNotFoundError`."""
        ...

    async def delete(self, folder_id: FolderId, file_id: str) -> None:
        """Raises `FolderFileNotFoundError`."""
        ...

    async def delete_all(self, folder_id: FolderId) -> None: ...

    def content(self, file: FolderFile) -> AsyncIterator[bytes]:
        """Piece by piece."""
        ...


class Placements(Protocol):
    """Which files were put into which workspace: each version once, whatever becomes of it there."""

    async def missing(self, session_id: SessionId, files: Sequence[FolderFile]) -> Sequence[FolderFile]:
        """Those that were neither put there nor are just being put there by somebody."""
        ...

    async def claim(self, session_id: SessionId, file: FolderFile) -> bool:
        """Whether the caller is the one to put it there. Whoever claimed it and did not finish is taken over after a
        while."""
        ...

    async def done(self, session_id: SessionId, file: FolderFile, path: str) -> None: ...

    async def digests(self, session_id: SessionId, path: str) -> frozenset[str]:
        """Of what was put there under this path so far."""
        ...
