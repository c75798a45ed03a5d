"""`Deletions` in MongoDB: the session's document stays, without a user, until nothing else is left of it."""

from __future__ import annotations

import time
from typing import Any, cast

from pymongo.asynchronous.client_session import AsyncClientSession

from backend_api.conversations.domain.deletions import Deleted
from backend_api.conversations.mongo.documents import (
    BodyDocument,
    CallQuotaDocument,
    EventDocument,
    EventPartDocument,
    RunDocument,
    SessionDocument,
)
from backend_api.conversations.mongo.shared_bodies import remove_unused
from backend_api.conversations.mongo.usage_documents import add_used
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.beanie_updates import find_one_and_update
from backend_api.kit.mongo.database import Database, Document
from backend_api.kit.mongo.transactions import in_transaction, store_errors

_REMOVED_S = 300.0
"""Timeout, in seconds: deleting all contents of a large session takes a while."""
_AT_ONCE = 200
_OF_OTHER_CONTEXTS = (
    "background_commands",
    "opened_ports",
    "resources",
    "drafts",
    "queued_messages",
    "shares",
    "share_parts",
    "folder_placements",
    "corpus_files",
    "search_messages",
    "search_marks",
)
_SWEPT_EVERY_S = 900.0
DUE_S = 30.0
"""Longer than a call to the manager that was under way when the session was deleted is retried."""


class MongoDeletions:
    """Claims by the database's clock, so that only one process at a time works on each deletion."""

    def __init__(self, *, due_s: float = DUE_S) -> None:
        self._due_ms = round(due_s * 1000)
        self._next_sweep = 0.0

    async def claim_next(self) -> Deleted | None:
        long_ago = {"$subtract": ["$$NOW", self._due_ms]}
        async with store_errors():
            found = await find_one_and_update(
                SessionDocument,
                {"user_id": "", "$expr": {"$lte": ["$deleted_at", long_ago]}},
                {"$currentDate": {"deleted_at": True}},
            )
        if found is None:
            await self._sweep_shared_bodies()
            return None
        return Deleted(session_id=SessionId(found.id), user_id=UserId(found.owner or ""))

    async def _sweep_shared_bodies(self) -> None:
        """Removes unused shared bodies, at most once in `_SWEPT_EVERY_S`."""
        if time.monotonic() < self._next_sweep:
            return
        self._next_sweep = time.monotonic() + _SWEPT_EVERY_S
        async with store_errors():
            await remove_unused(_database())

    async def finish(self, session_id: SessionId) -> None:
        async with store_errors(within_s=_REMOVED_S):
            await remove_contents(session_id)
            await SessionDocument.find_one({"_id": session_id, "user_id": ""}).delete()


async def remove_contents(session_id: SessionId) -> None:
    """Removes all of a session but its document and the usage of its runs."""
    await _keep_usage(session_id)
    # The driver: data of other modules is deleted even if the deployment no longer has the module.
    database = _database()
    await RunDocument.find({"session_id": session_id}).delete()
    for name in _OF_OTHER_CONTEXTS:
        await database[name].delete_many({"session_id": session_id})
    for document in (BodyDocument, EventPartDocument, EventDocument):
        await document.find({"session_id": session_id}).delete()
    await CallQuotaDocument.find({"_id": session_id}).delete()
    # Its schedules were written by the user and stay visible, but send nothing any more.
    pause: Document = {"paused": True, "pause_reason": "session_deleted", "next_at": None}
    change = {"$set": pause, "$unset": {"look_at": ""}, "$inc": {"version": 1}}
    await database["schedules"].update_many({"session_id": session_id, "pause_reason": None}, change)


def _database() -> Database:
    return cast("Database", cast("Any", RunDocument).get_pymongo_collection().database)


async def _keep_usage(session_id: SessionId) -> None:
    """Moves each run's usage in one transaction, so that it counts once, even if this is interrupted."""
    # The driver: Beanie has no transactions of its own.
    database = _database()
    sessions, runs, past = database["sessions"], database["runs"], database["past_usage"]

    async def move_ended(transaction: AsyncClientSession) -> int:
        wanted = {"session_id": session_id, "used": {"$exists": True}}
        found = await runs.find(wanted, session=transaction).limit(_AT_ONCE).to_list()
        if found:
            await past.insert_many([_past_usage(run, run["_id"], run["user_id"]) for run in found], session=transaction)
            await runs.delete_many({"_id": {"$in": [run["_id"] for run in found]}}, session=transaction)
        return len(found)

    async def move_cut(transaction: AsyncClientSession) -> None:
        wanted = {"_id": session_id, "using.run_id": {"$exists": True}}
        found = await sessions.find_one_and_update(wanted, {"$unset": {"using": ""}}, session=transaction)
        # A run ended by a process of an earlier version may be in both places.
        if found is not None and not await runs.count_documents(
            {"_id": found["using"]["run_id"], "used": {"$exists": True}}, limit=1, session=transaction
        ):
            using = found["using"]
            user_id = found.get("owner") or found["user_id"]
            await past.insert_one(_past_usage(using, using["run_id"], user_id), session=transaction)

    await add_used(database, {"session_id": session_id})
    await in_transaction(database, move_cut)
    while await in_transaction(database, move_ended):
        pass


def _past_usage(used: Document, run_id: str, user_id: str) -> Document:
    return {"_id": run_id, "user_id": user_id, "created_at": used["created_at"], "used": used["used"]}
