"""Skills of users in MongoDB: one document per skill, with its files as one archive beside its description."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from bson.binary import Binary
from pymongo.asynchronous.client_session import AsyncClientSession

from backend_api.kit.ids import UserId
from backend_api.kit.mongo.database import Database, Document
from backend_api.kit.mongo.transactions import DURABLE, in_transaction, store_errors
from backend_api.settings.mongo.user_settings import notify_of_settings
from backend_api.skills.domain.entity import Skill, SkillEntry
from backend_api.skills.domain.errors import (
    SkillLimitError,
    SkillRefusedError,
    SkillTakenError,
    SkillUnreadableError,
)
from backend_api.skills.library.archives import pack, read_zip
from backend_api.skills.library.records import LIMIT, entry_of


class MongoSkillStore:
    """`SkillStore` on the collection skills. With at most 8 MB of files a skill stays far below the 16 MB of a
    document. A user with skills is marked as having settings: a run of a user without settings reads neither."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._settings = database.get_collection("user_settings")
        # The driver: descriptions of skills are read without their files.
        self._skills = database.get_collection("skills", write_concern=DURABLE)

    async def entries(self, user_id: UserId) -> Sequence[SkillEntry]:
        async with store_errors():
            found = await self._skills.find({"user_id": user_id}, {"archive": 0}).sort("name", 1).to_list()
        return [_entry_from(document) for document in found]

    async def get(self, user_id: UserId, name: str) -> Skill | None:
        async with store_errors():
            document = await self._skills.find_one({"_id": _id(user_id, name)})
        if document is None:
            return None
        try:
            return await asyncio.to_thread(read_zip, bytes(document["archive"]))
        except SkillRefusedError as error:
            raise SkillUnreadableError(name, error.detail) from error

    async def put(
        self, user_id: UserId, skill: Skill, *, source: str | None, most: int, only_same_source: bool = False
    ) -> SkillEntry:
        entry = entry_of(skill, "user", source=source, created_at=datetime.now(UTC))
        document: dict[str, Any] = {
            "_id": _id(user_id, skill.name),
            "user_id": user_id,
            "name": entry.name,
            "description": entry.description,
            "digest": entry.digest,
            "size": entry.size,
            "files": entry.files,
            "source": source,
            "created_at": entry.created_at,
            "archive": Binary(await asyncio.to_thread(pack, skill)),
        }

        async def work(session: AsyncClientSession) -> None:
            # Written by every change: of two at once the second sees the first one's result.
            await self._settings.update_one({"_id": user_id}, {"$inc": {"skill_changes": 1}}, session=session)
            wanted = {"_id": document["_id"]}
            known = await self._skills.find_one(wanted, {"source": 1}, session=session)
            if known is None and await self._skills.count_documents({"user_id": user_id}, session=session) >= most:
                raise SkillLimitError(LIMIT.format(most=most))
            if known is not None and only_same_source and known["source"] != source:
                raise SkillTakenError(skill.name)
            await self._skills.replace_one(wanted, document, upsert=True, session=session)

        async with store_errors():
            await notify_of_settings(user_id)
        await in_transaction(self._database, work)
        return entry

    async def delete(self, user_id: UserId, name: str) -> bool:
        async with store_errors():
            return (await self._skills.delete_one({"_id": _id(user_id, name)})).deleted_count == 1


def _id(user_id: UserId, name: str) -> str:
    return f"{user_id}/{name}"


def _entry_from(document: Document) -> SkillEntry:
    created_at: datetime = document["created_at"]
    return SkillEntry(
        name=document["name"],
        description=document["description"],
        origin="user",
        digest=document["digest"],
        size=document["size"],
        files=document["files"],
        source=document["source"],
        created_at=created_at if created_at.tzinfo else created_at.replace(tzinfo=UTC),
    )
