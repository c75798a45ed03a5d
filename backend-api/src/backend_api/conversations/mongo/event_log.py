"""The stored stream of a session, in MongoDB."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pymongo import ReturnDocument
from pymongo.asynchronous.client_session import AsyncClientSession

from backend_api.agent.events import Event, SandboxUpdated, StoredPayload
from backend_api.agent.new_events import Body
from backend_api.agent.path import WHOLE, Path
from backend_api.conversations.domain.errors import EventBodyNotFoundError, SessionNotFoundError
from backend_api.conversations.mongo.event_documents import insert_events, number, read_body, read_events, read_up_to
from backend_api.conversations.mongo.paths import on_path, read_path
from backend_api.conversations.ports import Entry
from backend_api.kit.ids import SessionId
from backend_api.kit.mongo.database import Database, Document
from backend_api.kit.mongo.transactions import in_transaction, store_errors

PAGES_AT_ONCE = 4
"""The driver holds up to 16 MB for a page, however little of it is used."""
_HEADS_S = 1.0
_USUAL_BYTES = 2000
_SHOWN = {"output": False}
"""Leaves out the texts that models read, which are not shown to readers."""


class MongoEventLog:
    """`EventLog` on the collections sessions, events and bodies."""

    def __init__(self, database: Database) -> None:
        # The driver: events are written in transactions, and read in pages limited by size, which Beanie would hold.
        self._database = database
        self._pages = asyncio.Semaphore(PAGES_AT_ONCE)

    async def append(self, session_id: SessionId, payloads: Sequence[StoredPayload]) -> list[Event]:
        """Numbers and stores the payloads in one transaction."""
        if not payloads:
            return []
        statuses = [payload.status for payload in payloads if isinstance(payload, SandboxUpdated)]
        sandbox = {"sandbox": statuses[-1]} if statuses else {}

        async def work(transaction: AsyncClientSession) -> list[Event]:
            session = await self._database["sessions"].find_one_and_update(
                {"_id": session_id, "user_id": {"$ne": ""}},
                [{"$set": {"last_seq": {"$add": ["$last_seq", len(payloads)]}, "updated_at": "$$NOW", **sandbox}}],
                projection={"last_seq": 1, "updated_at": 1},
                return_document=ReturnDocument.AFTER,
                session=transaction,
            )
            if session is None:
                raise SessionNotFoundError("There is no such session.")
            first = session["last_seq"] - len(payloads) + 1
            events = number(session_id, first, session["updated_at"], None, payloads)
            await insert_events(self._database, transaction, events)
            return events

        return await in_transaction(self._database, work)

    async def path(self, session_id: SessionId, *, up_to: int | None = None) -> Path:
        """Reads the path by `read_path`."""
        async with store_errors():
            return await read_path(self._database, session_id, up_to=up_to)

    async def read(
        self, session_id: SessionId, *, after: int, limit: int, most: int | None = None, path: Path = WHOLE
    ) -> list[Event]:
        """Reads one indexed range."""
        return await self._page(session_id, {"$gt": after}, 1, limit, most, path)

    async def read_entries(
        self, session_id: SessionId, *, after: int, limit: int, most: int | None = None, path: Path = WHOLE
    ) -> tuple[list[Entry], bool]:
        """Reads the same range with all fields."""
        batch = limit if most is None else max(1, min(limit, most // _USUAL_BYTES))
        async with store_errors():
            wanted = {"session_id": session_id, "seq": {"$gt": after}, **on_path(path)}
            cursor = self._database["events"].find(wanted, batch_size=batch).sort("seq", 1).limit(limit)
            documents, is_cut = await read_up_to(cursor, most)
            events = await read_events(self._database, documents)
        outputs = [document.get("output") for document in documents]
        entries = [Entry(event=event, output=output) for event, output in zip(events, outputs, strict=True)]
        return entries, len(entries) < limit and not is_cut

    async def read_back(
        self, session_id: SessionId, *, before: int, limit: int, most: int | None = None, path: Path = WHOLE
    ) -> list[Event]:
        """Reads the range from its end."""
        return (await self._page(session_id, {"$lt": before}, -1, limit, most, path))[::-1]

    async def _page(
        self, session_id: SessionId, seq: Document, direction: int, limit: int, most: int | None, path: Path
    ) -> list[Event]:
        batch = limit if most is None else max(1, min(limit, most // _USUAL_BYTES))
        async with store_errors(), self._pages:
            cursor = (
                self._database["events"]
                .find({"session_id": session_id, "seq": seq, **on_path(path)}, _SHOWN, batch_size=batch)
                .sort("seq", direction)
                .limit(limit)
            )
            documents, _ = await read_up_to(cursor, most)
            return await read_events(self._database, documents)

    async def heads(self, session_ids: Sequence[SessionId]) -> dict[SessionId, int]:
        """Reads by primary key with a short timeout: all silent streams wait for it."""
        async with store_errors(within_s=_HEADS_S):
            cursor = self._database["sessions"].find(
                {"_id": {"$in": session_ids}, "user_id": {"$ne": ""}}, projection={"last_seq": 1}
            )
            return {SessionId(found["_id"]): found["last_seq"] async for found in cursor}

    async def body(self, session_id: SessionId, seq: int) -> Body:
        """The body, joined from its parts."""
        async with store_errors():
            body = await read_body(self._database, session_id, seq)
        if body is None:
            raise EventBodyNotFoundError("This event has no body.")
        return body
