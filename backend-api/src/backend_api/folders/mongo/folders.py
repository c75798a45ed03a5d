"""Folders in MongoDB; a session's document names its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import ClassVar

from beanie import Document as Stored
from pymongo import ASCENDING, IndexModel

from backend_api.folders.domain import Folder, FolderId
from backend_api.folders.errors import FolderNotFoundError
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.beanie_updates import find_one_and_update
from backend_api.kit.mongo.database import Database
from backend_api.kit.mongo.transactions import store_errors
from backend_api.settings.mongo.user_settings import notify_of_settings

_DELETED_S = 30.0


class FolderDocument(Stored):
    """A folder."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- ids are opaque strings
    user_id: str
    name: str
    instructions: str = ""
    created_at: datetime

    class Settings:
        name = "folders"
        indexes: ClassVar = [IndexModel([("user_id", ASCENDING), ("name", ASCENDING)])]


class MongoFolders:
    """`Folders`. A user with folders is marked as having settings: a run of a user without the mark looks for no
    folder."""

    def __init__(self, database: Database) -> None:
        # The driver: sessions are those of another context.
        self._sessions = database["sessions"]

    async def add(self, folder: Folder) -> None:
        async with store_errors():
            await notify_of_settings(folder.user_id)
            await FolderDocument(
                id=folder.id,
                user_id=folder.user_id,
                name=folder.name,
                instructions=folder.instructions,
                created_at=folder.created_at,
            ).insert()

    async def get(self, folder_id: FolderId, user_id: UserId) -> Folder:
        async with store_errors():
            return _folder(await FolderDocument.find_one({"_id": folder_id, "user_id": user_id}))

    async def of_user(self, user_id: UserId) -> Sequence[Folder]:
        async with store_errors():
            found = await FolderDocument.find({"user_id": user_id}).sort("name").to_list()
        return [_folder(one) for one in found]

    async def of_session(self, session_id: SessionId, user_id: UserId) -> Folder | None:
        async with store_errors():
            session = await self._sessions.find_one({"_id": session_id, "user_id": user_id}, {"folder_id": 1})
            folder_id = (session or {}).get("folder_id")
            found = folder_id and await FolderDocument.find_one({"_id": folder_id, "user_id": user_id})
        return _folder(found) if found else None

    async def change(self, folder_id: FolderId, user_id: UserId, values: Mapping[str, str]) -> Folder:
        async with store_errors():
            found = await find_one_and_update(
                FolderDocument, {"_id": folder_id, "user_id": user_id}, {"$set": dict(values)}
            )
        return _folder(found)

    async def delete(self, folder_id: FolderId, user_id: UserId) -> int:
        """Empty the folder first and once more at the end, as a session may be put into it meanwhile. If this is cut in
        the middle, the folder is still there, with fewer sessions."""
        await self.get(folder_id, user_id)
        within = {"user_id": user_id, "folder_id": folder_id}
        out = {"$set": {"folder_id": None}, "$currentDate": {"updated_at": True}}
        async with store_errors(within_s=_DELETED_S):
            moved = await self._sessions.update_many(within, out)
            await FolderDocument.find_one({"_id": folder_id, "user_id": user_id}).delete()
            later = await self._sessions.update_many(within, out)
        return moved.modified_count + later.modified_count


def _folder(found: FolderDocument | None) -> Folder:
    if found is None:
        raise FolderNotFoundError
    at = found.created_at
    return Folder(
        id=FolderId(found.id),
        user_id=UserId(found.user_id),
        name=found.name,
        instructions=found.instructions,
        created_at=at if at.tzinfo else at.replace(tzinfo=UTC),
    )
