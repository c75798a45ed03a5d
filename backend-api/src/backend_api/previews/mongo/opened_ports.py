"""Opened ports in MongoDB."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from pymongo import ASCENDING, ReturnDocument
from pymongo.asynchronous.client_session import AsyncClientSession

from backend_api.agent.events import Event
from backend_api.conversations.domain.errors import SessionNotFoundError
from backend_api.conversations.mongo.event_documents import insert_events, number
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Database, Document
from backend_api.kit.mongo.transactions import AbandonedError, in_transaction, store_errors
from backend_api.previews.domain.change_events import EVENTS_OF_A_CHANGE, ChangeEvents, closing_events, opening_events
from backend_api.previews.domain.entity import OpenedPort, PortId
from backend_api.previews.domain.errors import PortNotFoundError, TooManyPortsError
from backend_api.resources.mongo import whole


class MongoOpenedPorts:
    """`OpenedPorts`."""

    def __init__(self, database: Database) -> None:
        # The driver: port, session and event change in one transaction.
        self._database = database
        self._ports = database["opened_ports"]

    async def open(self, port: OpenedPort, *, at_most: int) -> tuple[OpenedPort, list[Event]]:
        """Store the port. Every change writes the session, so concurrent changes of one session run one after the
        other."""
        wanted: Document = {"session_id": port.session_id, "port": port.port}

        async def work(transaction: AsyncClientSession) -> list[Event]:
            session = await self._write_session(transaction, port.session_id, port.user_id)
            if await self._ports.find_one(wanted, {"_id": 1}, session=transaction) is not None:
                raise AbandonedError
            of_session = {"session_id": port.session_id}
            if await self._ports.count_documents(of_session, limit=at_most, session=transaction) >= at_most:
                raise TooManyPortsError.of(at_most)
            await self._ports.insert_one(_document(port), session=transaction)
            # Read back as stored: a time is cut to milliseconds, which decides the order.
            now_open = await self._read(port.session_id, transaction)
            return await self._record_events(transaction, session, opening_events(port, now_open))

        with suppress(AbandonedError):
            return port, await in_transaction(self._database, work)
        async with store_errors():
            found = await self._ports.find_one(wanted)
        if found is None:
            raise PortNotFoundError("It was closed in the meantime. Open it again.")
        return _port(found), []

    async def close(self, session_id: SessionId, user_id: UserId, port_id: PortId) -> list[Event]:
        """One transaction."""

        async def work(transaction: AsyncClientSession) -> list[Event]:
            wanted = {"_id": port_id, "session_id": session_id, "user_id": user_id}
            found = await self._ports.find_one_and_delete(wanted, session=transaction)
            if found is None:
                raise PortNotFoundError("This port is not open.")
            session = await self._write_session(transaction, session_id, user_id)
            now_open = await self._read(session_id, transaction)
            return await self._record_events(transaction, session, closing_events(_port(found), now_open))

        return await in_transaction(self._database, work)

    async def of_session(self, session_id: SessionId) -> list[OpenedPort]:
        """One read."""
        async with store_errors():
            return await self._read(session_id)

    async def present(self, port_ids: Collection[PortId]) -> dict[PortId, OpenedPort]:
        """Read once. The document of a deleted session stays for a while, without an owner."""
        pipeline: list[Document] = [
            {"$match": {"_id": {"$in": list(port_ids)}}},
            {"$lookup": {"from": "sessions", "localField": "session_id", "foreignField": "_id", "as": "sessions"}},
            {"$match": {"$expr": {"$in": ["$user_id", "$sessions.user_id"]}}},
            {"$unset": "sessions"},
        ]
        async with store_errors():
            found = await (await self._ports.aggregate(pipeline)).to_list()
        return {one["_id"]: _port(one) for one in found}

    async def _read(self, session_id: SessionId, transaction: AsyncClientSession | None = None) -> list[OpenedPort]:
        found = self._ports.find({"session_id": session_id}, session=transaction)
        return [_port(one) async for one in found.sort([("opened_at", ASCENDING), ("_id", ASCENDING)])]

    async def _write_session(self, transaction: AsyncClientSession, session_id: SessionId, user_id: UserId) -> Document:
        """The session, with the numbers of a change's events taken: `last_seq` is that of the last one."""
        session = await self._database["sessions"].find_one_and_update(
            {"_id": session_id, "user_id": user_id},
            [{"$set": {"last_seq": {"$add": ["$last_seq", EVENTS_OF_A_CHANGE]}, "updated_at": "$$NOW"}}],
            projection={"last_seq": 1, "updated_at": 1, "active_run_id": 1},
            return_document=ReturnDocument.AFTER,
            session=transaction,
        )
        if session is None:
            raise SessionNotFoundError("There is no such session.")
        return session

    async def _record_events(
        self, transaction: AsyncClientSession, session: Document, changes: ChangeEvents
    ) -> list[Event]:
        first = session["last_seq"] - EVENTS_OF_A_CHANGE + 1
        change, ports = changes
        told = [change, await whole(self._database, transaction, session["_id"], ports.resources)]
        events = number(session["_id"], first, session["updated_at"], session.get("active_run_id"), told)
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
