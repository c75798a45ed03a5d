"""Runs that wait, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from backend_api.agent.events import Event, ResolvedBy, RunQueued, SessionUpdated
from backend_api.agent.new_events import NewEvent
from backend_api.agent.waits import Answer, OpenWait, Wait, WaitRefusedError, answered, end
from backend_api.conversations.domain.entity import Lease, RunId, RunStatus, SessionStatus
from backend_api.conversations.domain.errors import already_over, no_open_wait
from backend_api.conversations.domain.session_changes import changed_names
from backend_api.conversations.ports import Resolved
from backend_api.kit.ids import SessionId, UserId
from support.memory.store import MemoryStore, RunRow, SessionRow


def begin_waiting(store: MemoryStore, lease: Lease, waits: Sequence[Wait], read_seq: int) -> list[Event]:
    """See `RunLedger.wait`; under the lock."""
    row, run = store.leased(lease)
    if any(message.kind == "stop" for message in run.inbox):
        raise WaitRefusedError("stop")
    if any(message.seq > read_seq for message in run.inbox):
        raise WaitRefusedError("message")
    begun = [wait.opened(store.clock()) for wait in waits]
    run.waits = [wait.without_content() for wait in begun]
    run.expires_at, run.fence = None, run.fence + 1
    run.run = replace(run.run, status=RunStatus.WAITING, worker=None, releases=run.run.releases + 1)
    return _store(store, row, run, [wait.request_event() for wait in begun], SessionStatus.WAITING)


def end_waits(
    store: MemoryStore,
    run: RunRow,
    ended: Sequence[OpenWait],
    queued: RunQueued,
    by: ResolvedBy,
    answer: Answer | None = None,
) -> list[Event]:
    """End these waits of a run, and queue it again if they are its last ones; under the lock."""
    row = store.sessions[run.run.session_id]
    what = end(run.waits, ended, by, answer)
    run.waits = [*what.left]
    run.resolved |= {wait.id: wait for wait in what.over}
    items = [*what.recorded]
    if what.options:
        before, options = row.session.options, row.session.options | {**what.options}
        row.session = replace(row.session, options=options)
        changed = changed_names(before, options)
        items.append(NewEvent(payload=SessionUpdated(options=options, changed_options=changed)))
    if not run.waits:
        items.append(NewEvent(payload=queued))
        run.run = replace(run.run, status=RunStatus.QUEUED)
    status = SessionStatus.WAITING if run.waits else SessionStatus.QUEUED
    return _store(store, row, run, items, status)


class MemoryWaits:
    """`Waits` on a `MemoryStore`."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    async def answer(self, session_id: SessionId, user_id: UserId, wait_id: str, answer: Answer) -> Resolved:
        """Under the lock."""
        async with self._store.lock:
            self._store.own(session_id, user_id)
            runs = [row for row in self._store.runs.values() if row.run.session_id == session_id]
            waits = [(run, wait) for run in runs for wait in (*run.waits, *run.resolved.values())]
            found = next(
                ((run, wait) for run, wait in waits if wait.id == wait_id and wait.subject.kind == answer.kind), None
            )
            if found is None:
                raise no_open_wait(answer)
            run, wait = found
            if wait.id in run.resolved:
                raise already_over(answer, wait.past)
            now = self._store.clock()
            if wait.deadline < now:
                raise already_over(answer, wait.lapsed)
            return self._end(run, answered(wait, run.waits, answer, now), "user", answer)

    async def due(self) -> list[RunId]:
        """Any order."""
        now = self._store.clock()
        runs = self._store.runs.items()
        return [run_id for run_id, run in runs if any(wait.deadline < now for wait in run.waits)]

    async def expire(self, run_id: RunId) -> Resolved | None:
        """Under the lock. The runs of a session go with it."""
        async with self._store.lock:
            run, now = self._store.runs.get(run_id), self._store.clock()
            due = [wait for wait in run.waits if wait.deadline < now] if run else []
            return self._end(run, due, "timeout") if run and due else None

    def _end(self, run: RunRow, ended: Sequence[OpenWait], by: ResolvedBy, answer: Answer | None = None) -> Resolved:
        queued = RunQueued(run_id=run.run.id, message_id=None, cause="answer")
        events = end_waits(self._store, run, ended, queued, by, answer)
        return Resolved(session_id=run.run.session_id, run_id=run.run.id, is_queued=not run.waits, events=events)


def _store(
    store: MemoryStore, row: SessionRow, run: RunRow, items: Sequence[NewEvent], status: SessionStatus
) -> list[Event]:
    events = store.record(row, run.run.id, items)
    row.session = replace(row.session, status=status, last_seq=len(row.events), updated_at=store.clock())
    return events
