"""Commands in the background, in memory."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from backend_api.agent.events import BackgroundFinished, Event, FilesChanged, MessageUser
from backend_api.agent.new_events import NewEvent
from backend_api.background.domain import (
    MAX_WAKES,
    BackgroundCommand,
    BackgroundNotFoundError,
    TooManyBackgroundError,
)
from backend_api.conversations.domain.entity import RunId
from backend_api.kit.ids import SessionId
from contracts.tools import MAX_BACKGROUND_RUNNING
from support.memory.run_endings import RunEndings
from support.memory.store import MemoryStore, SessionRow


class MemoryBackgroundCommands(RunEndings):
    """`BackgroundCommands` on a `MemoryStore`."""

    def __init__(self, store: MemoryStore, *, starts_within_s: float = 30.0) -> None:
        super().__init__(store)
        self._starts_within = timedelta(seconds=starts_within_s)
        self._commands: dict[str, BackgroundCommand] = {}
        self._look_at: dict[str, datetime] = {}

    async def begin(self, command: BackgroundCommand) -> None:
        """Under the lock."""
        async with self._store.lock:
            running = [one.id for one in self._open() if one.session_id == command.session_id]
            if len(running) >= MAX_BACKGROUND_RUNNING:
                raise TooManyBackgroundError.of(running)
            now = self._store.clock()
            self._commands[command.id] = replace(command, began_at=now)
            self._look_at[command.id] = now + self._starts_within

    async def confirm(self, background_id: str) -> None:
        """At once."""
        if (command := self._commands.get(background_id)) is not None and command.state is None:
            now = self._store.clock()
            self._commands[background_id] = replace(command, is_begun=True, began_at=now)
            self._look_at[background_id] = now

    async def drop(self, background_id: str) -> None:
        """At once."""
        if (command := self._commands.get(background_id)) is not None and command.state is None:
            del self._commands[background_id]

    async def get(self, session_id: SessionId, background_id: str) -> BackgroundCommand:
        """As it is."""
        command = self._commands.get(background_id)
        if command is None or command.session_id != session_id:
            raise BackgroundNotFoundError("There is no such background command.")
        return command

    async def of_session(self, session_id: SessionId, *, ended: int) -> list[BackgroundCommand]:
        """All that are known."""
        found = [one for one in self._commands.values() if one.session_id == session_id]
        newest = sorted(found, key=lambda one: one.began_at, reverse=True)
        running = [one for one in newest if one.state is None]
        return [*running, *[one for one in newest if one.state is not None][:ended]]

    async def request_end(self, session_id: SessionId, background_id: str | None = None) -> list[BackgroundCommand]:
        """At once."""
        found = [one for one in self._open() if one.session_id == session_id and background_id in (None, one.id)]
        for one in found:
            self._commands[one.id] = replace(one, stop_wanted=True)
            if one.is_begun:
                self._look_at[one.id] = self._store.clock()
        return [self._commands[one.id] for one in found]

    async def claim(self, *, lease_s: float, limit: int) -> list[BackgroundCommand]:
        """At once."""
        now = self._store.clock()
        due = [one for one in self._open() if self._look_at[one.id] <= now][:limit]
        for one in due:
            self._look_at[one.id] = now + timedelta(seconds=lease_s)
        return due

    async def release(self, background_id: str, *, for_s: float = 0.0) -> None:
        """At once."""
        self._look_at[background_id] = self._store.clock() + timedelta(seconds=for_s)

    async def settle(
        self, command: BackgroundCommand, told: NewEvent, *, wakes: bool, changed: FilesChanged | None = None
    ) -> list[Event]:
        """Under the lock."""
        async with self._store.lock:
            known, finished = self._commands.get(command.id), told.payload
            if known is None or known.state is not None:
                return []
            assert isinstance(finished, BackgroundFinished)
            self._commands[command.id] = replace(
                known,
                state=finished.state,
                exit_code=finished.exit_code,
                preview=finished.preview,
                ended_at=self._store.clock(),
                read_by=finished.read_by,
            )
            row = self._store.sessions.get(command.session_id)
            items = [told, *([NewEvent(payload=changed)] if changed is not None else [])]
            return [] if row is None else self._record_events(row, items, wakes=wakes and not known.stop_wanted)

    def _record_events(self, row: SessionRow, items: Sequence[NewEvent], *, wakes: bool) -> list[Event]:
        wakes = wakes and row.background_wakes < MAX_WAKES
        run_id = row.session.active_run_id
        new_run = RunId(uuid.uuid4().hex) if wakes and run_id is None else None
        events = self._store.record(row, run_id or new_run, items)
        if wakes:
            has_unread = any(isinstance(event.payload, MessageUser) for event in row.events[row.model_read :])
            row.last_user_message_id = row.last_user_message_id if has_unread else ""
            row.last_user_seq, row.background_wakes = events[0].seq or 0, row.background_wakes + 1
        if new_run is not None:
            events += self._queue(row, new_run, None, "background")
        self._mark_updated(row)
        return events

    def _open(self) -> list[BackgroundCommand]:
        return [one for one in self._commands.values() if one.state is None]
