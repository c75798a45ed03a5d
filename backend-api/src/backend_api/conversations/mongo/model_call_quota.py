"""The size of stored model calls, counted in MongoDB."""

from __future__ import annotations

from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Database
from backend_api.kit.mongo.transactions import store_errors


class MongoModelCallQuota:
    """`ModelCallQuota` on a collection of its own: counting on the session's document would wake all its followers at
    each call. A user may store `most` bytes, 0 for any number."""

    def __init__(self, database: Database, *, most: int = 0) -> None:
        # The driver: the query returns sums, not documents.
        self._kept = database["kept_calls"]
        self._most = most

    async def has_room(self, user_id: UserId) -> bool:
        """Sums up one index range, which holds all that is needed."""
        if not self._most:
            return True
        total = [{"$match": {"user_id": user_id}}, {"$group": {"_id": None, "size": {"$sum": "$size"}}}]
        async with store_errors():
            found = await (await self._kept.aggregate(total)).to_list()
        return not found or found[0]["size"] < self._most

    async def add(self, session_id: SessionId, user_id: UserId, size: int) -> None:
        """Counts even without a limit, as there may be one later."""
        change = {"$inc": {"size": size}, "$setOnInsert": {"user_id": user_id}}
        async with store_errors():
            await self._kept.update_one({"_id": session_id}, change, upsert=True)
