"""Queued messages in MongoDB."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, ClassVar

import beanie
from pymongo import ASCENDING, DESCENDING, IndexModel, ReturnDocument
from pymongo.asynchronous.client_session import AsyncClientSession

from backend_api.agent.events import Event, QueueUpdated
from backend_api.conversations.domain.errors import SessionNotFoundError
from backend_api.conversations.mongo.event_documents import insert_events, is_sent, number
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Database, Document
from backend_api.kit.mongo.transactions import in_transaction, store_errors
from backend_api.message_queue.domain import MAX_QUEUED, Claimed, Held, Problem, Queue, Queued
from backend_api.message_queue.errors import (
    QueueChangedError,
    QueuedMessageLeavingError,
    QueuedMessageNotFoundError,
    QueueFullError,
)

CLAIM_S = 20.0
"""Longer than sending takes. A message claimed by a process that ended is left alone for so long."""
_HOLDS = ("failed", "stopped", "interrupted")
_ORDER = [("position", ASCENDING)]


class QueuedMessageDocument(beanie.Document):
    """A queued message of a session. Its sender has put a `claim` on it, which lapses by the database's clock."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- session and id in one
    session_id: str
    user_id: str
    message_id: str
    text: str
    attachments: list[str]
    position: int
    version: int
    added_at: datetime
    edited_at: datetime | None = None
    problem: dict[str, str] | None = None
    claim: str | None = None
    claimed_until: datetime | None = None

    class Settings:
        name = "queued_messages"
        indexes: ClassVar = [IndexModel([("session_id", ASCENDING), ("position", ASCENDING)])]


