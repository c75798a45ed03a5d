"""Runs and leases in MongoDB: every writing call is one transaction that takes the session's next numbers."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from pymongo import ReturnDocument
from pymongo.asynchronous.client_session import AsyncClientSession
from pymongo.errors import DuplicateKeyError

from backend_api.domain.agent.events import Event, MessageUser, RunFinished, RunQueued, RunStarted, StoredPayload
from backend_api.domain.conversation.entity import (
    Accepted,
    Lease,
    Run,
    RunId,
    RunStatus,
    SessionId,
    SessionStatus,
    Taker,
)
from backend_api.domain.conversation.errors import LeaseLostError, SessionNotFoundError
from backend_api.domain.conversation.ports import Recorded
from backend_api.domain.identity.entity import UserId
from backend_api.infrastructure.mongo.connection import Database, Document
from backend_api.infrastructure.mongo.event_documents import insert_body, insert_events, number
from backend_api.infrastructure.mongo.run_documents import queued_run, run_from, taken_run
from backend_api.infrastructure.mongo.run_endings import RunEndings
from backend_api.infrastructure.mongo.transactions import in_transaction, store_errors

_IS_FREE = {"$eq": [{"$ifNull": ["$active_run_id", None]}, None]}


class MongoRunLedger(RunEndings):
    """`RunLedger`; the clock of leases is the server's (`$$NOW`), so a gateway's clock may jump."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._sessions = database["sessions"]
        self._runs = database["runs"]

    async def accept(
        self, session_id: SessionId, user_id: UserId, message: MessageUser, *, taker: Taker | None = None
    ) -> Accepted:
        """Session, events, run: three writes and a commit that waits for the journal."""
        new_run = uuid.uuid4().hex
        begun = _begun(taker)

        async def work(transaction: AsyncClientSession) -> Accepted:
            session = await self._sessions.find_one_and_update(
                {"_id": session_id, "user_id": user_id},
                [
                    {
                        "$set": {
                            "last_seq": {"$add": ["$last_seq", {"$cond": [_IS_FREE, 3 if taker else 2, 1]}]},
                            "last_user_seq": {"$add": ["$last_seq", 1]},
                            "last_user_message_id": {"$literal": message.message_id},
                            **begun,
                            "active_run_id": {"$ifNull": ["$active_run_id", new_run]},
                            "updated_at": "$$NOW",
                        }
                    }
                ],
                projection={"last_user_seq": 1, "active_run_id": 1, "updated_at": 1, "model": 1},
                return_document=ReturnDocument.AFTER,
                session=transaction,
            )
            if session is None:
                raise SessionNotFoundError("There is no such session.")
            run_id, at, seq = session["active_run_id"], session["updated_at"], session["last_user_seq"]
            payloads: list[StoredPayload] = [message]
            lease = None
            if run_id == new_run:
                run = queued_run(new_run, session_id, user_id, message.message_id, at)
                payloads.append(RunQueued(run_id=run_id, message_id=message.message_id))
                if taker is not None:
                    run = taken_run(run, taker)
                    payloads.append(_started(run, session.get("model") or taker.model))
                    lease = _lease(run, session)
                await self._runs.insert_one(run, session=transaction)
            events = number(session_id, seq, at, run_id, payloads)
            await insert_events(self._database, transaction, events)
            return Accepted(
                message_id=message.message_id,
                run_id=RunId(run_id),
                seq=seq,
                duplicate=False,
                events=tuple(events),
                lease=lease,
            )

        try:
            return await in_transaction(self._database, work)
        except DuplicateKeyError:
            return await self._first_acceptance(session_id, message)

    async def _first_acceptance(self, session_id: SessionId, message: MessageUser) -> Accepted:
        async with store_errors():
            event = await self._database["events"].find_one(
                {"session_id": session_id, "client_message_id": message.client_message_id}
            )
        if event is None:
            raise SessionNotFoundError("There is no such session.")
        run_id, seq = RunId(event["run_id"]), event["seq"]
        stored = self.message_of(event)
        return Accepted(message_id=stored, run_id=run_id, seq=seq, duplicate=True)

    async def claim(self, worker: str, *, lease_s: float, model: str) -> Lease | None:
        """Durable like everything readers see: a claim that was shown and lost would give its number and its fence to
        another one."""

        async def work(transaction: AsyncClientSession) -> tuple[Document, Document | None] | None:
            run = await self._runs.find_one_and_update(
                _claimable(),
                [{"$set": _taken_by(worker, lease_s)}],
                sort=[("created_at", 1)],
                return_document=ReturnDocument.AFTER,
                session=transaction,
            )
            if run is None:
                return None
            session = await self._sessions.find_one_and_update(
                {"_id": run["session_id"], "active_run_id": run["_id"]},
                [
                    {
                        "$set": {
                            "last_seq": {"$add": ["$last_seq", 1]},
                            "fence": run["fence"],
                            "status": SessionStatus.RUNNING.value,
                            **({"started_seq": {"$add": ["$last_seq", 1]}} if run["attempt"] == 1 else {}),
                            "updated_at": "$$NOW",
                        }
                    }
                ],
                projection={"last_seq": 1, "model": 1, "updated_at": 1},
                return_document=ReturnDocument.AFTER,
                session=transaction,
            )
            if session is None:
                await self._runs.update_one(
                    {"_id": run["_id"]},
                    {"$set": {"status": RunStatus.INTERRUPTED.value, "active": None}},
                    session=transaction,
                )
                return run, None
            started = _started(run, session.get("model") or model)
            events = number(run["session_id"], session["last_seq"], session["updated_at"], run["_id"], [started])
            await insert_events(self._database, transaction, events)
            return run, session

        while (taken := await in_transaction(self._database, work)) is not None:
            run, session = taken
            if session is not None:
                return _lease(run, session)
        return None

    async def renew(self, lease: Lease, *, lease_s: float) -> bool:
        """One compare-and-set on the run."""
        async with store_errors():
            run = await self._runs.find_one_and_update(
                {
                    "_id": lease.run.id,
                    "fence": lease.fence,
                    "worker": lease.worker,
                    "status": RunStatus.RUNNING.value,
                },
                [{"$set": {"lease_expires_at": {"$add": ["$$NOW", round(lease_s * 1000)]}}}],
                projection={"stop_requested": 1},
                return_document=ReturnDocument.AFTER,
            )
        if run is None:
            raise LeaseLostError("Another worker took the run over, or it ended.")
        return bool(run["stop_requested"])

    async def record(self, lease: Lease, items: Sequence[Recorded]) -> list[Event]:
        """The fence is checked by the same write that takes the numbers."""
        if not items:
            return []

        async def work(transaction: AsyncClientSession) -> list[Event]:
            session = await self._sessions.find_one_and_update(
                self.held_by(lease),
                [{"$set": {"last_seq": {"$add": ["$last_seq", len(items)]}, "updated_at": "$$NOW"}}],
                projection={"last_seq": 1, "updated_at": 1},
                return_document=ReturnDocument.AFTER,
                session=transaction,
            )
            if session is None:
                raise LeaseLostError("Another worker took the run over, or it ended.")
            first = session["last_seq"] - len(items) + 1
            payloads = [item.payload for item in items]
            events = number(lease.run.session_id, first, session["updated_at"], lease.run.id, payloads)
            await insert_events(self._database, transaction, events)
            for event, item in zip(events, items, strict=True):
                if item.body is not None:
                    await insert_body(self._database, transaction, event.session_id, event.seq, item.body)
            return events

        return await in_transaction(self._database, work)

    async def finish(self, lease: Lease, finished: RunFinished, *, seen_seq: int) -> Event | None:
        """See `RunEndings`."""
        return await self.end(lease, finished, seen_seq)

    async def request_stop(self, session_id: SessionId, user_id: UserId) -> Run | None:
        """See `RunEndings`."""
        return await self.mark_stop(session_id, user_id)

    async def get(self, run_id: RunId) -> Run | None:
        """One run."""
        async with store_errors():
            document = await self._runs.find_one({"_id": run_id})
        return run_from(document) if document else None


