"""How far the managers' news were heard, by any gateway."""

from __future__ import annotations

from backend_api.infrastructure.mongo.database import Database
from backend_api.infrastructure.mongo.transactions import store_errors

_NEWS = "computer_news"


class MongoNewsMarks:
    """`NewsMarks`: one document. Gateways overwrite each other's; what is heard twice is told once."""

    def __init__(self, database: Database) -> None:
        self._marks = database["marks"]

    async def load(self) -> str | None:
        async with store_errors():
            found = await self._marks.find_one({"_id": _NEWS})
        return found["mark"] if found else None

    async def store(self, mark: str) -> None:
        async with store_errors():
            await self._marks.update_one({"_id": _NEWS}, {"$set": {"mark": mark}}, upsert=True)
