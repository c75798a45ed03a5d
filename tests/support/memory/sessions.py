"""Sessions, their stored stream and transcript in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, cast

from backend_api.agent.events import (
    NO_USAGE,
    Event,
    MessageUser,
    PathSelected,
    Payload,
    PlanUpdated,
    SandboxUpdated,
    StoredPayload,
    Task,
    TasksUpdated,
    Todo,
    TodosUpdated,
    Usage,
    agent_of,
    is_for_the_person,
)
from backend_api.agent.new_events import Body
from backend_api.agent.path import BESIDE_PATHS, WHOLE, Path, path_after
from backend_api.agent.tasks import NO_TASKS
from backend_api.agent.usage import combine
from backend_api.conversations.application.event_json import dump, payload_fields
from backend_api.conversations.domain.entity import Session
from backend_api.conversations.domain.errors import EventBodyNotFoundError, SessionNotFoundError, SessionQuotaError
from backend_api.conversations.domain.session_changes import Changed, differing, updates_of
from backend_api.conversations.ports import Entry, SessionPage
from backend_api.kit.ids import SessionId, UserId
from support.memory.newest_first import newest_first
from support.memory.store import MemoryStore, SessionRow, TitleRow


class MemorySessionRepository:
    """`SessionRepository` on a `MemoryStore`."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    async def add(self, session: Session, *, at_most: int = 0) -> None:
        """Keep it."""
        held = sum(row.session.user_id == session.user_id for row in self._store.sessions.values())
        if at_most and held >= at_most:
            raise SessionQuotaError.of(at_most)
        self._store.sessions[session.id] = SessionRow(session=session)

    async def get(self, session_id: SessionId, user_id: UserId) -> Session:
        """By id and owner."""
        return self._store.own(session_id, user_id).session

    async def page(
        self,
        user_id: UserId,
        *,
        limit: int,
        cursor: str | None,
        query: str | None,
        folder_id: str | None = None,
        archived: bool | None = None,
    ) -> SessionPage:
        """See `newest_first`."""
        own = [row.session for row in self._store.sessions.values() if row.session.user_id == user_id]
        if folder_id is not None:
            own = [session for session in own if session.folder_id == folder_id]
        if archived is not None:
            own = [session for session in own if session.archived == archived]
        if query:
            own = [session for session in own if query.casefold() in session.title.casefold()]
        items, next_cursor = newest_first(own, limit=limit, cursor=cursor)
        return SessionPage(items=items, next_cursor=next_cursor)

    async def update(self, session_id: SessionId, user_id: UserId, changes: dict[str, Any]) -> Session:
        """Without telling the stream."""
        row = self._store.own(session_id, user_id)
        if values := differing(row.session, changes):
            row.session = replace(row.session, **values, updated_at=self._store.clock())
        return row.session

    async def change(self, session_id: SessionId, user_id: UserId, changes: dict[str, Any]) -> Changed:
        """Under the lock."""
        async with self._store.lock:
            if "title" in changes:
                self._store.own(session_id, user_id).title_due = None
            return await self._change(session_id, user_id, changes)

    async def name(self, session_id: SessionId, user_id: UserId, title: str) -> Changed:
        """Under the lock."""
        async with self._store.lock:
            row = self._store.own(session_id, user_id)
            if row.session.title:
                return Changed(session=row.session, events=[])
            row.title_due = TitleRow(next=row.session.created_at)
            return await self._change(session_id, user_id, {"title": title})

    async def _change(self, session_id: SessionId, user_id: UserId, changes: dict[str, Any]) -> Changed:
        row = self._store.own(session_id, user_id)
        payloads = updates_of(differing(row.session, changes), row.session)
        await self.update(session_id, user_id, changes)
        events = self._store.store(row, None, payloads)
        row.session = replace(row.session, last_seq=len(row.events))
        return Changed(session=row.session, events=events)

    async def delete(self, session_id: SessionId, user_id: UserId) -> None:
        """With its runs."""
        self._store.own(session_id, user_id)
        del self._store.sessions[session_id]
        self._store.deleted[session_id] = (user_id, self._store.clock())
        for run_id in [key for key, row in self._store.runs.items() if row.run.session_id == session_id]:
            del self._store.runs[run_id]


