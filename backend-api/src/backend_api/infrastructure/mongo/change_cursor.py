"""The last change of a sandbox that any gateway read."""

from __future__ import annotations

from backend_api.infrastructure.mongo.database import Database
from backend_api.infrastructure.mongo.transactions import store_errors

_NEWS = "computer_news"


class MongoChangeCursor:
    """`ChangeCursor`: one document. Gateways overwrite each other's; what is read twice is stored once."""

    def __init__(self, database: Database) -> None:
        self._marks = database["marks"]

    async def load(self) -> str | None:
        async with store_errors():
            found = await self._marks.find_one({"_id": _NEWS})
        return found["mark"] if found else None

    async def store(self, cursor: str) -> None:
        async with store_errors():
            await self._marks.update_one({"_id": _NEWS}, {"$set": {"mark": cursor}}, upsert=True)
