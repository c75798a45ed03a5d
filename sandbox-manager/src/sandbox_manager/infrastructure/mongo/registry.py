"""Sandbox records in MongoDB."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

from pymongo import ReturnDocument
from pymongo.asynchronous.client_session import AsyncClientSession
from pymongo.errors import DuplicateKeyError, OperationFailure

from sandbox_manager.domain.errors import MarkLostError
from sandbox_manager.domain.ports import Change
from sandbox_manager.domain.sandbox import LONG_AGO, Sandbox
from sandbox_manager.infrastructure.mongo.documents import LeaseDocument, SandboxDocument, collection_of
from sandbox_manager.infrastructure.mongo.errors import registry_errors
from sandbox_manager.infrastructure.mongo.records import from_mongo, to_mongo, to_sandbox, update_of

_ADMISSION = "admission"
_ADMISSION_S = 10.0
_VISIBLE = [
    {"$match": {"$or": [{"operationType": "insert"}, {"updateDescription.updatedFields.revision": {"$exists": True}}]}}
]
_LOOK_MS = 1_000
# History lost, a fatal fault of the stream, and marks that never were.
_MARK_LOST = frozenset({9, 40585, 40647, 50811, 260, 280, 286})


class _SupersededError(Exception):
    """A record was changed by others in the middle of an admission."""


class MongoRegistry:
    """Expects Beanie to be initialised with this package's documents."""

    async def add(self, sandbox: Sandbox) -> bool:
        with registry_errors():
            try:
                await collection_of(SandboxDocument).insert_one(to_mongo(sandbox))
            except DuplicateKeyError:
                return False
        return True

    async def get(self, sandbox_id: str) -> Sandbox | None:
        with registry_errors():
            document = await SandboxDocument.get(sandbox_id)
        return to_sandbox(document) if document else None

    async def find(
        self, *, user_id: str | None = None, session_id: str | None = None, occupied: bool | None = None
    ) -> list[Sandbox]:
        wanted = {"user_id": user_id, "session_id": session_id, "occupied": occupied}
        query = {name: value for name, value in wanted.items() if value is not None}
        with registry_errors():
            documents = await SandboxDocument.find(query).sort("-created_at", "-generation").to_list()
        return [to_sandbox(document) for document in documents]

    async def save(self, sandbox: Sandbox) -> bool:
        query, update = update_of(sandbox, with_lease=False)
        with registry_errors():
            result = await collection_of(SandboxDocument).update_one(query, update)
        return result.matched_count == 1

    async def acquire_lease(self, sandbox_id: str, owner: str, ttl: timedelta) -> Sandbox | None:
        is_own = {"$eq": ["$lease_owner", owner]}
        is_free = {"$or": [is_own, {"$lte": ["$lease_until", "$$NOW"]}]}
        taken = {
            "lease_owner": owner,
            "lease_until": {"$add": ["$$NOW", ttl // timedelta(milliseconds=1)]},
            "version": {"$cond": [is_own, "$version", {"$add": ["$version", 1]}]},
        }
        with registry_errors():
            document = await collection_of(SandboxDocument).find_one_and_update(
                {"_id": sandbox_id, "$expr": is_free}, [{"$set": taken}], return_document=ReturnDocument.AFTER
            )
        return from_mongo(document) if document else None

    async def release_lease(self, sandbox_id: str, owner: str) -> None:
        with registry_errors():
            await collection_of(SandboxDocument).update_one(
                {"_id": sandbox_id, "lease_owner": owner}, {"$set": {"lease_owner": "", "lease_until": LONG_AGO}}
            )

    async def admit(self, decide: Callable[[list[Sandbox], datetime], list[Sandbox]]) -> list[Sandbox]:
        async def work(session: AsyncClientSession) -> list[Sandbox]:
            now = await self._lock_admission(session)
            cursor = collection_of(SandboxDocument).find({"occupied": True}, session=session).sort("created_at", 1)
            known = [from_mongo(document) async for document in cursor]
            changed = decide(known, now)
            return [await self._store(one, known, session) for one in changed]

        client = collection_of(SandboxDocument).database.client
        with registry_errors():
            async with client.start_session() as session:
                try:
                    return await session.with_transaction(work, max_commit_time_ms=int(_ADMISSION_S * 1000))
                except (DuplicateKeyError, _SupersededError):
                    return []

    async def _lock_admission(self, session: AsyncClientSession) -> datetime:
        """Lock admission, so that no other admission can commit from here on; returns the database's present."""
        written: Any = await collection_of(LeaseDocument).find_one_and_update(
            {"_id": _ADMISSION},
            [{"$set": {"owner": "", "until": "$$NOW"}}],
            upsert=True,
            return_document=ReturnDocument.AFTER,
            session=session,
        )
        return written["until"]

    async def _store(self, sandbox: Sandbox, known: list[Sandbox], session: AsyncClientSession) -> Sandbox:
        collection = collection_of(SandboxDocument)
        if all(one.id != sandbox.id for one in known):
            await collection.insert_one(to_mongo(sandbox), session=session)
            return sandbox
        query, update = update_of(sandbox, with_lease=True)
        document = await collection.find_one_and_update(
            query, update, return_document=ReturnDocument.AFTER, session=session
        )
        if document is None:
            raise _SupersededError
        return from_mongo(document)

    @asynccontextmanager
    async def changes(self, after: str | None) -> AsyncGenerator[AsyncIterator[Change]]:
        with registry_errors():
            try:
                stream = await collection_of(SandboxDocument).watch(
                    _VISIBLE,
                    full_document="updateLookup",
                    resume_after={"_data": after} if after else None,
                    max_await_time_ms=_LOOK_MS,
                )
            except OperationFailure as error:
                raise _domain_error(error) from error
        async with stream:
            yield _changes(stream)

    async def check(self) -> None:
        with registry_errors():
            await collection_of(SandboxDocument).database.command("ping")


async def _changes(stream: Any) -> AsyncIterator[Change]:
    with registry_errors():
        try:
            # One look at a time: a deadline holds for a call of the driver, and nothing may happen for hours.
            while stream.alive:
                event = await stream.try_next()
                if event is not None and event.get("fullDocument"):
                    yield Change(mark=event["_id"]["_data"], sandbox=from_mongo(event["fullDocument"]))
        except OperationFailure as error:
            raise _domain_error(error) from error


def _domain_error(error: OperationFailure) -> Exception:
    if error.code in _MARK_LOST:
        return MarkLostError(
            "The changes after this mark are no longer stored; list the sandboxes and follow from there."
        )
    return error
