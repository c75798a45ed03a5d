"""Files of folders, by their owner."""

from __future__ import annotations

from collections.abc import AsyncIterable, Sequence
from dataclasses import dataclass

from backend_api.folders.domain import (
    MAX_FILE_BYTES,
    MOST_BYTES,
    MOST_FILES,
    FileBounds,
    FolderFile,
    FolderId,
    checked_file_name,
)
from backend_api.folders.ports import FolderFiles, Folders
from backend_api.kit.ids import UserId
from backend_api.sandboxes.domain.errors import UploadTooLargeError
from backend_api.sandboxes.ports import Upload


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeFolderFiles:
    """All raise `FolderNotFoundError` and `StoreUnavailableError`. Workspaces keep what was put there."""

    folders: Folders
    files: FolderFiles
    most_of_user: int = 0
    """Bytes of all files in a user's folders together; 0: no limit."""

    async def list(self, folder_id: FolderId, user_id: UserId) -> Sequence[FolderFile]:
        await self.folders.get(folder_id, user_id)
        return await self.files.of_folder(folder_id)

    async def add(self, folder_id: FolderId, user_id: UserId, uploads: AsyncIterable[Upload]) -> Sequence[FolderFile]:
        """Each takes the place of one of its name; those before one that is refused stay. Raises `InvalidError`,
        `FolderFullError`, `FolderFilesQuotaError`, `UploadTooLargeError`."""
        folder = await self.folders.get(folder_id, user_id)
        within = FileBounds(files=MOST_FILES, folder_bytes=MOST_BYTES, user_bytes=self.most_of_user)
        added = list[FolderFile]()
        async for upload in uploads:
            name = checked_file_name(upload.name)
            others = [one for one in await self.files.of_folder(folder_id) if one.name != name]
            elsewhere = await self.files.bytes_elsewhere(user_id, folder_id)
            room = within.room(others, elsewhere)
            most = min(MAX_FILE_BYTES, room)
            try:
                file = await self.files.add(folder, name, aiter(upload.chunks), most_bytes=most, within=within)
            except UploadTooLargeError:
                if room < MAX_FILE_BYTES:
                    within.room(others, elsewhere, taken=room + 1)
                raise
            added.append(file)
        return added

    async def delete(self, folder_id: FolderId, user_id: UserId, file_id: str) -> None:
        """Raises `FolderFileNotFoundError`."""
        await self.folders.get(folder_id, user_id)
        await self.files.delete(folder_id, file_id)
