"""How runs end in memory, and how the next one is queued: the part of the ledger that `MemoryRunLedger` adds to."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from backend_api.agent.ending import cut_by_stop
from backend_api.agent.events import (
    NO_USAGE,
    Event,
    RunCause,
    RunFinished,
    RunQueued,
    StoredPayload,
    UsageUpdated,
    is_answer,
    is_failure,
    is_for_the_person,
)
from backend_api.agent.new_events import NewEvent
from backend_api.agent.waits import end
from backend_api.conversations.domain.entity import InboxMessage, Lease, Run, RunId, RunStatus, SessionStatus
from backend_api.kit.ids import SessionId, UserId
from support.memory.store import MemoryStore, RunRow, SessionRow


class RunEndings:
    """`finish` and `request_stop` of `RunLedger` on a `MemoryStore`."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    async def finish(
        self, lease: Lease, finished: RunFinished, *, seen_seq: int, said: Sequence[NewEvent] = ()
    ) -> list[Event]:
        """A message nobody saw keeps a run going that ended by itself, and else gets a run of its own."""
        async with self._store.lock:
            row, taken = self._store.leased(lease)
            if finished.is_by_itself and row.last_user_seq > seen_seq:
                return []
            is_unseen = row.last_user_seq > max(seen_seq, row.started_seq)
            events = self._store.record(row, taken.run.id, said)
            self._count_said(row, [*(item.payload for item in said), finished])
            events.append(self._end(row, taken, finished))
            if is_unseen:
                row.session = replace(row.session, failed=False)
                row.model_read = seen_seq
                message_id = row.last_user_message_id or None
                cause = "message" if message_id else "background"
                self._queue(row, RunId(uuid.uuid4().hex), message_id, cause)
            self._mark_updated(row)
            return events

    def _count_said(self, row: SessionRow, payloads: Sequence[StoredPayload]) -> None:
        row.session = replace(row.session, unread=row.session.unread + sum(map(is_answer, payloads)))
        if any(map(is_for_the_person, payloads)):
            row.session = replace(row.session, active_at=self._store.clock())

    def _end(self, row: SessionRow, taken: RunRow, finished: RunFinished) -> Event:
        taken.run = replace(
            taken.run,
            status=RunStatus(finished.status),
            reason=finished.reason,
            retryable=finished.retryable,
            finished_at=self._store.clock(),
        )
        taken.usage = finished.usage
        taken.inbox = []
        row.session = replace(row.session, active_run_id=None, status=SessionStatus.IDLE, failed=is_failure(finished))
        ended = self._store.store(row, taken.run.id, [finished])[0]
        row.model_read = len(row.events)
        return ended

    async def request_stop(self, session_id: SessionId, user_id: UserId, run_id: RunId | None = None) -> Run | None:
        """A queued run ends at once."""
        async with self._store.lock:
            row = self._store.own(session_id, user_id)
            taken = self._store.runs.get(row.session.active_run_id) if row.session.active_run_id else None
            if taken is None or (run_id is not None and taken.run.id != run_id):
                return None
            self._put_in_inbox(taken, "stop", row.session.last_seq)
            taken.run = replace(taken.run, stop_requested=True)
            if taken.run.status in (RunStatus.QUEUED, RunStatus.WAITING):
                self._end_unheld(row, taken)
                self._mark_updated(row)
            return taken.run

    def _end_unheld(self, row: SessionRow, taken: RunRow) -> None:
        what = end(taken.waits, taken.waits, "stop")
        taken.resolved |= {wait.id: wait for wait in what.over}
        taken.waits = []
        events = [event for event in row.events if event.run_id == taken.run.id]
        self._store.record(row, taken.run.id, cut_by_stop(taken.run.id, events, what.recorded))
        reason = "Stopped by the user." if taken.run.attempt else "Stopped by the user before it began."
        mine = (event.payload for event in reversed(row.events) if event.run_id == taken.run.id)
        usage = next((payload.usage for payload in mine if isinstance(payload, UsageUpdated)), NO_USAGE)
        self._end(row, taken, RunFinished(run_id=taken.run.id, status="stopped", reason=reason, usage=usage))

    def _queue(
        self, row: SessionRow, run_id: RunId, message_id: str | None, cause: RunCause = "message"
    ) -> list[Event]:
        session = row.session
        run = Run(
            id=run_id,
            session_id=session.id,
            user_id=session.user_id,
            message_id=message_id,
            status=RunStatus.QUEUED,
            created_at=self._store.clock(),
            request_id=row.last_user_origin[0],
            trace=row.last_user_origin[1],
        )
        self._store.runs[run_id] = RunRow(run=run)
        row.session = replace(session, active_run_id=run_id, status=SessionStatus.QUEUED)
        return self._store.store(row, run_id, [RunQueued(run_id=run_id, message_id=message_id, cause=cause)])

    def _mark_updated(self, row: SessionRow) -> None:
        row.session = replace(row.session, last_seq=len(row.events), updated_at=self._store.clock())

    @staticmethod
    def _put_in_inbox(taken: RunRow, kind: Literal["stop", "redirect"], seq: int) -> None:
        taken.inbox_last += 1
        others = [message for message in taken.inbox if message.kind != kind]
        taken.inbox = [*others, InboxMessage(number=taken.inbox_last, kind=kind, seq=seq)]
