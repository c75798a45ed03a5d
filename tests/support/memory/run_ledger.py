"""Runs and leases in memory."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import cast

from backend_api.agent.events import (
    CompactionWanted,
    ContextNote,
    Event,
    MessageUser,
    RunQueued,
    RunStarted,
    TasksUpdated,
)
from backend_api.agent.new_events import NewEvent
from backend_api.agent.options import session_options
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
    NothingToCompactError,
    NothingToResumeError,
    TasksEditedError,
)
from backend_api.kit.ids import SessionId, UserId
from service_kit.observation.context import current_work
from service_kit.observation.spans import current_traceparent
from support.memory.run_endings import RunEndings
from support.memory.run_waits import begin_waiting, end_waits
from support.memory.store import RunRow, SessionRow


class MemoryRunLedger(RunEndings):
    """`RunLedger` on a `MemoryStore`."""

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
        """Under the lock."""
        async with self._store.lock:
            row = self._store.own(session_id, user_id)
            if message.client_message_id is not None and message.client_message_id in row.accepted:
                first = row.accepted[message.client_message_id]
                MessageDiffersError.unless_same(cast("MessageUser", first.events[0].payload), message)
                return replace(first, duplicate=True, events=(), lease=None)
            active = row.session.active_run_id
            if alone and active is not None:
                raise NotAloneError("The agent is at work. Send it once that run has ended.")
            run_id = active or RunId(uuid.uuid4().hex)
            events = self._store.store(row, run_id, [message])
            row.last_user_seq, row.last_user_message_id = len(row.events), message.message_id
            row.background_wakes = 0
            row.last_user_origin = (current_work().request_id, current_traceparent())
            seq = row.last_user_seq
            lease = None
            if active is None:
                events += self._queue(row, run_id, message.message_id)
                if claimant is not None:
                    lease, started = self._lease_run(row, self._store.runs[run_id], claimant)
                    events += started
            elif interrupt and self._store.runs[run_id].run.attempt:
                self._put_in_inbox(self._store.runs[run_id], "redirect", seq)
            if interrupt and active is not None and (waits := self._store.runs[run_id].waits):
                queued = RunQueued(run_id=run_id, message_id=message.message_id)
                events += end_waits(self._store, self._store.runs[run_id], waits, queued, "message")
            self._mark_updated(row)
            row.session = replace(row.session, active_at=row.session.updated_at)
            accepted = Accepted(
                message_id=message.message_id,
                run_id=run_id,
                seq=seq,
                duplicate=False,
                events=tuple(events),
                lease=lease,
            )
            if message.client_message_id is not None:
                row.accepted[message.client_message_id] = accepted
            return accepted

    async def resume(self, session_id: SessionId, user_id: UserId, run_id: RunId, note: ContextNote) -> list[Event]:
        """Under the lock."""
        async with self._store.lock:
            row = self._store.own(session_id, user_id)
            runs = [taken.run for taken in self._store.runs.values() if taken.run.session_id == session_id]
            is_last = bool(runs) and runs[-1].id == run_id
            if not is_last or not runs[-1].status.is_end or runs[-1].status == RunStatus.COMPLETED:
                raise NothingToResumeError(
                    "Only the session's last run can be resumed, and only if it did not complete."
                )
            new_run = RunId(uuid.uuid4().hex)
            events = self._store.store(row, new_run, [note])
            row.last_user_origin = (current_work().request_id, current_traceparent())
            events += self._queue(row, new_run, None, "resume")
            self._mark_updated(row)
            return events

    async def compact(self, session_id: SessionId, user_id: UserId, wanted: CompactionWanted) -> list[Event]:
        """Under the lock."""
        async with self._store.lock:
            row = self._store.own(session_id, user_id)
            if not row.last_user_seq:
                raise NothingToCompactError("There is nothing to sum up yet. Send a message first.")
            active = row.session.active_run_id
            run_id = active or RunId(uuid.uuid4().hex)
            events = self._store.store(row, run_id, [wanted])
            if active is None:
                row.last_user_origin = (current_work().request_id, current_traceparent())
                events += self._queue(row, run_id, None, "compact")
            self._mark_updated(row)
            return events

    async def claim(self, worker: str, *, lease_s: float, model: str, run_id: RunId | None = None) -> Lease | None:
        """The oldest first."""
        async with self._store.lock:
            now = self._store.clock()
            for taken in self._store.runs.values():
                lapsed = taken.expires_at is not None and taken.expires_at < now
                is_lapsed = taken.run.status == RunStatus.RUNNING and lapsed
                row = self._store.sessions.get(taken.run.session_id)
                is_queued = taken.run.status == RunStatus.QUEUED
                if row is None or not (is_queued or is_lapsed) or run_id not in (None, taken.run.id):
                    continue
                lease, _ = self._lease_run(row, taken, Claimant(worker=worker, lease_s=lease_s, model=model))
                self._mark_updated(row)
                return lease
            return None

    def _lease_run(self, row: SessionRow, taken: RunRow, claimant: Claimant) -> tuple[Lease, list[Event]]:
        now, taken_over = self._store.clock(), taken.run.status == RunStatus.RUNNING
        taken.run = replace(
            taken.run,
            status=RunStatus.RUNNING,
            attempt=taken.run.attempt + 1,
            worker=claimant.worker,
            started_at=taken.run.started_at or now,
        )
        taken.worker, taken.fence = claimant.worker, taken.fence + 1
        taken.is_unconfirmed = claimant.is_elsewhere
        taken.expires_at = now + timedelta(seconds=claimant.lease_s)
        started = RunStarted(
            run_id=taken.run.id,
            message_id=taken.run.message_id,
            model=row.session.model or self._user_model(row) or claimant.model,
            worker=claimant.worker,
            attempt=taken.run.attempt,
        )
        events = self._store.store(row, taken.run.id, [started])
        if taken.run.attempt == 1:
            row.started_seq = len(row.events)
        row.session = replace(row.session, status=SessionStatus.RUNNING)
        return replace(self._lease(row, taken), taken_over=taken_over), events

    def _user_model(self, row: SessionRow) -> str | None:
        return self._store.settings_models.get(row.session.user_id, (0, None))[1]

    def _lease(self, row: SessionRow, taken: RunRow) -> Lease:
        return Lease(
            run=taken.run,
            worker=taken.worker,
            fence=taken.fence,
            has_begun_before=taken.run.attempt > 1,
            asked_at=time.monotonic(),
            options=session_options(row.session.model, row.session.options, row.session.preset),
            is_named=bool(row.session.title),
            is_title_due=row.title_due is not None,
            has_settings=row.session.user_id in self._store.settings,
            messages=tuple(taken.inbox),
        )

    async def confirm(self, run_id: RunId, worker: str, *, lease_s: float) -> Lease | None:
        """Once."""
        async with self._store.lock:
            taken = self._store.runs.get(run_id)
            row = self._store.sessions.get(taken.run.session_id) if taken else None
            if taken is None or row is None or taken.worker != worker or not taken.is_unconfirmed:
                return None
            if taken.run.status != RunStatus.RUNNING:
                return None
            taken.is_unconfirmed = False
            taken.expires_at = self._store.clock() + timedelta(seconds=lease_s)
            return self._lease(row, taken)

    async def lapsed(self, run_ids: Sequence[RunId]) -> list[RunId]:
        """Under the lock."""
        async with self._store.lock:
            now, runs = self._store.clock(), self._store.runs
            held = [run for run_id in run_ids if (run := runs.get(run_id)) and run.run.status == RunStatus.RUNNING]
            return [run.run.id for run in held if run.expires_at is not None and run.expires_at < now]

    async def renew(self, lease: Lease, *, lease_s: float) -> Sequence[InboxMessage]:
        """Under the lock."""
        async with self._store.lock:
            _, run = self._store.leased(lease)
            if run.run.status != RunStatus.RUNNING or run.run.worker != lease.worker:
                raise LeaseLostError("The run was taken over after an interruption, or it ended.")
            run.expires_at = self._store.clock() + timedelta(seconds=lease_s)
            return tuple(run.inbox)

    async def wait(self, lease: Lease, waits: Sequence[Wait], *, read_seq: int) -> list[Event]:
        """See `begin_waiting`."""
        async with self._store.lock:
            return begin_waiting(self._store, lease, waits, read_seq)

    async def release(self, lease: Lease) -> None:
        """The lease lapsed a moment ago."""
        async with self._store.lock:
            _, run = self._store.leased(lease)
            run.run = replace(run.run, worker=None, releases=run.run.releases + 1)
            run.expires_at = self._store.clock() - timedelta(milliseconds=1)

    async def take_messages(self, lease: Lease, seq: int) -> int:
        """Nothing is withdrawn here."""
        del seq
        async with self._store.lock:
            self._store.leased(lease)
            return 0

    async def record(self, lease: Lease, items: Sequence[NewEvent], *, handled: int = 0) -> list[Event]:
        """All or nothing."""
        async with self._store.lock:
            row, run = self._store.leased(lease)
            told = [item.payload for item in items if isinstance(item.payload, TasksUpdated)]
            edits = [event.payload.edits for event in row.events if isinstance(event.payload, TasksUpdated)]
            if told and edits and edits[-1] > told[-1].edits:
                raise TasksEditedError
            run.inbox = [message for message in run.inbox if message.number > handled]
            events = self._store.record(row, run.run.id, items)
            row.model_read = max(row.model_read, *(item.seen_seq for item in items), 0)
            self._count_said(row, [item.payload for item in items])
            self._mark_updated(row)
            return events

    async def get(self, run_id: RunId) -> Run | None:
        """One run."""
        taken = self._store.runs.get(run_id)
        return taken.run if taken else None
