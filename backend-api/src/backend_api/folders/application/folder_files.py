"""Files of folders, by their owner."""

from __future__ import annotations

from collections.abc import AsyncIterable, Sequence
from dataclasses import dataclass

from backend_api.folders.domain import MAX_FILE_BYTES, MOST_BYTES, MOST_FILES, FolderFile, FolderId, checked_file_name
from backend_api.folders.errors import FolderFullError
from backend_api.folders.ports import FolderFiles, Folders
from backend_api.kit.ids import UserId
from backend_api.sandboxes.domain.errors import UploadTooLargeError
from backend_api.sandboxes.ports import Upload


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeFolderFiles:
    """All raise `FolderNotFoundError` and `StoreUnavailableError`. Workspaces keep what was put there."""

    folders: Folders
    files: FolderFiles

    async def list(self, folder_id: FolderId, user_id: UserId) -> Sequence[FolderFile]:
        await self.folders.get(folder_id, user_id)
        return await self.files.of_folder(folder_id)

    async def add(self, folder_id: FolderId, user_id: UserId, uploads: AsyncIterable[Upload]) -> Sequence[FolderFile]:
        """Each takes the place of one of its name; those before one that is refused stay. Raises `InvalidError`,
        `FolderFullError`, `UploadTooLargeError`."""
        await self.folders.get(folder_id, user_id)
        added = list[FolderFile]()
        async for upload in uploads:
            name = checked_file_name(upload.name)
            room = _room(await self.files.of_folder(folder_id), name)
            try:
                file = await self.files.add(folder_id, name, aiter(upload.chunks), most_bytes=min(MAX_FILE_BYTES, room))
            except UploadTooLargeError as error:
                raise error if room >= MAX_FILE_BYTES else FolderFullError(MOST_FILES, MOST_BYTES) from error
            try:
                # Others may have added some meanwhile.
                _room(await self.files.of_folder(folder_id), name, taken=file.size)
            except FolderFullError:
                await self.files.delete(folder_id, file.id)
                raise
            added.append(file)
        return added

    async def delete(self, folder_id: FolderId, user_id: UserId, file_id: str) -> None:
        """Raises `FolderFileNotFoundError`."""
        await self.folders.get(folder_id, user_id)
        await self.files.delete(folder_id, file_id)


def _room(there: Sequence[FolderFile], name: str, *, taken: int = 1) -> int:
    """How many bytes may be added under this name."""
    others = [one for one in there if one.name != name]
    room = MOST_BYTES - sum(one.size for one in others)
    if len(others) >= MOST_FILES or room < taken:
        raise FolderFullError(MOST_FILES, MOST_BYTES)
    return room
