"""Background commands in MongoDB: each is a record that one process at a time looks after."""

from __future__ import annotations

import uuid
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pymongo import ReturnDocument
from pymongo.asynchronous.client_session import AsyncClientSession

from backend_api.agent.events import BackgroundFinished, Event, FilesChanged, RunQueued, StoredPayload
from backend_api.agent.new_events import NewEvent
from backend_api.background.domain import (
    MAX_WAKES,
    BackgroundCommand,
    BackgroundNotFoundError,
    TooManyBackgroundError,
)
from backend_api.conversations.domain.entity import SessionStatus
from backend_api.conversations.mongo.event_documents import insert_recorded, number
from backend_api.conversations.mongo.run_documents import message_origin, queued_run
from backend_api.conversations.mongo.run_queries import IS_FREE
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Database, Document
from backend_api.kit.mongo.transactions import AbandonedError, in_transaction, store_errors
from contracts.tools import MAX_BACKGROUND_RUNNING

STARTS_WITHIN_S = 30.0
"""The time for a start; the call that starts a command is shorter."""


class MongoBackgroundCommands:
    """`BackgroundCommands`, by the database's clock."""

    def __init__(self, database: Database, *, starts_within_s: float = STARTS_WITHIN_S) -> None:
        # The driver: session, event and record change in one transaction, computed by the server.
        self._database = database
        self._commands = database["background_commands"]
        self._starts_within_ms = round(starts_within_s * 1000)

    async def begin(self, command: BackgroundCommand) -> None:
        """Starting calls of a session run one after the other, so that no other command begins between these two
        steps."""
        of_session = {"session_id": command.session_id, "open": True}
        stored: Document = {
            "session_id": {"$literal": command.session_id},
            "user_id": {"$literal": command.user_id},
            "call_id": {"$literal": command.call_id},
            "command": {"$literal": command.command},
            "generation": command.generation,
            "timeout_s": command.timeout_s,
            "began_at": "$$NOW",
            "look_at": {"$add": ["$$NOW", self._starts_within_ms]},
            "is_begun": False,
            "stop_wanted": False,
            "open": True,
        }
        async with store_errors():
            running = await self._commands.find(of_session, {"_id": 1}).limit(MAX_BACKGROUND_RUNNING).to_list()
            if len(running) >= MAX_BACKGROUND_RUNNING:
                raise TooManyBackgroundError.of([str(one["_id"]) for one in running])
            await self._commands.update_one({"_id": command.id}, [{"$set": stored}], upsert=True)

    async def confirm(self, background_id: str) -> None:
        """One write."""
        async with store_errors():
            change = {"is_begun": True, "began_at": "$$NOW", "look_at": "$$NOW"}
            await self._commands.update_one({"_id": background_id, "open": True}, [{"$set": change}])

    async def drop(self, background_id: str) -> None:
        """Delete it, unless it was settled."""
        async with store_errors():
            await self._commands.delete_one({"_id": background_id, "open": True})

    async def get(self, session_id: SessionId, background_id: str) -> BackgroundCommand:
        """One read."""
        async with store_errors():
            found = await self._read({"_id": background_id, "session_id": session_id}, 1)
        if not found:
            raise BackgroundNotFoundError("There is no such background command.")
        return found[0]

    async def of_session(self, session_id: SessionId, *, ended: int) -> list[BackgroundCommand]:
        """One read for each kind: an open one may have begun before many that ended."""
        async with store_errors():
            running = await self._read({"session_id": session_id, "open": True}, MAX_BACKGROUND_RUNNING * 2)
            over = await self._read({"session_id": session_id, "open": None}, ended) if ended else []
        return [*running, *over]

    async def request_end(self, session_id: SessionId, background_id: str | None = None) -> list[BackgroundCommand]:
        """Write only if there is something to end. A command that may not have begun yet is not polled any sooner."""
        wanted: Document = {"session_id": session_id, "open": True}
        if background_id is not None:
            wanted["_id"] = background_id
        async with store_errors():
            found = await self._read(wanted, MAX_BACKGROUND_RUNNING * 2)
            if found:
                look_at: Document = {"$cond": ["$is_begun", "$$NOW", "$look_at"]}
                await self._commands.update_many(wanted, [{"$set": {"stop_wanted": True, "look_at": look_at}}])
        return [replace(one, stop_wanted=True) for one in found]

    async def claim(self, *, lease_s: float, limit: int) -> list[BackgroundCommand]:
        """Read first: most polls find nothing, and then write nothing."""
        claimed: list[BackgroundCommand] = []
        due: Document = {"open": True, "$expr": {"$lte": ["$look_at", "$$NOW"]}}
        taken: Document = {"look_at": {"$add": ["$$NOW", round(lease_s * 1000)]}}
        async with store_errors():
            if await self._commands.find_one(due, {"_id": 1}) is None:
                return []
            while len(claimed) < limit:
                found = await self._commands.find_one_and_update(
                    due, [{"$set": taken}], sort=[("look_at", 1)], return_document=ReturnDocument.AFTER
                )
                if found is None:
                    break
                claimed.append(_command(found))
        return claimed

    async def release(self, background_id: str, *, for_s: float = 0.0) -> None:
        """One write."""
        later = {"look_at": {"$add": ["$$NOW", round(for_s * 1000)]}}
        async with store_errors():
            await self._commands.update_one({"_id": background_id, "open": True}, [{"$set": later}])

    async def settle(
        self, command: BackgroundCommand, told: NewEvent, *, wakes: bool, changed: FilesChanged | None = None
    ) -> list[Event]:
        """One transaction, of which the record is the first write: the second caller finds it closed."""
        new_run, origin = uuid.uuid4().hex, message_origin()
        payloads: list[StoredPayload] = [told.payload]
        if changed is not None:
            payloads.append(changed)

        async def work(transaction: AsyncClientSession) -> list[Event]:
            closed = await self._commands.find_one_and_update(
                {"_id": command.id, "open": True},
                [{"$set": _end_of(told)}, {"$unset": "look_at"}],
                session=transaction,
            )
            if closed is None:
                raise AbandonedError
            may_wake = wakes and not closed["stop_wanted"]
            session = await self._database["sessions"].find_one_and_update(
                {"_id": command.session_id, "user_id": command.user_id},
                [*([{"$set": _read_next(new_run)}] if may_wake else []), _numbered(new_run, len(payloads))],
                projection={"last_seq": 1, "updated_at": 1, "active_run_id": 1},
                return_document=ReturnDocument.AFTER,
                session=transaction,
            )
            if session is None:
                return []
            run_id, at = session.get("active_run_id"), session["updated_at"]
            queued = [RunQueued(run_id=new_run, message_id=None, cause="background")] if run_id == new_run else []
            if queued:
                run = queued_run(new_run, command.session_id, command.user_id, None, at, origin=origin)
                await self._database["runs"].insert_one(run, session=transaction)
            first = session["last_seq"] - len(payloads) - len(queued) + 1
            events = number(command.session_id, first, at, run_id, [*payloads, *queued])
            await insert_recorded(self._database, transaction, events, [told])
            return events

        with suppress(AbandonedError):
            return await in_transaction(self._database, work)
        return []

    async def _read(self, wanted: Document, limit: int) -> list[BackgroundCommand]:
        found = self._commands.find(wanted).sort("began_at", -1).limit(limit)
        return [_command(one) async for one in found]


