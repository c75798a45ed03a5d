"""Memories of users in MongoDB: one document for each user, so that a change of one file also checks the user's
total."""

from __future__ import annotations

from beanie import Document
from pydantic import Field
from pymongo.errors import DuplicateKeyError

from backend_api.kit.ids import UserId
from backend_api.kit.mongo.beanie_updates import find_one_and_update
from backend_api.kit.mongo.transactions import store_errors
from backend_api.memories.domain import Memories
from backend_api.settings.mongo.user_settings import notify_of_settings


class MemoriesDocument(Document):
    """A user's memories: path and content of each file."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- the user
    version: int
    files: list[dict[str, str]] = Field(default_factory=list[dict[str, str]])

    class Settings:
        name = "memories"


class MongoMemories:
    """`MemoriesStore` on the collection memories. A user's first memory marks the user as having settings: runs of
    users without that mark load neither settings nor memories."""

    async def get(self, user_id: UserId) -> Memories:
        async with store_errors():
            document = await MemoriesDocument.find_one({"_id": user_id})
        if document is None:
            return Memories(user_id=user_id)
        texts = {one["path"]: one["content"] for one in document.files}
        return Memories(user_id=user_id, version=document.version, texts=texts)

    async def replace(self, fresh: Memories) -> bool:
        files = [{"path": path, "content": content} for path, content in fresh.texts.items()]
        version = fresh.version + 1
        async with store_errors():
            if fresh.version == 0:
                await notify_of_settings(fresh.user_id)
                try:
                    await MemoriesDocument(id=fresh.user_id, version=version, files=files).insert()
                except DuplicateKeyError:
                    return False
                return True
            wanted = {"_id": fresh.user_id, "version": fresh.version}
            change = {"$set": {"files": files, "version": version}}
            return await find_one_and_update(MemoriesDocument, wanted, change) is not None
