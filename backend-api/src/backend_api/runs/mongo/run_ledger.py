"""Runs and leases in MongoDB: every writing call is one transaction that takes the session's next numbers."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from typing import cast

from pymongo import ReturnDocument
from pymongo.asynchronous.client_session import AsyncClientSession
from pymongo.errors import DuplicateKeyError

from backend_api.agent.events import (
    CompactionWanted,
    ContextNote,
    Event,
    MessageUser,
    RunQueued,
    StoredPayload,
    TasksUpdated,
)
from backend_api.agent.new_events import NewEvent
from backend_api.agent.waits import Wait
from backend_api.conversations.domain.entity import (
    Accepted,
    Claimant,
    InboxMessage,
    Lease,
    Run,
    RunId,
    RunStatus,
    SessionStatus,
)
from backend_api.conversations.domain.errors import (
    LeaseLostError,
    MessageDiffersError,
    NotAloneError,
    SessionNotFoundError,
    TasksEditedError,
    TooManyWaitingError,
)
from backend_api.conversations.mongo.event_documents import (
    insert_events,
    insert_recorded,
    is_repeated_message,
    is_sent,
    message_sent_before,
    number,
)
from backend_api.conversations.mongo.heartbeats import Heartbeats
from backend_api.conversations.mongo.run_compactions import compact_session
from backend_api.conversations.mongo.run_documents import (
    claimed_run,
    message_origin,
    put_in_inbox,
    queued_run,
    run_from,
)
from backend_api.conversations.mongo.run_queries import (
    ACCEPTED_FIELDS,
    HAS_LAPSED,
    IS_FREE,
    TAKEN_FIELDS,
    assigned_to,
    claimable,
    claimed_by,
    lease_of,
    leased_run,
    leased_session,
    more_unread,
    run_started_by,
    started_of,
    unconfirmed,
    unhandled,
    unseen_after,
    users_with,
)
from backend_api.conversations.mongo.stored_tasks import last_tasks
from backend_api.conversations.mongo.usage_documents import using_of
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Database, Document
from backend_api.kit.mongo.transactions import AbandonedError, giving_way, in_transaction, store_errors
from backend_api.runs.mongo.run_endings import RunEndings
from backend_api.runs.mongo.run_resumes import resume_run
from backend_api.runs.mongo.run_waits import begin_waiting, end_waits, waits_of


class MongoRunLedger(RunEndings):
    """`RunLedger`; the clock of leases is the server's (`$$NOW`), so a gateway's clock may jump.

    A user with `runs_per_user` runs at work gets no further one begun, but for those claimed at the same moment; 0
    means no limit. A lapsed run is taken over all the same, as it counts already. A session has at most `max_waiting`
    messages that no model has read.
    """

    def __init__(self, database: Database, *, runs_per_user: int = 0, max_waiting: int = 0) -> None:
        super().__init__(database)  # and why it is the driver's
        self._runs_per_user = runs_per_user
        self._max_waiting = max_waiting
        self._heartbeats = Heartbeats(self._runs)

    async def accept(
        self,
        session_id: SessionId,
        user_id: UserId,
        message: MessageUser,
        *,
        claimant: Claimant | None = None,
        interrupt: bool = False,
        alone: bool = False,
    ) -> Accepted:
        """Session, events, run: three writes and a commit that waits for the journal."""
        new_run = uuid.uuid4().hex
        if claimant is not None and await self._is_at_limit(user_id):
            claimant = None
        begun = run_started_by(claimant)
        origin, asked_at = message_origin(), time.monotonic()

        async def work(transaction: AsyncClientSession) -> Accepted:
            session = await self._sessions.find_one_and_update(
                {"_id": session_id, "user_id": user_id} | ({"active_run_id": None} if alone else {}),
                [
                    {
                        "$set": {
                            "last_seq": {"$add": ["$last_seq", {"$cond": [IS_FREE, 3 if claimant else 2, 1]}]},
                            "last_user_seq": {"$add": ["$last_seq", 1]},
                            "last_user_message_id": {"$literal": message.message_id},
                            "last_user_origin": {"$literal": origin},
                            "background_wakes": 0,
                            "waiting": {"$concatArrays": [unseen_after(0), [{"$add": ["$last_seq", 1]}]]},
                            **begun,
                            "active_run_id": {"$ifNull": ["$active_run_id", new_run]},
                            "updated_at": "$$NOW",
                            "active_at": "$$NOW",
                        }
                    }
                ],
                projection=ACCEPTED_FIELDS,
                return_document=ReturnDocument.AFTER,
                session=transaction,
            )
            if session is None:
                if alone:
                    await self._check_busy(transaction, session_id, user_id)
                raise SessionNotFoundError("There is no such session.")
            run_id, at, seq = session["active_run_id"], session["updated_at"], session["last_user_seq"]
            payloads: list[StoredPayload] = [message]
            lease = None
            if run_id == new_run:
                run = queued_run(new_run, session_id, user_id, message.message_id, at, origin=origin)
                payloads.append(RunQueued(run_id=run_id, message_id=message.message_id))
                if claimant is not None:
                    run = claimed_run(run, claimant) | assigned_to(claimant, session)
                    payloads.append(started_of(run, session, claimant.model))
                    lease = lease_of(run, session, asked_at)
                await self._runs.insert_one(run, session=transaction)
            elif interrupt:
                has_begun = {"_id": run_id, "attempt": {"$gt": 0}}
                await self._runs.update_one(has_begun, [put_in_inbox("redirect", seq)], session=transaction)
            events = number(session_id, seq, at, run_id, payloads)
            await insert_events(self._database, transaction, events)
            if interrupt and session["status"] == SessionStatus.WAITING.value:
                events += await self._end_waits(transaction, run_id, message)
            if 0 < self._max_waiting < len(session["waiting"]):
                raise TooManyWaitingError.of(self._max_waiting)
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
        except DuplicateKeyError as error:
            if not is_repeated_message(error):
                raise
            first = await message_sent_before(self._database, session_id, message.client_message_id)
        except NotAloneError:
            # It may be the one that keeps the session busy.
            async with store_errors():
                again = message.client_message_id
                if again is None or not await is_sent(self._database, session_id, again):
                    raise
            first = await message_sent_before(self._database, session_id, message.client_message_id)
        sent = cast("MessageUser", first.payload)
        MessageDiffersError.unless_same(sent, message)
        return Accepted(
            message_id=sent.message_id, run_id=RunId(first.run_id or ""), seq=first.seq or 0, duplicate=True
        )

    async def _check_busy(self, transaction: AsyncClientSession, session_id: SessionId, user_id: UserId) -> None:
        wanted = {"_id": session_id, "user_id": user_id}
        if await self._sessions.find_one(wanted, projection={"_id": 1}, session=transaction):
            raise NotAloneError("The agent is at work. Send it once that run has ended.")

    async def _end_waits(self, transaction: AsyncClientSession, run_id: str, message: MessageUser) -> list[Event]:
        """End all waits of the run, for a message that interrupts."""
        run = await self._runs.find_one({"_id": run_id}, session=transaction)
        if run is None or run["status"] != RunStatus.WAITING.value:
            return []
        queued = RunQueued(run_id=run_id, message_id=message.message_id)
        return await end_waits(self._database, transaction, run, waits_of(run), queued, "message")

    async def resume(self, session_id: SessionId, user_id: UserId, run_id: RunId, note: ContextNote) -> list[Event]:
        """See `resume_run`."""
        return await resume_run(self._database, session_id, user_id, run_id, note)

    async def compact(self, session_id: SessionId, user_id: UserId, wanted: CompactionWanted) -> list[Event]:
        """See `compact_session`."""
        return await compact_session(self._database, session_id, user_id, wanted)

    async def claim(self, worker: str, *, lease_s: float, model: str, run_id: RunId | None = None) -> Lease | None:
        """Claim a run, durably like everything readers see: a claim that was shown and lost would give its number and
        its fence to another one. Workers are notified of a run by its id at once: all but the first lose, at the price
        of one command that writes nothing."""
        wanted = claimable(run_id, but_not_of=await self._users_with_enough())
        if run_id is None and not await self._is_there(wanted):
            return None

        async def work(transaction: AsyncClientSession) -> tuple[Document, Document | None]:
            with giving_way() if run_id is not None else nullcontext():
                run = await self._runs.find_one_and_update(
                    wanted,
                    [{"$set": claimed_by(worker, lease_s)}],
                    sort=[("created_at", 1)],
                    return_document=ReturnDocument.AFTER,
                    session=transaction,
                )
            if run is None:
                raise AbandonedError
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
                projection=TAKEN_FIELDS,
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
            begins = started_of(run, session, model)
            events = number(run["session_id"], session["last_seq"], session["updated_at"], run["_id"], [begins])
            await insert_events(self._database, transaction, events)
            return run, session

        with suppress(AbandonedError):
            while True:
                asked_at = time.monotonic()
                run, session = await in_transaction(self._database, work)
                if session is not None:
                    return lease_of(run, session, asked_at)
        return None

    async def confirm(self, run_id: RunId, worker: str, *, lease_s: float) -> Lease | None:
        """Confirm an assigned run by one write, which is the first heartbeat too; the second to come finds nothing
        left."""
        lasting = {"lease_expires_at": {"$add": ["$$NOW", round(lease_s * 1000)]}, "assigned": None}
        asked_at = time.monotonic()
        async with store_errors():
            run = await self._runs.find_one_and_update(unconfirmed(run_id, worker), [{"$set": lasting}])
        return lease_of(run, run["assigned"], asked_at) if run else None

    async def _is_there(self, wanted: Document) -> bool:
        """Whether there is such a run. Most looks find nothing, and this begins no transaction."""
        async with store_errors():
            return await self._runs.find_one(wanted, projection={"_id": 1}) is not None

    async def _is_at_limit(self, user_id: UserId) -> bool:
        if not self._runs_per_user:
            return False
        at_work = {"user_id": user_id, "active": True, "status": RunStatus.RUNNING.value}
        async with store_errors():
            return await self._runs.count_documents(at_work, limit=self._runs_per_user) >= self._runs_per_user

    async def _users_with_enough(self) -> list[str]:
        if not self._runs_per_user:
            return []
        async with store_errors():
            found = await self._runs.aggregate(users_with(self._runs_per_user))
            return [str(user["_id"]) async for user in found]

    async def lapsed(self, run_ids: Sequence[RunId]) -> list[RunId]:
        """The lapsed ones of these runs, by one read."""
        async with store_errors():
            found = self._runs.find({"_id": {"$in": [*run_ids]}, **HAS_LAPSED}, projection={"_id": 1})
            return [RunId(run["_id"]) async for run in found]

    async def renew(self, lease: Lease, *, lease_s: float) -> Sequence[InboxMessage]:
        """See `Heartbeats`."""
        return await self._heartbeats.renew(lease, lease_s)

    async def wait(self, lease: Lease, waits: Sequence[Wait], *, read_seq: int) -> list[Event]:
        """See `begin_waiting`."""
        return await begin_waiting(self._database, lease, waits, read_seq)

    async def release(self, lease: Lease) -> None:
        """Release the lease by setting its end a moment ago; a late heartbeat finds no worker to renew it for."""
        releases = {"$add": [{"$ifNull": ["$handovers", 0]}, 1]}
        lapsed = {"lease_expires_at": {"$subtract": ["$$NOW", 1]}, "worker": None}
        await self._update_leased(lease, lapsed | {"handovers": releases})

    async def _update_leased(self, lease: Lease, changes: Document) -> None:
        async with store_errors():
            changed = await self._runs.update_one(leased_run(lease), [{"$set": changes}])
        if not changed.matched_count:
            raise LeaseLostError("The run was taken over after an interruption, or it ended.")

    async def record(self, lease: Lease, items: Sequence[NewEvent], *, handled: int = 0) -> list[Event]:
        """Record items. The fence is checked by the same write that takes the numbers."""
        if not items:
            if handled:
                await self._update_leased(lease, {"inbox": unhandled(handled)})
            return []
        told = [item.payload for item in items]
        tasks = [one for one in told if isinstance(one, TasksUpdated)]
        changes = more_unread(told) | using_of(lease.run, told)
        if seen := max(item.seen_seq for item in items):
            changes["waiting"] = unseen_after(seen)

        async def work(transaction: AsyncClientSession) -> list[Event]:
            session = await self._sessions.find_one_and_update(
                leased_session(lease),
                [{"$set": {"last_seq": {"$add": ["$last_seq", len(items)]}, "updated_at": "$$NOW", **changes}}],
                projection={"last_seq": 1, "updated_at": 1},
                return_document=ReturnDocument.AFTER,
                session=transaction,
            )
            if session is None:
                raise LeaseLostError("The run was taken over after an interruption, or it ended.")
            if tasks and (await last_tasks(self._database, lease.run.session_id, transaction)).edits > tasks[-1].edits:
                raise TasksEditedError
            first = session["last_seq"] - len(items) + 1
            events = number(lease.run.session_id, first, session["updated_at"], lease.run.id, told)
            await insert_recorded(self._database, transaction, events, items)
            if handled:
                inbox = {"$set": {"inbox": unhandled(handled)}}
                await self._runs.update_one(leased_run(lease), [inbox], session=transaction)
            return events

        return await in_transaction(self._database, work)

    async def take_messages(self, lease: Lease, seq: int) -> int:
        """One write of the session, the same document that a withdrawal changes: only one of the two can be first."""

        async def work(transaction: AsyncClientSession) -> int:
            session = await self._sessions.find_one_and_update(
                leased_session(lease),
                {"$max": {"taken_seq": seq}},
                projection={"withdrawn_seq": 1},
                session=transaction,
            )
            if session is None:
                raise LeaseLostError("The run was taken over after an interruption, or it ended.")
            return session.get("withdrawn_seq") or 0

        return await in_transaction(self._database, work)

    async def get(self, run_id: RunId) -> Run | None:
        """One run."""
        async with store_errors():
            document = await self._runs.find_one({"_id": run_id})
        return run_from(document) if document else None
