"""Changes of sandboxes in the sessions' streams, each stored once."""

from __future__ import annotations

from typing import Any

from pymongo import ReturnDocument
from pymongo.asynchronous.client_session import AsyncClientSession

from backend_api.agent.events import Event
from backend_api.conversations.mongo.event_documents import insert_events, number
from backend_api.kit.mongo.database import Database
from backend_api.kit.mongo.transactions import in_transaction
from backend_api.sandboxes.domain.changes import DiskWarning, SandboxChange


class MongoSandboxChangeLog:
    """`SandboxChangeLog`: the session keeps the order of the last change, in the transaction that stores it."""

    def __init__(self, database: Database) -> None:
        # The driver: one change of the session and its events are one transaction, which is the driver's.
        self._database = database

    async def append_once(self, change: SandboxChange | DiskWarning) -> list[Event]:
        order_field = "disk_told" if isinstance(change, DiskWarning) else "computer_told"
        wanted: dict[str, Any] = {order_field: {"$not": {"$gte": change.order}}}
        changes: dict[str, Any] = {
            "last_seq": {"$add": ["$last_seq", 1]},
            "updated_at": "$$NOW",
            "active_at": {"$ifNull": ["$active_at", "$updated_at"]},
            order_field: change.order,
        }
        if isinstance(change, SandboxChange):
            changes |= {"sandbox": change.event.status, "computer_warned": change.is_warning}
            if change.takes_back_start:
                wanted["sandbox"] = "starting"
            if not change.worth_telling:
                unawaited = {"sandbox": {"$in": ["starting", "gone", "none", "failed"]}, "status": "idle"}
                wanted["$or"] = [{"computer_warned": True}, {"sandbox": "paused"}, unawaited]

        async def work(transaction: AsyncClientSession) -> list[Event]:
            session = await self._database["sessions"].find_one_and_update(
                {"_id": change.session_id, "user_id": {"$ne": ""}, **wanted},
                [{"$set": changes}],
                projection={"last_seq": 1, "updated_at": 1},
                return_document=ReturnDocument.AFTER,
                session=transaction,
            )
            if session is None:
                return []
            events = number(change.session_id, session["last_seq"], session["updated_at"], None, [change.event])
            await insert_events(self._database, transaction, events)
            return events

        return await in_transaction(self._database, work)
