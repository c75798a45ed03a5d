"""Paths of sessions in MongoDB."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pymongo import ReturnDocument
from pymongo.asynchronous.client_session import AsyncClientSession
from pymongo.errors import DuplicateKeyError

from backend_api.agent.events import (
    BranchDeleted,
    Event,
    MessageCompleted,
    MessageUser,
    MessageWithdrawn,
    PathSelected,
    RunQueued,
    StoredPayload,
)
from backend_api.agent.path import path_after
from backend_api.branches.copies import copied_numbers, copy_bodies, copy_events
from backend_api.branches.domain import LoggedMessage, RequestRepeatedError, RunActiveError, Tree
from backend_api.branches.ports import Selection
from backend_api.branches.withdrawals import withdraw_message
from backend_api.conversations.domain.entity import Session, SessionStatus
from backend_api.conversations.domain.errors import MessageDiffersError, SessionNotFoundError, SessionQuotaError
from backend_api.conversations.mongo.event_documents import (
    find_latest,
    insert_events,
    is_repeated_message,
    is_repeated_request,
    is_sent,
    message_sent_before,
    number,
    read_events,
)
from backend_api.conversations.mongo.paths import read_withdrawn
from backend_api.conversations.mongo.run_documents import message_origin, queued_run
from backend_api.conversations.mongo.settings_marks import mark_new_session, settings_of_new_session
from backend_api.conversations.mongo.shown_messages import shown_after
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Database, Document
from backend_api.kit.mongo.transactions import in_transaction, store_errors

_SAID = {"type": {"$in": ["message.user", "message.completed"]}, "agent_id": None}
_SAYS_NOTHING = '"text":""'
_COPIED_S = 60.0


class MongoBranchStore:
    """`BranchStore` on the collections sessions, runs, events and bodies."""

    def __init__(self, database: Database) -> None:
        # The driver: events and runs are written in transactions.
        self._database = database
        self._events = database["events"]
        self._sessions = database["sessions"]

    async def tree(self, session_id: SessionId) -> Tree:
        """Reads numbers alone, but for the paths themselves."""
        async with store_errors():
            changes = {"session_id": session_id, "type": {"$in": ["path.selected", "branch.deleted"]}}
            events = await read_events(self._database, await self._events.find(changes).sort("seq", 1).to_list())
            wanted = {"session_id": session_id, **_SAID, "data": {"$not": re.compile(_SAYS_NOTHING)}}
            found = await self._events.find(wanted, {"_id": 0, "seq": 1, "type": 1}).sort("seq", 1).to_list()
            fired = {"session_id": session_id, "type": "schedule.fired"}
            sent = {one["seq"] + 1 async for one in self._events.find(fired, {"_id": 0, "seq": 1})}
            withdrawn = await read_withdrawn(self._database, session_id)
            head = await self._sessions.find_one({"_id": session_id}, {"last_seq": 1})
            after = await shown_after(self._database, session_id)
        return Tree(
            paths=[path_after(event, withdrawn) for event in events if event.payload.type == "path.selected"],
            said=[_logged(one, after, sent) for one in found if one["seq"] not in withdrawn],
            deleted=frozenset(one.payload.at_seq for one in events if isinstance(one.payload, BranchDeleted)),
            last_seq=(head or {}).get("last_seq", 0),
            whole=path_after(None, withdrawn),
        )

    async def message(self, session_id: SessionId, message_id: str) -> Event | None:
        """Found by a search in the documents' text: only this looks for a message by its id."""
        named = re.compile(re.escape(f'"message_id":"{message_id}"'))
        async with store_errors():
            wanted = {"session_id": session_id, **_SAID, "data": named}
            events = await read_events(self._database, await self._events.find(wanted).sort("seq", 1).to_list())
        return next((event for event in events if _id_of(event) == message_id), None)

    async def messages(
        self, session_id: SessionId, seqs: Sequence[int]
    ) -> Mapping[int, MessageUser | MessageCompleted]:
        """One read."""
        if not seqs:
            return {}
        async with store_errors():
            wanted = {"session_id": session_id, "seq": {"$in": list(seqs)}, **_SAID}
            events = await read_events(self._database, await self._events.find(wanted).to_list())
        said = ((event.seq or 0, event.payload) for event in events)
        return {seq: payload for seq, payload in said if isinstance(payload, MessageUser | MessageCompleted)}

    async def end_of_run(self, session_id: SessionId, run_id: str, after: int) -> int | None:
        """The next event of these types, if it ends the run."""
        types = {"$in": ["message.completed", "run.finished"]}
        wanted = {"session_id": session_id, "type": types, "agent_id": None, "seq": {"$gt": after}}
        async with store_errors():
            found = await self._events.find_one(wanted, {"seq": 1, "type": 1, "run_id": 1}, sort=[("seq", 1)])
        ends = found is not None and found["type"] == "run.finished" and found["run_id"] == run_id
        return found["seq"] if found is not None and ends else None

    async def select(self, session_id: SessionId, user_id: UserId, selection: Selection) -> list[Event]:
        """Writes session, events and run, as when a message is accepted."""
        new_run, origin = uuid.uuid4().hex, message_origin()
        payloads = _payloads(selection, new_run)
        said = selection.message
        sent_as = said.client_message_id if said is not None else None

        async def work(transaction: AsyncClientSession) -> list[Event] | None:
            owned = {"_id": session_id, "user_id": user_id}
            session = await self._sessions.find_one_and_update(
                owned | {"active_run_id": None},
                [{"$set": _changes(selection, new_run, len(payloads))}],
                projection={"last_seq": 1, "updated_at": 1},
                return_document=ReturnDocument.AFTER,
                session=transaction,
            )
            if session is None:
                if await self._sessions.find_one(owned, {"_id": 1}, session=transaction) is None:
                    raise SessionNotFoundError("There is no such session.")
                if sent_as is not None and await is_sent(self._database, session_id, sent_as, transaction):
                    return None
                raise RunActiveError("The agent is at work, or waits for you. Stop it first, or wait for its end.")
            at, first = session["updated_at"], session["last_seq"] - len(payloads) + 1
            run_id = new_run if selection.run_for else None
            events = number(session_id, first, at, None, payloads[:1])
            events += number(session_id, first + 1, at, run_id, payloads[1:])
            await insert_events(self._database, transaction, events)
            if selection.run_for is not None:
                run = queued_run(new_run, session_id, user_id, selection.run_for, at, origin=origin)
                await self._database["runs"].insert_one(run, session=transaction)
            return events

        try:
            if (events := await in_transaction(self._database, work)) is not None:
                return events
        except DuplicateKeyError as error:
            if is_repeated_request(error):
                raise RequestRepeatedError("This request was done already.") from error
            if not is_repeated_message(error):
                raise
        # The same edit was sent before, and its run may be at work.
        assert said is not None
        sent = await message_sent_before(self._database, session_id, sent_as)
        if isinstance(sent.payload, MessageUser):
            MessageDiffersError.unless_same(sent.payload, said)
        return [sent]

    async def withdraw(
        self, session_id: SessionId, user_id: UserId, message: Event, withdrawn: MessageWithdrawn
    ) -> list[Event]:
        """See `withdraw_message`."""
        return await withdraw_message(self._database, session_id, user_id, message, withdrawn)

    async def requested(self, session_id: SessionId, client_request_id: str) -> list[Event]:
        """One look by an index, and one at the event that follows."""
        named = {"session_id": session_id, "client_request_id": client_request_id}
        first = await find_latest(self._database, named)
        if first is None:
            return []
        async with store_errors():
            both = {"session_id": session_id, "seq": {"$in": [first, first + 1]}}
            events = await read_events(self._database, await self._events.find(both).sort("seq", 1).to_list())
        return [one for one in events if isinstance(one.payload, PathSelected | RunQueued)]

    async def is_begun(self, session_id: SessionId) -> bool:
        """One look."""
        async with store_errors():
            return await self._sessions.find_one({"_id": session_id}, {"_id": 1}) is not None

    async def delete(self, session_id: SessionId, deleted: BranchDeleted) -> list[Event]:
        """One event."""

        async def work(transaction: AsyncClientSession) -> list[Event]:
            session = await self._sessions.find_one_and_update(
                {"_id": session_id, "user_id": {"$ne": ""}},
                [{"$set": {"last_seq": {"$add": ["$last_seq", 1]}, "updated_at": "$$NOW"}}],
                projection={"last_seq": 1, "updated_at": 1},
                return_document=ReturnDocument.AFTER,
                session=transaction,
            )
            if session is None:
                raise SessionNotFoundError("There is no such session.")
            events = number(session_id, session["last_seq"], session["updated_at"], None, [deleted])
            await insert_events(self._database, transaction, events)
            return events

        return await in_transaction(self._database, work)

    async def copy(
        self, source: Session, target: Session, ranges: Sequence[Sequence[int]], *, at_most: int = 0
    ) -> None:
        """The new session counts as deleted until it is complete: what a crash leaves is swept away."""
        placeholder = _document(target) | {"user_id": "", "deleted_at": datetime.now(UTC)}
        async with store_errors(within_s=_COPIED_S):
            if at_most and await self._sessions.count_documents({"user_id": target.user_id}, limit=at_most) >= at_most:
                raise SessionQuotaError.of(at_most)
            try:
                await self._sessions.insert_one(placeholder)
            except DuplicateKeyError as error:
                raise RequestRepeatedError("This conversation has begun already.") from error
            numbers = await copied_numbers(self._database, source.id, ranges)
            last = await copy_events(self._database, source.id, target, numbers)
            await copy_bodies(self._database, source.id, target.id, numbers)
            asked = {"session_id": target.id, "type": "message.user"}
            found = await self._events.find_one(asked, {"seq": 1}, sort=[("seq", -1)])
            last_user = found["seq"] if found else 0

        async def work(transaction: AsyncClientSession) -> None:
            gone = await self._sessions.delete_one({"_id": target.id, "user_id": ""}, session=transaction)
            if not gone.deleted_count or not await self._sessions.find_one({"_id": source.id}, session=transaction):
                raise SessionNotFoundError("There is no such session.")
            settings = await settings_of_new_session(self._database, transaction, target.user_id)
            whole = _document(target) | {"last_seq": last, "read_seq": last, "last_user_seq": last_user} | settings
            await self._sessions.insert_one(whole, session=transaction)

        await in_transaction(self._database, work)
        async with store_errors():
            await mark_new_session(self._database, target.id, target.user_id)


