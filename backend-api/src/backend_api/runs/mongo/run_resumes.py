"""Runs that begin without a message."""

from __future__ import annotations

import uuid

from pymongo import ReturnDocument
from pymongo.asynchronous.client_session import AsyncClientSession

from backend_api.agent.events import ContextNote, Event, RunQueued
from backend_api.conversations.domain.entity import RunId, RunStatus, SessionStatus
from backend_api.conversations.domain.errors import NothingToResumeError, SessionNotFoundError
from backend_api.conversations.mongo.event_documents import insert_events, number
from backend_api.conversations.mongo.run_documents import message_origin, queued_run
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Database
from backend_api.kit.mongo.transactions import in_transaction

RESUMABLE = [RunStatus.FAILED.value, RunStatus.STOPPED.value, RunStatus.INTERRUPTED.value]


async def resume_run(
    database: Database, session_id: SessionId, user_id: UserId, run_id: RunId, note: ContextNote
) -> list[Event]:
    """See `RunLedger.resume`. Two at once write the same session, so one of them finds it active."""
    new_run, origin = uuid.uuid4().hex, message_origin()

    async def work(transaction: AsyncClientSession) -> list[Event]:
        owned = {"_id": session_id, "user_id": user_id}
        session = await database["sessions"].find_one_and_update(
            owned | {"active_run_id": None},
            [
                {
                    "$set": {
                        "last_seq": {"$add": ["$last_seq", 2]},
                        "active_run_id": new_run,
                        "status": SessionStatus.QUEUED.value,
                        "updated_at": "$$NOW",
                    }
                }
            ],
            projection={"last_seq": 1, "updated_at": 1},
            return_document=ReturnDocument.AFTER,
            session=transaction,
        )
        if session is None:
            if await database["sessions"].find_one(owned, projection={"_id": 1}, session=transaction) is None:
                raise SessionNotFoundError("There is no such session.")
            raise NothingToResumeError("A run of this session has not ended yet. Wait for its end, or stop it first.")
        last = await database["runs"].find_one(
            {"session_id": session_id}, sort=[("created_at", -1)], session=transaction
        )
        if last is None or last["_id"] != run_id or last["status"] not in RESUMABLE:
            raise NothingToResumeError("Only the session's last run can be resumed, and only if it did not complete.")
        at = session["updated_at"]
        queued = RunQueued(run_id=new_run, message_id=None, cause="resume")
        events = number(session_id, session["last_seq"] - 1, at, new_run, [note, queued])
        await insert_events(database, transaction, events)
        run = queued_run(new_run, session_id, user_id, None, at, origin=origin)
        await database["runs"].insert_one(run, session=transaction)
        return events

    return await in_transaction(database, work)