def _begun(taker: Taker | None) -> Document:
    """What a session becomes when its run begins; as it was where one is active."""
    if taker is None:
        return {"status": {"$cond": [_IS_FREE, SessionStatus.QUEUED.value, "$status"]}}
    return {
        "status": {"$cond": [_IS_FREE, SessionStatus.RUNNING.value, "$status"]},
        "fence": {"$cond": [_IS_FREE, 1, "$fence"]},
        "started_seq": {"$cond": [_IS_FREE, {"$add": ["$last_seq", 3]}, "$started_seq"]},
    }


def _started(run: Document, model: str) -> RunStarted:
    return RunStarted(
        run_id=run["_id"], message_id=run["message_id"], model=model, worker=run["worker"], attempt=run["attempt"]
    )


def _lease(run: Document, session: Document) -> Lease:
    return Lease(
        run=run_from(run),
        worker=run["worker"],
        fence=run["fence"],
        expires_at=run["lease_expires_at"],
        resumed=run["attempt"] > 1,
        model=session.get("model"),
    )


def _claimable() -> Document:
    lapsed = {"$expr": {"$lt": ["$lease_expires_at", "$$NOW"]}}
    return {"$or": [{"status": RunStatus.QUEUED.value}, {"status": RunStatus.RUNNING.value, **lapsed}]}


def _taken_by(worker: str, lease_s: float) -> dict[str, Any]:
    return {
        "status": RunStatus.RUNNING.value,
        "worker": {"$literal": worker},
        "fence": {"$add": ["$fence", 1]},
        "attempt": {"$add": ["$attempt", 1]},
        "lease_expires_at": {"$add": ["$$NOW", round(lease_s * 1000)]},
        "started_at": {"$ifNull": ["$started_at", "$$NOW"]},
    }
