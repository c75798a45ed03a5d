"""`Deletions` in MongoDB: the session's own document stays, disowned, until nothing else is left of it."""

from __future__ import annotations

from backend_api.domain.conversation.deletions import Deleted
from backend_api.domain.conversation.entity import SessionId
from backend_api.domain.identity.entity import UserId
from backend_api.infrastructure.mongo.database import Database
from backend_api.infrastructure.mongo.transactions import store_errors

DUE_S = 30.0
"""Longer than a call to the manager that was on its way when the session was deleted is repeated."""


class MongoDeletions:
    """By the database's clock, so that of all that sweep one at a time works at each."""

    def __init__(self, database: Database, *, due_s: float = DUE_S) -> None:
        self._database = database
        self._due_ms = round(due_s * 1000)

    async def claim_next(self) -> Deleted | None:
        long_ago = {"$subtract": ["$$NOW", self._due_ms]}
        async with store_errors():
            found = await self._database["sessions"].find_one_and_update(
                {"user_id": "", "$expr": {"$lte": ["$deleted_at", long_ago]}},
                {"$currentDate": {"deleted_at": True}},
                projection={"owner": 1},
            )
        if found is None:
            return None
        return Deleted(session_id=SessionId(found["_id"]), user_id=UserId(found.get("owner") or ""))

    async def finish(self, session_id: SessionId) -> None:
        async with store_errors():
            await remove_contents(self._database, session_id)
            await self._database["sessions"].delete_one({"_id": session_id, "user_id": ""})


async def remove_contents(database: Database, session_id: SessionId) -> None:
    """All of a session but its document."""
    for name in ("runs", "bodies", "event_parts", "events"):
        await database[name].delete_many({"session_id": session_id})
