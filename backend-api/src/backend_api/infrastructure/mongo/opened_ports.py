"""Opened ports in MongoDB."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from pymongo import ASCENDING, ReturnDocument
from pymongo.asynchronous.client_session import AsyncClientSession

from backend_api.domain.agent.events import Event, PortClosed, PortOpened, StoredPayload
from backend_api.domain.conversation.entity import SessionId
from backend_api.domain.conversation.errors import SessionNotFoundError
from backend_api.domain.identity.entity import UserId
from backend_api.domain.previews.entity import OpenedPort, PortId
from backend_api.domain.previews.errors import PortNotFoundError, TooManyPortsError
from backend_api.infrastructure.mongo.database import Database, Document
from backend_api.infrastructure.mongo.event_documents import insert_events, number
from backend_api.infrastructure.mongo.transactions import AbandonedError, in_transaction, store_errors


class MongoOpenedPorts:
    """`OpenedPorts`."""

    def __init__(self, database: Database) -> None:
        # The driver: port, session and event change in one transaction.
        self._database = database
        self._ports = database["opened_ports"]

    async def open(self, port: OpenedPort, *, at_most: int) -> tuple[OpenedPort, list[Event]]:
        """Who opens ports of one session at once writes the session first, and so one after the other."""
        wanted: Document = {"session_id": port.session_id, "port": port.port}
        payload = PortOpened(port_id=port.id, port=port.port, label=port.label, opened_by=port.opened_by)

        async def work(transaction: AsyncClientSession) -> list[Event]:
            events = await self._record_event(transaction, port.session_id, port.user_id, payload)
            if await self._ports.find_one(wanted, {"_id": 1}, session=transaction) is not None:
                raise AbandonedError
            of_session = {"session_id": port.session_id}
            if await self._ports.count_documents(of_session, limit=at_most, session=transaction) >= at_most:
                raise TooManyPortsError.of(at_most)
            await self._ports.insert_one(_document(port), session=transaction)
            return events

        with suppress(AbandonedError):
            return port, await in_transaction(self._database, work)
        async with store_errors():
            found = await self._ports.find_one(wanted)
        if found is None:
            raise PortNotFoundError("It was closed in this moment. Open it again.")
        return _port(found), []

    async def close(self, session_id: SessionId, user_id: UserId, port_id: PortId) -> list[Event]:
        """One transaction."""

        async def work(transaction: AsyncClientSession) -> list[Event]:
            wanted = {"_id": port_id, "session_id": session_id, "user_id": user_id}
            found = await self._ports.find_one_and_delete(wanted, session=transaction)
            if found is None:
                raise PortNotFoundError("This port is not open.")
            payload = PortClosed(port_id=port_id, port=found["port"])
            return await self._record_event(transaction, session_id, user_id, payload)

        return await in_transaction(self._database, work)

    async def of_session(self, session_id: SessionId) -> list[OpenedPort]:
        """One read."""
        async with store_errors():
            found = self._ports.find({"session_id": session_id}).sort([("opened_at", ASCENDING), ("_id", ASCENDING)])
            return [_port(one) async for one in found]

    async def present(self, port_ids: Collection[PortId]) -> dict[PortId, OpenedPort]:
        """One read. The document of a deleted session stays for a while, disowned."""
        pipeline: list[Document] = [
            {"$match": {"_id": {"$in": list(port_ids)}}},
            {"$lookup": {"from": "sessions", "localField": "session_id", "foreignField": "_id", "as": "sessions"}},
            {"$match": {"$expr": {"$in": ["$user_id", "$sessions.user_id"]}}},
            {"$unset": "sessions"},
        ]
        async with store_errors():
            found = await (await self._ports.aggregate(pipeline)).to_list()
        return {one["_id"]: _port(one) for one in found}

    async def _record_event(
        self, transaction: AsyncClientSession, session_id: SessionId, user_id: UserId, payload: StoredPayload
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
        run_id = session.get("active_run_id")
        events = number(session_id, session["last_seq"], session["updated_at"], run_id, [payload])
        await insert_events(self._database, transaction, events)
        return events


def _document(port: OpenedPort) -> Document:
    return {
        "_id": port.id,
        "session_id": port.session_id,
        "user_id": port.user_id,
        "port": port.port,
        "label": port.label,
        "opened_at": port.opened_at,
        "opened_by": port.opened_by,
    }


def _port(found: Document) -> OpenedPort:
    return OpenedPort(
        id=PortId(found["_id"]),
        session_id=SessionId(found["session_id"]),
        user_id=UserId(found["user_id"]),
        port=found["port"],
        label=found["label"],
        opened_at=found["opened_at"],
        opened_by=found["opened_by"],
    )
