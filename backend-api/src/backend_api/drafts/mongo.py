"""Drafts in MongoDB, one document for each session that has, or had, one."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

import beanie
from pymongo import ASCENDING, IndexModel, ReturnDocument
from pymongo.errors import DuplicateKeyError

from backend_api.drafts.domain import NOTHING, Draft, Written
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Database, Document
from backend_api.kit.mongo.transactions import store_errors


class DraftDocument(beanie.Document):
    """What a session's user is writing to it. Its id is the session's."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- ids are opaque strings
    session_id: str
    user_id: str
    text: str
    files: list[str]
    version: int
    updated_at: datetime

    class Settings:
        name = "drafts"
        indexes: ClassVar = [IndexModel([("session_id", ASCENDING)])]


class MongoDrafts:
    """`Drafts`."""

    def __init__(self, database: Database) -> None:
        # The driver: the version is compared and the draft replaced in one operation.
        self._drafts = database["drafts"]

    async def of_session(self, session_id: SessionId) -> Draft:
        """One read."""
        async with store_errors():
            found = await self._drafts.find_one({"_id": session_id})
        return NOTHING if found is None else _draft(found)

    async def replace(self, session_id: SessionId, user_id: UserId, written: Written, version: int) -> Draft | None:
        """One operation; a first draft is inserted unless another one was."""
        fields = {"session_id": session_id, "user_id": user_id, "text": written.text, "files": list(written.files)}
        try:
            async with store_errors():
                found = await self._drafts.find_one_and_update(
                    {"_id": session_id, "version": version},
                    {"$set": fields, "$inc": {"version": 1}, "$currentDate": {"updated_at": True}},
                    upsert=version == 0,
                    return_document=ReturnDocument.AFTER,
                )
        except DuplicateKeyError:
            return None
        return None if found is None else _draft(found)

    async def remove(self, session_id: SessionId) -> None:
        async with store_errors():
            await self._drafts.delete_one({"_id": session_id})


def _draft(found: Document) -> Draft:
    written = Written(text=found["text"], files=tuple(found["files"]))
    return Draft(written=written, version=found["version"], updated_at=found["updated_at"])
