"""Leases of control in MongoDB: one document for each session that a person controls."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from beanie import Document as BeanieDocument
from pymongo import ReturnDocument
from pymongo.asynchronous.client_session import AsyncClientSession
from pymongo.errors import DuplicateKeyError

from backend_api.agent.events import ControlReturned, ControlTaken, Event, StoredPayload
from backend_api.computers.domain import ControlLostError
from backend_api.control.domain import LEASE_S, ControlHeldError, ControlLease, TakenLease
from backend_api.conversations.domain.errors import SessionNotFoundError
from backend_api.conversations.mongo.event_documents import insert_events, number
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Database, Document
from backend_api.kit.mongo.transactions import in_transaction, store_errors

_HOLDS: Document = {"$expr": {"$gte": ["$expires_at", "$$NOW"]}}
_EXPIRED: Document = {"$expr": {"$lt": ["$expires_at", "$$NOW"]}}
_SEVERAL = 100


class ControlLeaseDocument(BeanieDocument):
    """The lease of a session's computer. There are as many as sessions under control at this moment."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- the session
    user_id: str
    client: str
    holder: str
    expires_at: datetime

    class Settings:
        name = "control_leases"


class MongoControlLeases:
    """`ControlLeases` on the collection control_leases."""

    def __init__(self, database: Database, lease_s: float = LEASE_S) -> None:
        # The driver: a lease changes in the transaction of its event.
        self._database = database
        self._leases = database["control_leases"]
        self._until: Document = {"$add": ["$$NOW", round(lease_s * 1000)]}

    async def find(self, session_id: SessionId) -> ControlLease | None:
        """One read by primary key."""
        async with store_errors():
            found = await self._leases.find_one({"_id": session_id, **_HOLDS})
        return _lease(found) if found else None

    async def take(
        self, session_id: SessionId, user_id: UserId, client: str, holder: str, *, takes_over: bool
    ) -> TakenLease:
        """One transaction; the second of two at once is repeated, and sees the first."""

        async def work(transaction: AsyncClientSession) -> TakenLease:
            held = await self._leases.find_one({"_id": session_id, **_HOLDS}, session=transaction)
            if held is not None and held["client"] != client and not takes_over:
                raise ControlHeldError(f"{held['holder']} controls the computer.")
            values = {"user_id": user_id, "client": client, "holder": holder}
            lease = await self._leases.find_one_and_update(
                {"_id": session_id},
                [{"$set": {**_literal(values), "expires_at": self._until}}],
                upsert=True,
                return_document=ReturnDocument.AFTER,
                session=transaction,
            )
            assert lease is not None
            told = held is not None and held["client"] == client
            events = (
                [] if told else await self._record_event(transaction, session_id, user_id, _taken_event(holder, client))
            )
            return TakenLease(_lease(lease), events)

        try:
            return await in_transaction(self._database, work)
        except DuplicateKeyError:
            # Two clients found no lease at once: by now one of them has it.
            return await in_transaction(self._database, work)

    async def renew(self, session_id: SessionId, client: str) -> ControlLease:
        """One write."""
        async with store_errors():
            found = await self._leases.find_one_and_update(
                {"_id": session_id, "client": client, **_HOLDS},
                [{"$set": {"expires_at": self._until}}],
                return_document=ReturnDocument.AFTER,
            )
        if found is None:
            raise ControlLostError("You don't control the computer any more. Take control again.")
        return _lease(found)

    async def give_back(
        self, session_id: SessionId, user_id: UserId, client: str | None, note: str | None
    ) -> Sequence[Event]:
        """One transaction."""

        async def work(transaction: AsyncClientSession) -> list[Event]:
            held = await self._leases.find_one({"_id": session_id, "user_id": user_id}, session=transaction)
            if held is not None and client is not None and held["client"] != client:
                raise ControlLostError(f"{held['holder']} controls the computer by now.")
            if held is None and not note:
                return []
            await self._leases.delete_one({"_id": session_id}, session=transaction)
            returned = ControlReturned(by="user", note=note or None)
            return await self._record_event(transaction, session_id, user_id, returned)

        return await in_transaction(self._database, work)

    async def expired(self) -> Sequence[SessionId]:
        """One read of a collection that is nearly always empty."""
        async with store_errors():
            found = await self._leases.find(_EXPIRED, {"_id": 1}).limit(_SEVERAL).to_list()
        return [SessionId(one["_id"]) for one in found]

    async def expire(self, session_id: SessionId) -> Sequence[Event]:
        """One transaction."""

        async def work(transaction: AsyncClientSession) -> list[Event]:
            over = await self._leases.find_one_and_delete({"_id": session_id, **_EXPIRED}, session=transaction)
            if over is None:
                return []
            try:
                return await self._record_event(transaction, session_id, over["user_id"], ControlReturned(by="timeout"))
            except SessionNotFoundError:
                return []

        return await in_transaction(self._database, work)

    async def _record_event(
        self, transaction: AsyncClientSession, session_id: SessionId, user_id: str, payload: StoredPayload
    ) -> list[Event]:
        session = await self._database["sessions"].find_one_and_update(
            {"_id": session_id, "user_id": user_id},
            [{"$set": {"last_seq": {"$add": ["$last_seq", 1]}, "updated_at": "$$NOW"}}],
            projection={"last_seq": 1, "updated_at": 1, "active_run_id": 1},
            return_document=ReturnDocument.AFTER,
            session=transaction,
        )
        if session is None:
            raise SessionNotFoundError("There is no such session.")
        events = number(session_id, session["last_seq"], session["updated_at"], None, [payload])
        await insert_events(self._database, transaction, events)
        return events


def _taken_event(holder: str, client: str) -> ControlTaken:
    return ControlTaken(holder=holder, client=client)


def _literal(values: Document) -> Document:
    """The values for an update that is a pipeline, in which a text that begins with a dollar would be a field."""
    return {name: {"$literal": value} for name, value in values.items()}


def _lease(found: dict[str, Any]) -> ControlLease:
    return ControlLease(holder=found["holder"], client=found["client"], expires_at=found["expires_at"])