def _payloads(selection: Selection, new_run: str) -> list[StoredPayload]:
    payloads: list[StoredPayload] = [selection.selected]
    if selection.message is not None:
        payloads.append(selection.message)
    if selection.run_for is not None:
        payloads.append(RunQueued(run_id=new_run, message_id=selection.run_for))
    return payloads


def _changes(selection: Selection, new_run: str, count: int) -> Document:
    """The changes to the session. Only the path's own messages count as unread by a model."""
    said_at = {"$add": ["$last_seq", 2]}
    message_id = selection.message.message_id if selection.message is not None else selection.run_for
    changes: Document = {
        "last_seq": {"$add": ["$last_seq", count]},
        "last_user_seq": said_at if selection.message is not None else selection.last_user,
        "waiting": [said_at] if selection.message is not None else [],
        "updated_at": "$$NOW",
        "active_at": "$$NOW",
    }
    if message_id is not None:
        changes |= {"last_user_message_id": {"$literal": message_id}, "last_user_origin": {"$literal": {}}}
    if selection.run_for is not None:
        changes |= {"active_run_id": new_run, "status": SessionStatus.QUEUED.value, "background_wakes": 0}
    return changes


def _logged(found: Document, after: Mapping[int, int], sent: set[int]) -> LoggedMessage:
    """`sent` are the numbers of messages that schedules sent: the event of the schedule stands before each."""
    seq = found["seq"]
    is_user = found["type"] == "message.user"
    return LoggedMessage(seq, is_user, after=after.get(seq, seq), begin=seq - 1 if is_user and seq in sent else seq)


def _id_of(event: Event) -> str:
    payload = event.payload
    return payload.message_id if isinstance(payload, MessageUser | MessageCompleted) else ""


def _document(session: Session) -> dict[str, Any]:
    return {
        "_id": session.id,
        "user_id": session.user_id,
        "title": session.title,
        "status": SessionStatus.IDLE.value,
        "model": session.model,
        "preset": session.preset,
        "options": session.options,
        "pinned": False,
        "archived": False,
        "folder_id": session.folder_id,
        "created_at": session.created_at,
        "updated_at": session.updated_at,
        "active_at": session.active_at,
        "last_seq": 0,
        "unread": 0,
        "failed": False,
        "active_run_id": None,
        "fence": 0,
        "waiting": [],
    }
