"""Due titles in MongoDB, as a part of the session's document."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence

from pymongo import ReturnDocument
from pymongo.asynchronous.client_session import AsyncClientSession

from backend_api.agent.events import NO_USAGE, Event, SessionUpdated, Usage
from backend_api.agent.options import session_options
from backend_api.agent.usage import combine
from backend_api.conversations.application.event_json import dump, payload_fields
from backend_api.conversations.domain.entity import RunId, SessionStatus
from backend_api.conversations.domain.titles import MAX_ATTEMPTS, DueTitle
from backend_api.conversations.mongo.event_documents import insert_events, number
from backend_api.conversations.mongo.usage_documents import usage_fields, usage_of
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Database, Document
from backend_api.kit.mongo.transactions import in_transaction, store_errors

LOOKED_AT = 100
_IS_OVER: Document = {"$expr": {"$lte": ["$title_due.next", "$$NOW"]}}
"""True for null, too: MongoDB sorts that before any time."""


class MongoTitles:
    """`Titles` on the collections sessions and runs; the clock is the server's."""

    def __init__(self, database: Database) -> None:
        # The driver: each step is one compare-and-set of a part of the session, by the server's clock.
        self._database = database
        self._sessions = database["sessions"]

    async def due(self) -> Sequence[SessionId]:
        """Reads an index of due titles only."""
        wanted: Document = {"title_due.next": {"$type": "date"}, "status": SessionStatus.IDLE.value, **_IS_OVER}
        async with store_errors():
            found = self._sessions.find(wanted, projection={"_id": 1}).limit(LOOKED_AT)
            return [SessionId(session["_id"]) async for session in found]

    async def begin(self, session_id: SessionId, *, within_s: float) -> DueTitle | None:
        """Takes the attempt in one write, and looks up the last run."""
        taken: Document = {
            "title_due": {
                "attempts": {"$add": ["$title_due.attempts", 1]},
                "token": {"$literal": uuid.uuid4().hex},
                "next": {"$add": ["$$NOW", round(within_s * 1000)]},
            }
        }
        wanted: Document = {"_id": session_id, "user_id": {"$ne": ""}, "title_due.attempts": {"$exists": True}}
        async with store_errors():
            session = await self._sessions.find_one_and_update(
                wanted | _IS_OVER,
                [{"$set": taken}],
                projection=dict.fromkeys(("user_id", "model", "preset", "options", "title_due"), 1),
                return_document=ReturnDocument.AFTER,
            )
            if session is None:
                return None
            ended = {"session_id": session_id, "usage": {"$type": "string"}}
            run = await self._database["runs"].find_one(ended, projection={"_id": 1}, sort=[("created_at", -1)])
        return DueTitle(
            session_id=session_id,
            user_id=UserId(session["user_id"]),
            run_id=RunId(run["_id"]) if run else None,
            attempt=session["title_due"]["attempts"],
            token=session["title_due"]["token"],
            options=session_options(session.get("model"), session.get("options") or {}, session.get("preset")),
        )

    async def store(self, due: DueTitle, title: str | None, used: Usage) -> Sequence[Event]:
        """Stores the title and its event in one transaction."""

        async def work(transaction: AsyncClientSession) -> list[Event]:
            await self._count(transaction, due, used)
            change: Document = {"$unset": {"title_due": 1}}
            if title is not None:
                change |= {"$set": {"title": title}, "$inc": {"last_seq": 1}, "$currentDate": {"updated_at": True}}
            session = await self._sessions.find_one_and_update(
                _due_query(due),
                change,
                projection={"last_seq": 1, "updated_at": 1},
                return_document=ReturnDocument.AFTER,
                session=transaction,
            )
            if session is None or title is None:
                return []
            payloads = [SessionUpdated(title=title)]
            events = number(due.session_id, session["last_seq"], session["updated_at"], None, payloads)
            await insert_events(self._database, transaction, events)
            return events

        return await in_transaction(self._database, work)

    async def postpone(self, due: DueTitle, used: Usage, *, for_s: float | None) -> None:
        """Postpones in one transaction, without an event."""
        later: Document = {"title_due.next": {"$add": ["$$NOW", round((for_s or 0) * 1000)]}}
        if for_s is None:
            later = {"title_due.next": None, "title_due.attempts": due.attempt - 1}
        is_last = for_s is not None and due.attempt >= MAX_ATTEMPTS

        async def work(transaction: AsyncClientSession) -> None:
            await self._count(transaction, due, used)
            change = [{"$unset": "title_due"}] if is_last else [{"$set": later}]
            await self._sessions.update_one(_due_query(due), change, session=transaction)

        await in_transaction(self._database, work)

    async def _count(self, transaction: AsyncClientSession, due: DueTitle, used: Usage) -> None:
        """Adds the attempt's usage to its run, from which the session's usage is summed up."""
        if used == NO_USAGE or due.run_id is None:
            return
        runs, wanted = self._database["runs"], {"_id": due.run_id}
        run = await runs.find_one(wanted, projection={"usage": 1}, session=transaction)
        if run is None:
            await self._count_past(transaction, due, used)
        elif isinstance(run.get("usage"), str):
            usage = combine(Usage(**json.loads(run["usage"])), used)
            change = {"$set": {"usage": dump(payload_fields(usage)), **usage_fields(usage)}}
            await runs.update_one(wanted, change, session=transaction)

    async def _count_past(self, transaction: AsyncClientSession, due: DueTitle, used: Usage) -> None:
        """Adds the usage if the session was deleted during the call. A run without usage left no record."""
        past, wanted = self._database["past_usage"], {"_id": due.run_id}
        known = await past.find_one(wanted, session=transaction)
        total = combine(usage_of(known["used"]), used) if known is not None else used
        if change := usage_fields(total):
            fields: Document = {"user_id": {"$literal": due.user_id}, "created_at": "$$NOW"} if known is None else {}
            await past.update_one(
                wanted, [{"$set": {**_as_literals(change), **fields}}], upsert=True, session=transaction
            )


def _as_literals(values: Document) -> Document:
    """Literals, since a text in a pipeline may be an expression."""
    return {name: {"$literal": value} for name, value in values.items()}


def _due_query(due: DueTitle) -> Document:
    """The session as long as this attempt may write its title."""
    return {"_id": due.session_id, "user_id": due.user_id, "title_due.token": due.token}