class MemoryEventLog:
    """`EventLog` on a `MemoryStore`."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    async def append(self, session_id: SessionId, payloads: Sequence[StoredPayload]) -> list[Event]:
        """Under the lock."""
        async with self._store.lock:
            row = self._store.sessions.get(session_id)
            if row is None:
                raise SessionNotFoundError("There is no such session.")
            events = self._store.store(row, None, payloads)
            row.session = replace(row.session, last_seq=len(row.events), updated_at=self._store.clock())
            for payload in payloads:
                if isinstance(payload, SandboxUpdated):
                    row.session = replace(row.session, sandbox=payload.status)
            return events

    async def path(self, session_id: SessionId, *, up_to: int | None = None) -> Path:
        """By the last one that was selected."""
        row = self._store.sessions.get(session_id)
        return _path_of(row.events[:up_to] if row else [])

    async def read(
        self, session_id: SessionId, *, after: int, limit: int, most: int | None = None, path: Path = WHOLE
    ) -> list[Event]:
        """A slice."""
        row = self._store.sessions.get(session_id)
        return _limit_bytes(_on(row.events[after:], path)[:limit], most) if row else []

    async def read_back(
        self, session_id: SessionId, *, before: int, limit: int, most: int | None = None, path: Path = WHOLE
    ) -> list[Event]:
        """A slice."""
        row = self._store.sessions.get(session_id)
        return _limit_bytes(_on(row.events[: max(before - 1, 0)], path)[-limit:][::-1], most)[::-1] if row else []

    async def read_entries(
        self, session_id: SessionId, *, after: int, limit: int, most: int | None = None, path: Path = WHOLE
    ) -> tuple[list[Entry], bool]:
        """A slice."""
        row = self._store.sessions.get(session_id)
        if row is None:
            return [], True
        there = _on(row.events[after:], path)
        events = _limit_bytes(there[:limit], most)
        entries = [Entry(event=event, output=row.outputs.get(event.seq or 0)) for event in events]
        return entries, len(entries) >= len(there)

    async def heads(self, session_ids: Sequence[SessionId]) -> dict[SessionId, int]:
        """As many as there are events."""
        rows = self._store.sessions
        return {session_id: len(rows[session_id].events) for session_id in session_ids if session_id in rows}

    async def body(self, session_id: SessionId, seq: int) -> Body:
        """As it was recorded."""
        row = self._store.sessions.get(session_id)
        if row is None or seq not in row.bodies:
            raise EventBodyNotFoundError("This event has no body.")
        return row.bodies[seq]


class MemoryTranscripts:
    """`Transcripts` on a `MemoryStore`."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    async def messages(self, session_id: SessionId, *, up_to: int, limit: int, most: int | None = None) -> list[Event]:
        """The last ones, oldest first."""
        said = [event for event in self._shown(session_id, up_to) if _is_said(event)]
        return _limit_bytes(said[-limit:][::-1], most)[::-1]

    async def beginning(self, session_id: SessionId, *, limit: int, most: int | None = None) -> list[Event]:
        """The first ones."""
        said = [event for event in self._shown(session_id) if _is_said(event)]
        return _limit_bytes(said[:limit], most)

    async def plan(self, session_id: SessionId, *, up_to: int) -> PlanUpdated | None:
        """The last one."""
        return next((told for told in self._last_payloads(session_id, up_to) if isinstance(told, PlanUpdated)), None)

    async def tasks(self, session_id: SessionId, *, up_to: int) -> list[Task]:
        """Those of the highest version."""
        lists = [told for told in self._last_payloads(session_id, up_to) if isinstance(told, TasksUpdated)]
        return max(lists, key=lambda told: told.version, default=NO_TASKS).tasks

    async def todos(self, session_id: SessionId, *, up_to: int) -> list[Todo]:
        """Those of the last list."""
        lists = (told.todos for told in self._last_payloads(session_id, up_to) if isinstance(told, TodosUpdated))
        return next(lists, list[Todo]())

    async def usage(self, session_id: SessionId) -> Usage:
        """The sum over the runs."""
        own = [row for row in self._store.runs.values() if row.run.session_id == session_id]
        return reduce(combine, (row.usage for row in own if row.usage is not None), NO_USAGE)

    def _last_payloads(self, session_id: SessionId, up_to: int) -> Iterator[Payload]:
        """By the main agent, the last first."""
        events = reversed(self._shown(session_id, up_to))
        return (event.payload for event in events if agent_of(event.payload) is None)

    def _shown(self, session_id: SessionId, up_to: int | None = None) -> list[Event]:
        row = self._store.sessions.get(session_id)
        events = row.events[:up_to] if row else []
        path = _path_of(events)
        return [event for event in events if path.has(event.seq or 0)]


def _path_of(events: Sequence[Event]) -> Path:
    return path_after(next((event for event in reversed(events) if isinstance(event.payload, PathSelected)), None))


def _on(events: Sequence[Event], path: Path) -> list[Event]:
    return [event for event in events if path.has(event.seq or 0) or event.payload.type in BESIDE_PATHS]


def _is_said(event: Event) -> bool:
    return isinstance(event.payload, MessageUser) or is_for_the_person(event.payload)


def _limit_bytes(events: list[Event], most: int | None) -> list[Event]:
    if most is None:
        return events
    taken: list[Event] = []
    for event in events:
        most -= len(dump(payload_fields(cast("StoredPayload", event.payload))).encode())
        if most < 0 and taken:
            break
        taken.append(event)
    return taken
