"""A person's request for a compaction: recorded for the active run, or for a new one."""

from __future__ import annotations

import uuid

from pymongo import ReturnDocument
from pymongo.asynchronous.client_session import AsyncClientSession

from backend_api.agent.events import CompactionWanted, Event, RunQueued, StoredPayload
from backend_api.conversations.domain.entity import SessionStatus
from backend_api.conversations.domain.errors import NothingToCompactError, SessionNotFoundError
from backend_api.conversations.mongo.event_documents import insert_events, number
from backend_api.conversations.mongo.run_documents import message_origin, queued_run
from backend_api.conversations.mongo.run_queries import IS_FREE
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Database
from backend_api.kit.mongo.transactions import in_transaction


async def compact_session(
    database: Database, session_id: SessionId, user_id: UserId, wanted: CompactionWanted
) -> list[Event]:
    """Implements `RunLedger.compact`."""
    new_run, origin = uuid.uuid4().hex, message_origin()

    async def work(transaction: AsyncClientSession) -> list[Event]:
        session = await database["sessions"].find_one_and_update(
            {"_id": session_id, "user_id": user_id},
            [
                {
                    "$set": {
                        "last_seq": {"$add": ["$last_seq", {"$cond": [IS_FREE, 2, 1]}]},
                        "status": {"$cond": [IS_FREE, SessionStatus.QUEUED.value, "$status"]},
                        "active_run_id": {"$ifNull": ["$active_run_id", new_run]},
                        "updated_at": "$$NOW",
                    }
                }
            ],
            projection={"last_seq": 1, "updated_at": 1, "active_run_id": 1, "last_user_seq": 1},
            return_document=ReturnDocument.AFTER,
            session=transaction,
        )
        if session is None:
            raise SessionNotFoundError("There is no such session.")
        if not session.get("last_user_seq"):
            raise NothingToCompactError("There is nothing to sum up yet. Send a message first.")
        run_id, at, payloads = session["active_run_id"], session["updated_at"], list[StoredPayload]([wanted])
        if run_id == new_run:
            payloads.append(RunQueued(run_id=new_run, message_id=None, cause="compact"))
            run = queued_run(new_run, session_id, user_id, None, at, origin=origin)
            await database["runs"].insert_one(run, session=transaction)
        first = session["last_seq"] - len(payloads) + 1
        events = number(session_id, first, at, run_id, payloads)
        await insert_events(database, transaction, events)
        return events

    return await in_transaction(database, work)