class MongoQueuedMessages:
    """`QueuedMessages` and `QueueClaims`. Concurrent changes of one session's queue all write the session, so they
    happen one after the other; a claim is a single write that requires that there is none."""

    def __init__(self, database: Database, *, claim_s: float = CLAIM_S) -> None:
        # The driver: messages, session and event change in one transaction.
        self._database = database
        self._queued = database["queued_messages"]
        self._claim_ms = round(claim_s * 1000)

    async def of_session(self, session_id: SessionId) -> Queue:
        async with store_errors():
            found = await self._queued.find({"session_id": session_id}).sort(_ORDER).to_list()
            held = await self._held(session_id) if found else None
        return Queue(items=[_queued(one) for one in found], held=held)

    async def add(self, session_id: SessionId, user_id: UserId, message: Queued) -> tuple[Queued | None, list[Event]]:
        async def work(transaction: AsyncClientSession) -> tuple[Queued | None, list[Event]]:
            session = await self._take_number(transaction, session_id, user_id)
            present = await self._queued.find_one({"_id": _key(session_id, message.id)}, session=transaction)
            if present is None and await is_sent(self._database, session_id, message.id, transaction):
                raise _KnownError(None)
            if present is not None:
                raise _KnownError(_queued(present))
            ordered = await self._of(session_id, transaction)
            if len(ordered) >= MAX_QUEUED:
                raise QueueFullError(
                    f"{MAX_QUEUED} messages wait in this conversation, which is the maximum. Send one, or take one "
                    "away."
                )
            document: Document = {
                "_id": _key(session_id, message.id),
                "session_id": session_id,
                "user_id": user_id,
                "message_id": message.id,
                "text": message.text,
                "attachments": [*message.attachments],
                "position": ordered[-1]["position"] + 1 if ordered else 0,
                "version": 1,
                "added_at": message.added_at,
                "edited_at": None,
                "problem": None,
                "claim": None,
                "claimed_until": None,
            }
            await self._queued.insert_one(document, session=transaction)
            return _queued(document), await self._record_event(transaction, session)

        try:
            return await in_transaction(self._database, work)
        except _KnownError as known:
            return known.message, []

    async def change(
        self, session_id: SessionId, user_id: UserId, message_id: str, change: Callable[[Queued], Queued]
    ) -> tuple[Queued, list[Event]]:
        async def work(transaction: AsyncClientSession) -> tuple[Queued, list[Event]]:
            session = await self._take_number(transaction, session_id, user_id)
            found = await self._unclaimed(session_id, message_id, transaction)
            changed = change(_queued(found))
            fields: Document = {
                "text": changed.text,
                "attachments": [*changed.attachments],
                "version": changed.version,
                "problem": None,
                "edited_at": session["updated_at"],
            }
            await self._queued.update_one({"_id": found["_id"]}, {"$set": fields}, session=transaction)
            return _queued(found | fields), await self._record_event(transaction, session)

        return await in_transaction(self._database, work)

    async def order(self, session_id: SessionId, user_id: UserId, message_ids: Sequence[str]) -> list[Event]:
        async def work(transaction: AsyncClientSession) -> list[Event]:
            session = await self._take_number(transaction, session_id, user_id)
            present = [one["message_id"] for one in await self._of(session_id, transaction)]
            if sorted(present) != sorted(message_ids):
                raise QueueChangedError("Other messages wait by now. Read the queue again, then put it in order.")
            for position, message_id in enumerate(message_ids):
                await self._queued.update_one(
                    {"_id": _key(session_id, message_id)}, {"$set": {"position": position}}, session=transaction
                )
            return await self._record_event(transaction, session)

        return await in_transaction(self._database, work)

    async def remove(self, session_id: SessionId, user_id: UserId, message_id: str) -> list[Event]:
        async def work(transaction: AsyncClientSession) -> list[Event]:
            session = await self._take_number(transaction, session_id, user_id)
            found = await self._unclaimed(session_id, message_id, transaction)
            await self._queued.delete_one({"_id": found["_id"]}, session=transaction)
            return await self._record_event(transaction, session)

        return await in_transaction(self._database, work)

    async def sessions(self) -> list[SessionId]:
        async with store_errors():
            return [SessionId(one) for one in await self._queued.distinct("session_id")]

    async def claim(self, session_id: SessionId, user_id: UserId, message_id: str) -> Claimed:
        async with store_errors():
            session = await self._database["sessions"].find_one({"_id": session_id, "user_id": user_id}, {"_id": 1})
            if session is None:
                raise SessionNotFoundError("There is no such session.")
            claimed = await self._claim({"_id": _key(session_id, message_id)})
            if claimed is None:
                await self._unclaimed(session_id, message_id)
                raise _leaving()
        return claimed

    async def claim_due(self, session_id: SessionId) -> Claimed | None:
        async with store_errors():
            first = await self._queued.find_one({"session_id": session_id}, sort=_ORDER)
            if first is None or first["claim"] or first["problem"] or not await self._may_go_on(first):
                return None
            claimed = await self._claim({"_id": first["_id"], "version": first["version"], "problem": None})
            # Another sender may have sent the previous one meanwhile, or the person changed the order.
            if claimed is not None and not await self._is_still_first(first):
                await self._unclaim(claimed)
                return None
        return claimed

    async def release(self, claimed: Claimed, problem: Problem | None = None) -> list[Event]:
        if problem is None:
            async with store_errors():
                await self._unclaim(claimed)
            return []
        told = {"code": problem.code, "detail": problem.detail}

        async def work(transaction: AsyncClientSession) -> list[Event]:
            session = await self._take_number(transaction, claimed.session_id, claimed.user_id)
            change = {"$set": {"claim": None, "claimed_until": None, "problem": told}}
            await self._queued.update_one(_of_claim(claimed), change, session=transaction)
            return await self._record_event(transaction, session)

        return await in_transaction(self._database, work)

    async def settle(self, claimed: Claimed) -> list[Event]:
        key = _key(claimed.session_id, claimed.message.id)
        return await self._settle(claimed.session_id, claimed.user_id, key)

    async def settle_lapsed(self, session_id: SessionId) -> list[Event]:
        events: list[Event] = []
        lapsed = {"session_id": session_id, "claim": {"$ne": None}, "$expr": {"$lt": ["$claimed_until", "$$NOW"]}}
        async with store_errors():
            found = await self._queued.find(lapsed).to_list()
            for one in found:
                if await is_sent(self._database, session_id, one["message_id"]):
                    events += await self._settle(session_id, UserId(one["user_id"]), one["_id"])
                else:
                    left = {"_id": one["_id"], "claim": one["claim"]}
                    await self._queued.update_one(left, {"$set": {"claim": None, "claimed_until": None}})
        return events

    async def _settle(self, session_id: SessionId, user_id: UserId, key: str) -> list[Event]:
        async def work(transaction: AsyncClientSession) -> list[Event]:
            session = await self._take_number(transaction, session_id, user_id)
            if not (await self._queued.delete_one({"_id": key}, session=transaction)).deleted_count:
                raise _KnownError(None)
            return await self._record_event(transaction, session)

        try:
            return await in_transaction(self._database, work)
        except (_KnownError, SessionNotFoundError):
            # Another process did it, or the session was deleted together with its queue.
            return []

    async def _claim(self, wanted: Document) -> Claimed | None:
        token = uuid.uuid4().hex
        taken = {"claim": token, "claimed_until": {"$add": ["$$NOW", self._claim_ms]}}
        found = await self._queued.find_one_and_update(
            wanted | {"claim": None}, [{"$set": taken}], return_document=ReturnDocument.AFTER
        )
        if found is None:
            return None
        session_id, user_id = SessionId(found["session_id"]), UserId(found["user_id"])
        return Claimed(message=_queued(found), session_id=session_id, user_id=user_id, token=token)

    async def _unclaim(self, claimed: Claimed) -> None:
        await self._queued.update_one(_of_claim(claimed), {"$set": {"claim": None, "claimed_until": None}})

    async def _is_still_first(self, first: Document) -> bool:
        now_first = await self._queued.find_one({"session_id": first["session_id"]}, {"_id": 1}, sort=_ORDER)
        return now_first is not None and now_first["_id"] == first["_id"] and await self._may_go_on(first)

    async def _may_go_on(self, first: Document) -> bool:
        """Whether no run is active in its session, nothing there waits for the person, and the person may log in."""
        wanted = {"_id": first["session_id"], "user_id": first["user_id"], "active_run_id": None}
        if await self._database["sessions"].find_one(wanted, {"_id": 1}) is None:
            return False
        if await self._held(first["session_id"]) is not None:
            return False
        disabled = {"_id": first["user_id"], "is_active": False}
        return await self._database["users"].find_one(disabled, {"_id": 1}) is None

    async def _held(self, session_id: str) -> Held | None:
        """The outcome of the last run, if that failed or was cut short."""
        newest = [("created_at", DESCENDING)]
        run = await self._database["runs"].find_one({"session_id": session_id}, {"status": 1}, sort=newest)
        return run["status"] if run and run["status"] in _HOLDS else None

    async def _of(self, session_id: SessionId, transaction: AsyncClientSession) -> list[Document]:
        return await self._queued.find({"session_id": session_id}, session=transaction).sort(_ORDER).to_list()

    async def _unclaimed(
        self, session_id: SessionId, message_id: str, transaction: AsyncClientSession | None = None
    ) -> Document:
        found = await self._queued.find_one({"_id": _key(session_id, message_id)}, session=transaction)
        if found is None:
            raise QueuedMessageNotFoundError("It waits no more: it was sent, or taken away.")
        if found["claim"] is not None:
            raise _leaving()
        return found

    async def _take_number(self, transaction: AsyncClientSession, session_id: SessionId, user_id: UserId) -> Document:
        session = await self._database["sessions"].find_one_and_update(
            {"_id": session_id, "user_id": user_id},
            [{"$set": {"last_seq": {"$add": ["$last_seq", 1]}, "updated_at": "$$NOW"}}],
            projection={"last_seq": 1, "updated_at": 1, "active_run_id": 1},
            return_document=ReturnDocument.AFTER,
            session=transaction,
        )
        if session is None:
            raise SessionNotFoundError("There is no such session.")
        return session

    async def _record_event(self, transaction: AsyncClientSession, session: Document) -> list[Event]:
        count = await self._queued.count_documents({"session_id": session["_id"]}, session=transaction)
        run_id = session.get("active_run_id")
        told = [QueueUpdated(count=count)]
        events = number(session["_id"], session["last_seq"], session["updated_at"], run_id, told)
        await insert_events(self._database, transaction, events)
        return events


class _KnownError(Exception):
    """The work was done already; the transaction writes nothing."""

    def __init__(self, message: Queued | None) -> None:
        super().__init__()
        self.message = message


def _key(session_id: str, message_id: str) -> str:
    return f"{session_id}:{message_id}"


def _of_claim(claimed: Claimed) -> Document:
    return {"_id": _key(claimed.session_id, claimed.message.id), "claim": claimed.token}


def _leaving() -> QueuedMessageLeavingError:
    return QueuedMessageLeavingError("It is just being sent. Look at the conversation in a moment.")


def _queued(found: Document) -> Queued:
    problem: dict[str, Any] | None = found["problem"]
    return Queued(
        id=found["message_id"],
        text=found["text"],
        attachments=tuple(found["attachments"]),
        added_at=found["added_at"],
        edited_at=found["edited_at"],
        version=found["version"],
        problem=Problem(**problem) if problem else None,
    )
