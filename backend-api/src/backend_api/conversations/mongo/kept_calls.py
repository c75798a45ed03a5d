"""What is kept of model calls, counted in MongoDB."""

from __future__ import annotations

from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Database
from backend_api.kit.mongo.transactions import store_errors


class MongoKeptCalls:
    """`KeptCalls` on a collection of its own: on the session's document each call would wake all who follow it. A
    user's may have `most` bytes, 0 is any number."""

    def __init__(self, database: Database, *, most: int = 0) -> None:
        # The driver: sums, which are no documents.
        self._kept = database["kept_calls"]
        self._most = most

    async def has_room(self, user_id: UserId) -> bool:
        """One range of an index that has all of it."""
        if not self._most:
            return True
        total = [{"$match": {"user_id": user_id}}, {"$group": {"_id": None, "size": {"$sum": "$size"}}}]
        async with store_errors():
            found = await (await self._kept.aggregate(total)).to_list()
        return not found or found[0]["size"] < self._most

    async def add(self, session_id: SessionId, user_id: UserId, size: int) -> None:
        """Also without a limit: there may be one later."""
        change = {"$inc": {"size": size}, "$setOnInsert": {"user_id": user_id}}
        async with store_errors():
            await self._kept.update_one({"_id": session_id}, change, upsert=True)
