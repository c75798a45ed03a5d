"""Runs that wait, in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from backend_api.domain.agent.events import Event, ResolvedBy, RunQueued
from backend_api.domain.agent.recorded import Recorded
from backend_api.domain.agent.waits import OpenWait, Wait
from backend_api.domain.conversation.entity import Lease, RunStatus, SessionId, SessionStatus
from backend_api.domain.conversation.errors import QuestionAnsweredError, QuestionNotFoundError
from backend_api.domain.conversation.ports import Resolved
from backend_api.domain.identity.entity import UserId
from backend_api.infrastructure.memory.store import MemoryStore, RunRow, SessionRow


def begin_waiting(store: MemoryStore, lease: Lease, waits: Sequence[Wait], seen_seq: int) -> list[Event]:
    """See `RunLedger.wait`; under the lock."""
    row, run = store.held(lease)
    if row.last_user_seq > seen_seq or any(message.kind == "stop" for message in run.inbox):
        return []
    run.waits = [wait.begun(store.clock()) for wait in waits]
    run.expires_at, run.fence = None, run.fence + 1
    run.run = replace(run.run, status=RunStatus.WAITING, worker=None, handovers=run.run.handovers + 1)
    return _store(store, row, run, [Recorded(payload=wait.asked()) for wait in run.waits], SessionStatus.WAITING)


def end_waits(
    store: MemoryStore,
    run: RunRow,
    ended: Sequence[OpenWait],
    queued: RunQueued,
    by: ResolvedBy,
    answers: Mapping[str, str] | None = None,
) -> list[Event]:
    """End these waits of a run, and queue it again if they are its last ones; under the lock."""
    run.resolved |= {wait.id for wait in ended}
    run.waits = [wait for wait in run.waits if wait.id not in run.resolved]
    items = [item for wait in ended for item in wait.resolved(by, answers)]
    if not run.waits:
        items.append(Recorded(payload=queued))
        run.run = replace(run.run, status=RunStatus.QUEUED)
    status = SessionStatus.WAITING if run.waits else SessionStatus.QUEUED
    return _store(store, store.sessions[run.run.session_id], run, items, status)


class MemoryWaits:
    """`Waits` on a `MemoryStore`."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    async def answer(
        self, session_id: SessionId, user_id: UserId, wait_id: str, answers: Mapping[str, str]
    ) -> Resolved:
        """Under the lock."""
        async with self._store.lock:
            self._store.own(session_id, user_id)
            runs = [row for row in self._store.runs.values() if row.run.session_id == session_id]
            found = next(((run, wait) for run in runs for wait in run.waits if wait.id == wait_id), None)
            if found is None:
                if any(wait_id in run.resolved for run in runs):
                    raise QuestionAnsweredError("This question has its answer, or waits for none any more.")
                raise QuestionNotFoundError("The agent asked no such question here.")
            run, wait = found
            wait.check(answers)
            return self._end(run, [wait], "user", answers)

    async def expire(self) -> Resolved | None:
        """Under the lock."""
        async with self._store.lock:
            now = self._store.clock()
            for run in self._store.runs.values():
                if due := [wait for wait in run.waits if wait.deadline < now]:
                    return self._end(run, due, "timeout")
            return None

    def _end(
        self, run: RunRow, ended: Sequence[OpenWait], by: ResolvedBy, answers: Mapping[str, str] | None = None
    ) -> Resolved:
        queued = RunQueued(run_id=run.run.id, message_id=None, cause="answer")
        events = end_waits(self._store, run, ended, queued, by, answers)
        return Resolved(session_id=run.run.session_id, run_id=run.run.id, is_queued=not run.waits, events=events)


def _store(
    store: MemoryStore, row: SessionRow, run: RunRow, items: Sequence[Recorded], status: SessionStatus
) -> list[Event]:
    events = store.record(row, run.run.id, items)
    row.session = replace(row.session, status=status, last_seq=len(row.events), updated_at=store.clock())
    return events
