"""Due titles in memory."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from backend_api.agent.events import NO_USAGE, Event, SessionUpdated, Usage
from backend_api.agent.options import session_options
from backend_api.agent.usage import combine
from backend_api.conversations.domain.entity import SessionStatus
from backend_api.conversations.domain.titles import MAX_ATTEMPTS, DueTitle
from backend_api.kit.ids import SessionId
from support.memory.store import MemoryStore, SessionRow, TitleRow


class MemoryTitles:
    """`Titles` on a `MemoryStore`."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    async def due(self) -> Sequence[SessionId]:
        """All that are idle and due."""
        now = self._store.clock()
        return [
            session_id
            for session_id, row in self._store.sessions.items()
            if row.title_due is not None
            and row.title_due.next is not None
            and row.title_due.next <= now
            and row.session.status is SessionStatus.IDLE
        ]

    async def begin(self, session_id: SessionId, *, within_s: float) -> DueTitle | None:
        """Under the lock."""
        async with self._store.lock:
            row, now = self._store.sessions.get(session_id), self._store.clock()
            if row is None or (due := row.title_due) is None or (due.next is not None and due.next > now):
                return None
            runs = [run for run in self._store.runs.values() if run.run.session_id == session_id and run.usage]
            last = max(runs, key=lambda run: run.run.created_at, default=None)
            row.title_due = TitleRow(now + timedelta(seconds=within_s), due.attempts + 1, uuid.uuid4().hex)
            return DueTitle(
                session_id=session_id,
                user_id=row.session.user_id,
                run_id=last.run.id if last is not None else None,
                attempt=row.title_due.attempts,
                token=row.title_due.token,
                options=session_options(row.session.model, row.session.options, row.session.preset),
            )

    async def store(self, due: DueTitle, title: str | None, used: Usage) -> Sequence[Event]:
        """Under the lock."""
        async with self._store.lock:
            self._count(due, used)
            if (row := self._find_due(due)) is None:
                return []
            row.title_due = None
            if title is None:
                return []
            events = self._store.store(row, None, [SessionUpdated(title=title)])
            row.session = replace(row.session, title=title, last_seq=len(row.events), updated_at=self._store.clock())
            return events

    async def postpone(self, due: DueTitle, used: Usage, *, for_s: float | None) -> None:
        """Under the lock."""
        async with self._store.lock:
            self._count(due, used)
            if (row := self._find_due(due)) is None:
                return
            if for_s is None:
                row.title_due = TitleRow(None, due.attempt - 1, due.token)
            elif due.attempt >= MAX_ATTEMPTS:
                row.title_due = None
            else:
                row.title_due = TitleRow(self._store.clock() + timedelta(seconds=for_s), due.attempt, due.token)

    def _find_due(self, due: DueTitle) -> SessionRow | None:
        row = self._store.sessions.get(due.session_id)
        return row if row is not None and row.title_due is not None and row.title_due.token == due.token else None

    def _count(self, due: DueTitle, used: Usage) -> None:
        if used == NO_USAGE or due.run_id is None:
            return
        run = self._store.runs.get(due.run_id)
        if run is not None and run.usage is not None:
            run.usage = combine(run.usage, used)
