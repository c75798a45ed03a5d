"""Takes a message back that the agent has not read, in MongoDB."""

from __future__ import annotations

from typing import Any

from pymongo import ReturnDocument
from pymongo.asynchronous.client_session import AsyncClientSession

from backend_api.agent.events import Event, MessageUser, MessageWithdrawn
from backend_api.branches.domain import MessageReadError
from backend_api.conversations.domain.errors import SessionNotFoundError
from backend_api.conversations.mongo.event_documents import insert_events, number, read_events
from backend_api.conversations.mongo.paths import read_withdrawn
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Database, Document
from backend_api.kit.mongo.transactions import in_transaction

_READ_BY_THE_MODEL = ["message.user", "background.finished"]
"""Types of events that keep a run from its end until its model has read them (`last_user_seq`)."""


async def withdraw_message(
    database: Database, session_id: SessionId, user_id: UserId, message: Event, withdrawn: MessageWithdrawn
) -> list[Event]:
    """Stores the withdrawal in one transaction; empty if it was stored before. The session's document decides between
    this and the model: both this and `RunLedger.take_messages` write it, so that one of them comes first.

    Raises `SessionNotFoundError`, and `MessageReadError` unless a run is active that will read the message, other than
    the one that began for it.
    """
    seq = message.seq or 0

    async def work(transaction: AsyncClientSession) -> list[Event]:
        sessions = database["sessions"]
        session = await sessions.find_one({"_id": session_id, "user_id": user_id}, session=transaction)
        if session is None:
            raise SessionNotFoundError("There is no such session.")
        before = await read_withdrawn(database, session_id, transaction)
        if seq in before:
            return []
        waiting: list[int] = session.get("waiting") or []
        if seq not in waiting or seq <= session.get("taken_seq", 0) or await _is_begun_for(session, transaction):
            raise MessageReadError(
                "The agent has read this message already, or the work it belongs to is over. Stop the run, or undo the "
                "message once it has ended."
            )
        left = [one for one in waiting if one != seq]
        changes: dict[str, Any] = {"waiting": left, "withdrawn_seq": session["last_seq"] + 1}
        if session.get("last_user_seq") == seq:
            changes |= await _last_before(before | {seq}, left, transaction)
        session = await sessions.find_one_and_update(
            {"_id": session_id},
            [{"$set": {"last_seq": {"$add": ["$last_seq", 1]}, "updated_at": "$$NOW", **changes}}],
            projection={"last_seq": 1, "updated_at": 1, "active_run_id": 1},
            return_document=ReturnDocument.AFTER,
            session=transaction,
        )
        if session is None:
            raise SessionNotFoundError("There is no such session.")
        events = number(session_id, session["last_seq"], session["updated_at"], session["active_run_id"], [withdrawn])
        await insert_events(database, transaction, events)
        return events

    async def _is_begun_for(session: Document, transaction: AsyncClientSession) -> bool:
        """Whether no run is active, or the active one began for this message."""
        run_id = session.get("active_run_id")
        if run_id is None:
            return True
        run = await database["runs"].find_one({"_id": run_id}, {"message_id": 1}, session=transaction)
        return run is None or run["message_id"] == withdrawn.message_id

    async def _last_before(gone: frozenset[int], left: list[int], transaction: AsyncClientSession) -> dict[str, Any]:
        """What the model is to read last without the message: another message, or the result of a command."""
        wanted: Document = {
            "session_id": session_id,
            "agent_id": None,
            "type": {"$in": _READ_BY_THE_MODEL},
            "seq": {"$lt": seq, "$nin": [*gone]},
        }
        found = await database["events"].find(wanted, session=transaction).sort("seq", -1).limit(1).to_list()
        if left and (not found or found[0]["type"] != "message.user"):
            said = {"session_id": session_id, "seq": max(left)}
            found_said = await database["events"].find(said, session=transaction).to_list()
        else:
            found_said = [one for one in found if one["type"] == "message.user"]
        events = await read_events(database, found_said)
        ids = [event.payload.message_id for event in events if isinstance(event.payload, MessageUser)]
        last = max([one["seq"] for one in found] + left, default=0)
        return {"last_user_seq": last, "last_user_message_id": {"$literal": ids[0] if ids else None}}

    return await in_transaction(database, work)
