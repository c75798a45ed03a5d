"""News of computers in the sessions' streams, each told once."""

from __future__ import annotations

from typing import Any

from pymongo import ReturnDocument
from pymongo.asynchronous.client_session import AsyncClientSession

from backend_api.domain.agent.events import Event
from backend_api.domain.sandbox.news import ComputerNews, DiskNews
from backend_api.infrastructure.mongo.database import Database
from backend_api.infrastructure.mongo.event_documents import insert_events, number
from backend_api.infrastructure.mongo.transactions import in_transaction


class MongoComputerNews:
    """`NewsLog`: the session remembers the last news it was told, in the transaction that stores them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def append_once(self, news: ComputerNews | DiskNews) -> list[Event]:
        told = "disk_told" if isinstance(news, DiskNews) else "computer_told"
        wanted: dict[str, Any] = {told: {"$not": {"$gte": news.order}}}
        changes: dict[str, Any] = {
            "last_seq": {"$add": ["$last_seq", 1]},
            "updated_at": "$$NOW",
            told: news.order,
        }
        if isinstance(news, ComputerNews):
            changes |= {"sandbox": news.event.status, "computer_warned": news.is_warning}
            if not news.worth_telling:
                wanted["$or"] = [{"computer_warned": True}, {"sandbox": "paused"}]

        async def work(transaction: AsyncClientSession) -> list[Event]:
            session = await self._database["sessions"].find_one_and_update(
                {"_id": news.session_id, "user_id": {"$ne": ""}, **wanted},
                [{"$set": changes}],
                projection={"last_seq": 1, "updated_at": 1},
                return_document=ReturnDocument.AFTER,
                session=transaction,
            )
            if session is None:
                return []
            events = number(news.session_id, session["last_seq"], session["updated_at"], None, [news.event])
            await insert_events(self._database, transaction, events)
            return events

        return await in_transaction(self._database, work)
