"""The migrations, in order. An existing one is never altered: stored data has been through it. They use the driver,
since a document class describes its own version, and these read earlier ones."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pymongo import UpdateOne

from backend_api.agent.events import Event, ToolFinished
from backend_api.agent.shortening import shorten
from backend_api.agent.thread import MAX_RESULT_CHARACTERS
from backend_api.conversations.domain.errors import SessionNotFoundError
from backend_api.conversations.mongo.event_documents import read_body, read_events
from backend_api.conversations.mongo.usage_documents import add_used
from backend_api.kit.errors import StoreUnavailableError
from backend_api.kit.mongo.database import Database, Document
from service_kit.migrations import Migration, StoredData
from service_kit.migrations import migrate as migrate_data

_BATCH = 100


async def _outputs_beside_their_events(database: Database) -> None:
    """Stores the text a model read of a long result, which used to be made from its body each time."""
    wanted: Document = {"type": "tool.finished", "output": {"$exists": False}, "data": {"$regex": r'"body":\{'}}
    batch: list[Document] = []
    async for document in database["events"].find(wanted, batch_size=_BATCH):
        batch.append(document)
        if len(batch) == _BATCH:
            await _set_outputs(database, batch)
            batch = []
    await _set_outputs(database, batch)


async def _set_outputs(database: Database, documents: list[Document]) -> None:
    changes: list[UpdateOne] = []
    for document in documents:
        try:
            (event,) = await read_events(database, [document])
        except SessionNotFoundError:
            continue  # a deletion was interrupted here, and continues later
        output = await _output(database, event)
        if output is not None:
            changes.append(UpdateOne({"_id": document["_id"]}, {"$set": {"output": output}}))
    if changes:
        await database["events"].bulk_write(changes, ordered=False)


async def _output(database: Database, event: Event) -> str | None:
    payload = event.payload
    if not isinstance(payload, ToolFinished) or payload.body is None:
        return None
    if not payload.body.media_type.startswith("text/"):
        return None
    body = await read_body(database, event.session_id, event.seq or 0)
    return None if body is None else shorten(body.content.decode("utf-8", "replace"), MAX_RESULT_CHARACTERS)


async def _sum_usage_of_runs(database: Database) -> None:
    """Adds sums of usage to runs, which used to have it only as JSON."""
    await add_used(database, {})


async def _count_stored_calls(database: Database) -> None:
    """Counts the stored model calls, which were not counted before."""
    sizes: dict[str, int] = {}
    wanted: Document = {"type": {"$in": ["llm.request", "llm.response"]}}
    async for document in database["events"].find(wanted, {"session_id": 1, "data": 1, "parts": 1}, batch_size=_BATCH):
        # An event in parts has no body beside it.
        body = None if document.get("parts") else json.loads(document["data"]).get("body")
        size = body["size"] if body else len(document["data"].encode()) * (1 + document.get("parts", 0))
        sizes[document["session_id"]] = sizes.get(document["session_id"], 0) + size
    for session_id, size in sizes.items():
        session = await database["sessions"].find_one({"_id": session_id, "user_id": {"$ne": ""}}, {"user_id": 1})
        if session is not None:
            counted = {"user_id": session["user_id"], "size": size}
            await database["kept_calls"].update_one({"_id": session_id}, {"$set": counted}, upsert=True)


MIGRATIONS = (
    Migration("what a model read of a result stands with its event", _outputs_beside_their_events),
    Migration("what a run used stands on it so that it can be summed up", _sum_usage_of_runs),
    Migration("what is kept of model calls is counted", _count_stored_calls),
)


async def migrate(database: Database, migrations: Sequence[Migration] = MIGRATIONS) -> int:
    """Migrates the data to this program's version and returns that. Raises `StoreUnavailableError`, also for data of a
    later version."""
    await migrate_data(
        StoredData(database=database, migrations=migrations, filled="sessions", error=StoreUnavailableError)
    )
    return len(migrations)
