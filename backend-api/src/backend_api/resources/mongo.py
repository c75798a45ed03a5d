"""Resources and tasks changed by the person, in MongoDB."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, ClassVar

import beanie
from pymongo import ASCENDING, IndexModel, ReturnDocument
from pymongo.asynchronous.client_session import AsyncClientSession

from backend_api.agent.events import Event, KeptResource, PortResource, ResourcesUpdated, StoredPayload, TasksUpdated
from backend_api.conversations.domain.errors import SessionNotFoundError
from backend_api.conversations.mongo.event_documents import insert_events, number
from backend_api.conversations.mongo.stored_tasks import AT_ONCE, last_tasks
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Database, Document
from backend_api.kit.mongo.transactions import in_transaction, store_errors
from backend_api.resources.domain import MAX_RESOURCES, Resource
from backend_api.resources.errors import ResourceNotFoundError, TooManyResourcesError


class ResourceDocument(beanie.Document):
    """Something that agent and person keep with a session."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- ids are opaque strings
    session_id: str
    user_id: str
    kind: str
    title: str
    link: str
    content: str
    added_by: str
    added_at: datetime
    updated_at: datetime
    version: int

    class Settings:
        name = "resources"
        indexes: ClassVar = [IndexModel([("session_id", ASCENDING), ("added_at", ASCENDING)])]


class MongoResources:
    """`Resources`. Every change writes the session, so concurrent changes of one session, and openings of ports, which
    the same event reports, run one after the other."""

    def __init__(self, database: Database) -> None:
        # The driver: resource, session and event change in one transaction.
        self._database = database
        self._resources = database["resources"]

    async def of_session(self, session_id: SessionId) -> list[Resource]:
        """One read."""
        async with store_errors():
            return await _read(self._database, session_id)

    async def add(self, session_id: SessionId, user_id: UserId, resource: Resource) -> list[Event]:
        """One transaction."""

        async def work(transaction: AsyncClientSession) -> list[Event]:
            session = await take_number(self._database, transaction, session_id, user_id)
            of_session = {"session_id": session_id}
            if await self._resources.count_documents(of_session, session=transaction) >= MAX_RESOURCES:
                raise TooManyResourcesError(
                    f"This conversation has {MAX_RESOURCES} resources, which is the maximum. Remove one first."
                )
            document = _fields(resource) | {"_id": resource.id, "session_id": session_id, "user_id": user_id}
            await self._resources.insert_one(document, session=transaction)
            return await self._record_event(transaction, session)

        return await in_transaction(self._database, work)

    async def change(
        self, session_id: SessionId, user_id: UserId, resource_id: str, change: Callable[[Resource], Resource]
    ) -> tuple[Resource, list[Event]]:
        """One transaction."""
        wanted = {"_id": resource_id, "session_id": session_id}

        async def work(transaction: AsyncClientSession) -> tuple[Resource, list[Event]]:
            session = await take_number(self._database, transaction, session_id, user_id)
            found = await self._resources.find_one(wanted, session=transaction)
            if found is None:
                raise _none()
            changed = change(_resource(found))
            fields = _fields(changed) | {"updated_at": session["updated_at"]}
            await self._resources.update_one(wanted, {"$set": fields}, session=transaction)
            events = await self._record_event(transaction, session)
            return _resource(found | fields), events

        return await in_transaction(self._database, work)

    async def remove(self, session_id: SessionId, user_id: UserId, resource_id: str) -> list[Event]:
        """One transaction."""

        async def work(transaction: AsyncClientSession) -> list[Event]:
            session = await take_number(self._database, transaction, session_id, user_id)
            wanted = {"_id": resource_id, "session_id": session_id}
            if not (await self._resources.delete_one(wanted, session=transaction)).deleted_count:
                raise _none()
            return await self._record_event(transaction, session)

        return await in_transaction(self._database, work)

    async def _record_event(self, transaction: AsyncClientSession, session: Document) -> list[Event]:
        ports = self._database["opened_ports"].find({"session_id": session["_id"]}, session=transaction)
        opened = [
            PortResource(
                id=one["_id"],
                port=one["port"],
                label=one["label"],
                opened_at=one["opened_at"],
                opened_by=one["opened_by"],
            )
            async for one in ports.sort([("opened_at", ASCENDING), ("_id", ASCENDING)])
        ]
        update = await whole(self._database, transaction, session["_id"], opened)
        return await _insert(self._database, transaction, session, [update])


async def whole(
    database: Database,
    transaction: AsyncClientSession,
    session_id: SessionId,
    ports: Sequence[PortResource | KeptResource],
) -> ResourcesUpdated:
    """The event with all resources of a session and its open ports, inside a transaction that has written the
    session."""
    kept = await _read(database, session_id, transaction)
    return ResourcesUpdated(resources=[*(one.listed() for one in kept), *ports])


class MongoPersonTasks:
    """`PersonTasks`."""

    def __init__(self, database: Database) -> None:
        # The driver: the tasks are read and the event is written in one transaction.
        self._database = database

    async def change(
        self, session_id: SessionId, user_id: UserId, change: Callable[[TasksUpdated], TasksUpdated]
    ) -> tuple[TasksUpdated, list[Event]]:
        """Change the tasks in one transaction. It can't interleave with a change of a run, as both write the
        session."""

        async def work(transaction: AsyncClientSession) -> tuple[TasksUpdated, list[Event]]:
            session = await take_number(self._database, transaction, session_id, user_id)
            update = change(await last_tasks(self._database, session_id, transaction, among=AT_ONCE))
            return update, await _insert(self._database, transaction, session, [update])

        return await in_transaction(self._database, work)


async def take_number(
    database: Database, transaction: AsyncClientSession, session_id: SessionId, user_id: UserId
) -> Document:
    """The session with the number of one event taken. Raises `SessionNotFoundError`."""
    session = await database["sessions"].find_one_and_update(
        {"_id": session_id, "user_id": user_id},
        [{"$set": {"last_seq": {"$add": ["$last_seq", 1]}, "updated_at": "$$NOW"}}],
        projection={"last_seq": 1, "updated_at": 1, "active_run_id": 1},
        return_document=ReturnDocument.AFTER,
        session=transaction,
    )
    if session is None:
        raise SessionNotFoundError("There is no such session.")
    return session


async def _insert(
    database: Database, transaction: AsyncClientSession, session: Document, payloads: Sequence[StoredPayload]
) -> list[Event]:
    run_id = session.get("active_run_id")
    events = number(session["_id"], session["last_seq"], session["updated_at"], run_id, payloads)
    await insert_events(database, transaction, events)
    return events


async def _read(
    database: Database, session_id: SessionId, transaction: AsyncClientSession | None = None
) -> list[Resource]:
    found = database["resources"].find({"session_id": session_id}, session=transaction)
    return [_resource(one) async for one in found.sort([("added_at", ASCENDING), ("_id", ASCENDING)])]


def _none() -> ResourceNotFoundError:
    return ResourceNotFoundError("This conversation has no such resource.")


_NAMES = ("kind", "title", "link", "content", "added_by", "added_at", "updated_at", "version")


def _fields(resource: Resource) -> Document:
    return {name: getattr(resource, name) for name in _NAMES}


def _resource(found: Document) -> Resource:
    fields: dict[str, Any] = {name: found[name] for name in _NAMES}
    return Resource(id=found["_id"], **fields)