def _end_of(told: NewEvent) -> Document:
    finished = told.payload
    assert isinstance(finished, BackgroundFinished)
    return {
        "open": None,
        "state": finished.state,
        "exit_code": finished.exit_code,
        "preview": {"$literal": finished.preview},
        "ended_at": "$$NOW",
        "read_by": {"$literal": finished.read_by},
    }


def _read_next(new_run: str) -> Document:
    """Changes to a session whose model is to read what follows: as for a message, but it begins at most `MAX_WAKES`
    runs."""
    may_wake: Document = {"$lt": [{"$ifNull": ["$background_wakes", 0]}, MAX_WAKES]}
    # The next run begins for an unread message, if there is one; else for this.
    has_unread: Document = {"$gt": [{"$size": {"$ifNull": ["$waiting", []]}}, 0]}
    message: Document = {"$cond": [has_unread, "$last_user_message_id", None]}

    def if_may_wake(value: Any, name: str) -> Document:
        return {"$cond": [may_wake, value, f"${name}"]}

    return {
        "last_user_seq": if_may_wake({"$add": ["$last_seq", 1]}, "last_user_seq"),
        "last_user_message_id": if_may_wake(message, "last_user_message_id"),
        "active_run_id": if_may_wake({"$ifNull": ["$active_run_id", new_run]}, "active_run_id"),
        "status": if_may_wake({"$cond": [IS_FREE, SessionStatus.QUEUED.value, "$status"]}, "status"),
        "background_wakes": {"$add": [{"$ifNull": ["$background_wakes", 0]}, {"$cond": [may_wake, 1, 0]}]},
    }


def _numbered(new_run: str, events: int) -> Document:
    """Changes that reserve numbers for the events that follow, and for one more if they begin a run."""
    taken: Document = {"$cond": [{"$eq": ["$active_run_id", new_run]}, events + 1, events]}
    return {"$set": {"last_seq": {"$add": ["$last_seq", taken]}, "updated_at": "$$NOW"}}


def _command(found: Document) -> BackgroundCommand:
    return BackgroundCommand(
        id=found["_id"],
        session_id=SessionId(found["session_id"]),
        user_id=UserId(found["user_id"]),
        call_id=found["call_id"],
        command=found["command"],
        generation=found["generation"],
        timeout_s=found["timeout_s"],
        began_at=found["began_at"],
        is_begun=found["is_begun"],
        stop_wanted=found["stop_wanted"],
        state=found.get("state"),
        exit_code=found.get("exit_code"),
        preview=found.get("preview") or "",
        ended_at=found.get("ended_at"),
        read_by=found.get("read_by"),
    )
