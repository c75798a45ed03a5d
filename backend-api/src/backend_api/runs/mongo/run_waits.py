"""Runs that wait without a process: the waits are stored in the run, and end in one transaction with its session and
events. Two that end the same wait write the same documents, so the second sees the first one's result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NoReturn

from pymongo import ReturnDocument
from pymongo.asynchronous.client_session import AsyncClientSession

from backend_api.agent.approvals import Approval, PastDecision
from backend_api.agent.events import ApprovalCall, Event, Question, ResolvedBy, RunQueued, SessionUpdated
from backend_api.agent.new_events import NewEvent
from backend_api.agent.plans import Plan
from backend_api.agent.questions import Questions
from backend_api.agent.waits import (
    Answer,
    Ended,
    OpenWait,
    RefusedBy,
    Subject,
    Wait,
    WaitRefusedError,
    answered,
    end,
)
from backend_api.conversations.domain.entity import Lease, RunId, RunStatus, SessionStatus
from backend_api.conversations.domain.errors import (
    LeaseLostError,
    SessionNotFoundError,
    already_over,
    no_open_wait,
)
from backend_api.conversations.domain.session_changes import changed_names
from backend_api.conversations.mongo.event_documents import insert_recorded, number
from backend_api.conversations.mongo.run_queries import leased_run, leased_session
from backend_api.conversations.ports import Resolved
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Database, Document
from backend_api.kit.mongo.transactions import in_transaction, store_errors

_IS_DUE: Document = {"status": RunStatus.WAITING.value, "$expr": {"$lt": ["$wait_until", "$$NOW"]}}
_GONE: Document = {"status": RunStatus.STOPPED.value, "active": None, "waits": [], "wait_until": None, "inbox": []}
"""The update of a run whose session was deleted."""


def waits_of(run: Document) -> list[OpenWait]:
    """The open waits of a run."""
    return [
        OpenWait(id=wait["id"], subject=_subject(wait), deadline=wait["deadline"]) for wait in run.get("waits") or ()
    ]


def _subject(wait: Document) -> Subject:
    if wait["kind"] == "approval":
        calls = [ApprovalCall(**call) for call in wait["calls"]]
        return Approval(
            calls=calls,
            agent_id=wait.get("agent_id"),
            is_held_back=wait.get("is_held_back", False),
            decided=_past_decisions(wait["decided"]),
        )
    if wait["kind"] == "plan":
        return Plan(call_id=wait["call_id"], plan=wait["plan"])
    return Questions(call_id=wait["call_id"], questions=[Question(**question) for question in wait["questions"]])


def _past_decisions(decided: Sequence[Document]) -> list[PastDecision]:
    return [PastDecision(**one) for one in decided]


def _stored_waits(waits: Sequence[OpenWait]) -> list[Document]:
    return [{"id": wait.id, "deadline": wait.deadline, **asdict(wait.without_content().subject)} for wait in waits]


async def begin_waiting(database: Database, lease: Lease, waits: Sequence[Wait], read_seq: int) -> list[Event]:
    """See `RunLedger.wait`."""
    refusing: Document = {"$elemMatch": {"$or": [{"kind": "stop"}, {"kind": "redirect", "seq": {"$gt": read_seq}}]}}

    async def work(transaction: AsyncClientSession) -> list[Event]:
        session = await database["sessions"].find_one_and_update(
            leased_session(lease),
            [_moved(len(waits), status=SessionStatus.WAITING.value, fence=0)],
            return_document=ReturnDocument.AFTER,
            session=transaction,
        )
        if session is None:
            raise LeaseLostError("The run was taken over after an interruption, or it ended.")
        begun = [wait.opened(session["updated_at"]) for wait in waits]
        stored: Document = {
            "waits": _stored_waits(begun),
            "wait_until": min(wait.deadline for wait in begun),
            "status": RunStatus.WAITING.value,
            "worker": None,
            "lease_expires_at": None,
        }
        run = await database["runs"].find_one_and_update(
            leased_run(lease) | {"inbox": {"$not": refusing}},
            {"$set": stored, "$inc": {"handovers": 1}},
            session=transaction,
        )
        if run is None:
            raise WaitRefusedError(await _refusal_cause(database, transaction, lease))
        items = [wait.request_event() for wait in begun]
        return await _store(database, transaction, session, lease.run.id, items)

    return await in_transaction(database, work)


async def _refusal_cause(database: Database, transaction: AsyncClientSession, lease: Lease) -> RefusedBy:
    run = await database["runs"].find_one(leased_run(lease), projection={"inbox": 1}, session=transaction)
    if run is None:
        raise LeaseLostError("The run was taken over after an interruption, or it ended.")
    return "stop" if any(message["kind"] == "stop" for message in run.get("inbox") or ()) else "message"


async def end_waits(
    database: Database,
    transaction: AsyncClientSession,
    run: Document,
    ended: Sequence[OpenWait],
    queued: RunQueued,
    by: ResolvedBy,
    answer: Answer | None = None,
) -> list[Event]:
    """End these waits of a run, and queue it again if they are its last ones."""
    what = end(waits_of(run), ended, by, answer)
    change: Document = {
        "waits": _stored_waits(what.left),
        "wait_until": min((wait.deadline for wait in what.left), default=None),
        "status": (RunStatus.WAITING if what.left else RunStatus.QUEUED).value,
    }
    await database["runs"].update_one({"_id": run["_id"]}, {"$set": change, **over(what)}, session=transaction)
    items, moved = [*what.recorded], Document()
    if what.options:
        before = await _options_of(database, transaction, run["session_id"])
        options = {**before, **what.options}
        changed = changed_names(before, options)
        items.append(NewEvent(payload=SessionUpdated(options=options, changed_options=changed)))
        moved["options"] = options
    if not what.left:
        items.append(NewEvent(payload=queued))
    status = SessionStatus.WAITING if what.left else SessionStatus.QUEUED
    session = await database["sessions"].find_one_and_update(
        {"_id": run["session_id"], "active_run_id": run["_id"]},
        # Operators, because of the change feed: it would report options set by a pipeline by the names within them.
        {
            "$set": {"status": status.value, **moved},
            "$inc": {"last_seq": len(items)},
            "$currentDate": {"updated_at": True},
        },
        return_document=ReturnDocument.AFTER,
        session=transaction,
    )
    if session is None:
        raise SessionNotFoundError("There is no such session.")
    return await _store(database, transaction, session, run["_id"], items)


def over(what: Ended) -> Document:
    """The fields by which a run shows later that these waits are over."""
    decided = [
        {"id": wait.id, "kind": wait.subject.kind, "decided": [asdict(past) for past in wait.past]}
        for wait in what.over
        if wait.subject.kind != "question"
    ]
    return {
        "$push": {
            "resolved": {"$each": [wait.id for wait in what.over]},
            "decided": {"$each": decided},
        }
    }


async def _options_of(database: Database, transaction: AsyncClientSession, session_id: str) -> Document:
    found = await database["sessions"].find_one({"_id": session_id}, projection={"options": 1}, session=transaction)
    return (found or {}).get("options") or {}


class MongoWaits:
    """`Waits` on the collection runs."""

    def __init__(self, database: Database) -> None:
        # The driver: run, session and events change in one transaction, computed by the server.
        self._database = database
        self._runs = database["runs"]

    async def answer(self, session_id: SessionId, user_id: UserId, wait_id: str, answer: Answer) -> Resolved:
        """Answer a wait in one transaction."""

        async def work(transaction: AsyncClientSession) -> Resolved:
            owned = {"_id": session_id, "user_id": user_id}
            if await self._database["sessions"].find_one(owned, projection={"_id": 1}, session=transaction) is None:
                raise SessionNotFoundError("There is no such session.")
            of_session = {"session_id": session_id}
            of_kind = {"waits": {"$elemMatch": {"id": wait_id, "kind": answer.kind}}}
            run = await self._timed(transaction, of_session | of_kind | {"active": True})
            if run is None:
                await self._refuse(transaction, of_session | {"$or": [{"resolved": wait_id}, of_kind]}, wait_id, answer)
            waits = waits_of(run)
            wait = next(wait for wait in waits if wait.id == wait_id)
            if wait.deadline < run["now"]:
                raise already_over(answer, wait.lapsed)
            return await self._end(transaction, run, answered(wait, waits, answer, run["now"]), "user", answer)

        return await in_transaction(self._database, work)

    async def _timed(self, transaction: AsyncClientSession, wanted: Document) -> Document | None:
        """A run with the store's clock as its `now`."""
        steps: list[Document] = [{"$match": wanted}, {"$limit": 1}, {"$set": {"now": "$$NOW"}}]
        cursor = await self._runs.aggregate(steps, session=transaction)
        return next(iter(await cursor.to_list()), None)

    async def _refuse(self, transaction: AsyncClientSession, known: Document, wait_id: str, answer: Answer) -> NoReturn:
        """Raise the reason why this can't be answered."""
        run = await self._runs.find_one(known, projection={"decided": 1}, session=transaction)
        past = [one for one in (run or {}).get("decided") or () if one["id"] == wait_id]
        # Waits stored by an earlier version have no kind, and are approvals.
        kind = past[0].get("kind", "approval") if past else "question"
        if run is None or kind != answer.kind:
            raise no_open_wait(answer)
        raise already_over(answer, _past_decisions(past[0]["decided"]) if past else ())

    async def due(self) -> list[RunId]:
        """Runs with a wait that is due. Most looks find nothing, and this begins no transaction."""
        async with store_errors():
            found = await self._runs.find(_IS_DUE, projection={"_id": 1}).sort("wait_until", 1).to_list()
        return [RunId(run["_id"]) for run in found]

    async def expire(self, run_id: RunId) -> Resolved | None:
        """Expire a wait in one transaction."""

        async def work(transaction: AsyncClientSession) -> Resolved | None:
            run = await self._timed(transaction, _IS_DUE | {"_id": run_id})
            if run is None:
                return None
            its_session = {"_id": run["session_id"], "active_run_id": run_id}
            if await self._database["sessions"].find_one(its_session, {"_id": 1}, session=transaction) is None:
                await self._runs.update_one({"_id": run_id}, {"$set": _GONE}, session=transaction)
                return None
            due = [wait for wait in waits_of(run) if wait.deadline < run["now"]]
            return await self._end(transaction, run, due, "timeout")

        return await in_transaction(self._database, work)

    async def _end(
        self,
        transaction: AsyncClientSession,
        run: Document,
        ended: Sequence[OpenWait],
        by: ResolvedBy,
        answer: Answer | None = None,
    ) -> Resolved:
        queued = RunQueued(run_id=run["_id"], message_id=None, cause="answer")
        events = await end_waits(self._database, transaction, run, ended, queued, by, answer)
        return Resolved(
            session_id=SessionId(run["session_id"]),
            run_id=RunId(run["_id"]),
            is_queued=isinstance(events[-1].payload, RunQueued),
            events=events,
        )


def _moved(events: int, **values: Any) -> Document:
    """The update of a session by this many new events."""
    return {"$set": {"last_seq": {"$add": ["$last_seq", events]}, "updated_at": "$$NOW", **values}}


async def _store(
    database: Database, transaction: AsyncClientSession, session: Document, run_id: str, items: Sequence[NewEvent]
) -> list[Event]:
    first = session["last_seq"] - len(items) + 1
    events = number(session["_id"], first, session["updated_at"], run_id, [item.payload for item in items])
    await insert_recorded(database, transaction, events, items)
    return events
