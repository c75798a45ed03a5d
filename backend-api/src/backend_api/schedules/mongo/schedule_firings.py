"""Sending of scheduled messages: schedule, session, run and events change together or not at all."""

from __future__ import annotations

import uuid
from contextlib import nullcontext, suppress

from pymongo import ReturnDocument
from pymongo.asynchronous.client_session import AsyncClientSession

from backend_api.agent.events import RunQueued, StoredPayload
from backend_api.conversations.domain.entity import RunId, SessionStatus
from backend_api.conversations.domain.errors import SessionNotFoundError, SessionQuotaError, TooManyWaitingError
from backend_api.conversations.mongo.documents import SessionDocument
from backend_api.conversations.mongo.event_documents import insert_events, number
from backend_api.conversations.mongo.run_documents import message_origin, queued_run
from backend_api.conversations.mongo.run_queries import ACCEPTED_FIELDS, IS_FREE, run_started_by, unseen_after
from backend_api.conversations.mongo.settings_marks import mark_new_session, settings_of_new_session
from backend_api.kit.ids import SessionId
from backend_api.kit.mongo.database import Database, Document
from backend_api.kit.mongo.transactions import AbandonedError, giving_way, in_transaction, store_errors
from backend_api.schedules.domain.entity import Schedule
from backend_api.schedules.domain.errors import AccountDisabledError, ScheduleNotFoundError
from backend_api.schedules.mongo.schedule_documents import missed_document
from backend_api.schedules.ports import Fired, Firing


class ScheduleFirings:
    """The first write of each transaction is the schedule's: of all processes that send the same occurrence one
    succeeds, and if a process died before its commit, another sends the message."""

    def __init__(self, database: Database, *, max_waiting: int, sessions_most: int) -> None:
        # The driver, as in all of the schedules.
        self._database = database
        self._max_waiting = max_waiting
        self._sessions_most = sessions_most

    async def fire(self, schedule: Schedule, firing: Firing) -> Fired | None:
        """See `Schedules.fire`."""
        is_new = schedule.session_id is None
        if is_new:
            await self._refuse_too_many_sessions(schedule)
        session_id, new_run = schedule.session_id or SessionId(uuid.uuid4().hex), uuid.uuid4().hex

        async def work(transaction: AsyncClientSession) -> Fired:
            present = await self._move(transaction, schedule, firing, session_id, new_run)
            await self._refuse_disabled(transaction, schedule)
            if is_new:
                await self._open_session(transaction, schedule, session_id, present)
            return await self._store_firing(transaction, schedule, firing, session_id, new_run)

        with suppress(AbandonedError):
            fired = await in_transaction(self._database, work)
            if is_new:
                async with store_errors():
                    await mark_new_session(self._database, session_id, schedule.user_id)
            return fired
        return None

    async def _move(
        self, transaction: AsyncClientSession, schedule: Schedule, firing: Firing, session_id: str, new_run: str
    ) -> Document:
        """Move to the next occurrence, if the schedule is unchanged since it was read."""
        is_due = firing.due_at is not None
        last_run = {
            "at": "$$NOW",
            "due_at": firing.due_at,
            "session_id": session_id,
            "run_id": new_run,
            "missed": {"$literal": missed_document(firing.missed)},
        }
        wanted: Document = {"_id": schedule.id, "user_id": schedule.user_id}
        change: Document = {"last_run": last_run}
        if is_due:
            wanted["version"] = schedule.version
            change |= {"version": schedule.version + 1, "missed": None}
            change |= {"next_at": firing.next_at, "look_at": firing.next_at}
        with giving_way() if is_due else nullcontext():
            present = await self._database["schedules"].find_one_and_update(
                wanted, [{"$set": change}], return_document=ReturnDocument.AFTER, session=transaction
            )
        if present is None and is_due:
            raise AbandonedError
        if present is None:
            raise ScheduleNotFoundError("There is no such schedule.")
        return present

    async def _refuse_disabled(self, transaction: AsyncClientSession, schedule: Schedule) -> None:
        user = await self._database["users"].find_one({"_id": schedule.user_id}, {"is_active": 1}, session=transaction)
        if user is not None and not user.get("is_active", True):
            raise AccountDisabledError("The account is disabled.")

    async def _refuse_too_many_sessions(self, schedule: Schedule) -> None:
        if not self._sessions_most:
            return
        async with store_errors():
            wanted = {"user_id": schedule.user_id}
            held = await self._database["sessions"].count_documents(wanted, limit=self._sessions_most)
        if held >= self._sessions_most:
            raise SessionQuotaError.of(self._sessions_most)

    async def _open_session(
        self, transaction: AsyncClientSession, schedule: Schedule, session_id: str, present: Document
    ) -> None:
        at = present["last_run"]["at"]
        document = SessionDocument(
            id=session_id,
            user_id=schedule.user_id,
            title="",
            status=SessionStatus.IDLE.value,
            model=schedule.model,
            preset=schedule.preset,
            options=schedule.options,
            created_at=at,
            updated_at=at,
            active_at=at,
        )
        settings = await settings_of_new_session(self._database, transaction, schedule.user_id)
        stored = document.model_dump(by_alias=True, exclude={"revision_id"}) | settings
        await self._database["sessions"].insert_one(stored, session=transaction)

    async def _store_firing(
        self, transaction: AsyncClientSession, schedule: Schedule, firing: Firing, session_id: SessionId, new_run: str
    ) -> Fired:
        """Store the message, and a run for it if none is active."""
        message, origin = firing.message, message_origin()
        session = await self._database["sessions"].find_one_and_update(
            {"_id": session_id, "user_id": schedule.user_id},
            [{"$set": _session_update(message.message_id, origin, new_run)}],
            projection=ACCEPTED_FIELDS,
            return_document=ReturnDocument.AFTER,
            session=transaction,
        )
        if session is None:
            raise SessionNotFoundError("There is no such session.")
        if 0 < self._max_waiting < len(session["waiting"]):
            raise TooManyWaitingError.of(self._max_waiting)
        run_id, at = session["active_run_id"], session["updated_at"]
        payloads: list[StoredPayload] = [firing.event_of(schedule), message]
        if run_id == new_run:
            payloads.append(RunQueued(run_id=run_id, message_id=message.message_id, cause="schedule"))
            run = queued_run(new_run, session_id, schedule.user_id, message.message_id, at, origin=origin)
            await self._database["runs"].insert_one(run, session=transaction)
        else:
            joined = {"$set": {"last_run.run_id": run_id}}
            await self._database["schedules"].update_one({"_id": schedule.id}, joined, session=transaction)
        events = number(session_id, session["last_user_seq"] - 1, at, run_id, payloads)
        await insert_events(self._database, transaction, events)
        return Fired(session_id=session_id, run_id=RunId(run_id), begins_run=run_id == new_run, events=events)


def _session_update(message_id: str, origin: Document, new_run: str) -> Document:
    """The update of a session, the same as for a person's message."""
    return {
        "last_seq": {"$add": ["$last_seq", {"$cond": [IS_FREE, 3, 2]}]},
        "last_user_seq": {"$add": ["$last_seq", 2]},
        "last_user_message_id": message_id,
        "last_user_origin": {"$literal": origin},
        "background_wakes": 0,
        "waiting": {"$concatArrays": [unseen_after(0), [{"$add": ["$last_seq", 2]}]]},
        **run_started_by(None),
        "active_run_id": {"$ifNull": ["$active_run_id", new_run]},
        "updated_at": "$$NOW",
        "active_at": "$$NOW",
    }
