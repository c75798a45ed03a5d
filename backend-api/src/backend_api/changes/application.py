"""Reads what changed in a session's files since its user last looked."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from backend_api.changes.domain.changed_files import ChangedFile, FileChanges
from backend_api.changes.ports import FileEvents, TurnEvents
from backend_api.conversations.ports import SessionRepository
from backend_api.kit.ids import SessionId, UserId


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The files that `turns` turns changed which ended after the event `after`."""

    after: int
    turns: int = 0
    files: tuple[ChangedFile, ...] = ()
    is_partial: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadChanges:
    """Joins the changes of turns of a user's own session; for those of others it raises `SessionNotFoundError`."""

    sessions: SessionRepository
    events: TurnEvents

    async def __call__(self, session_id: SessionId, user_id: UserId, after: int | None) -> Changes:
        """What changed by turns that ended `after` that event; without one, after the last that was read."""
        session = await self.sessions.get(session_id, user_id)
        after = session.read_seq if after is None else after
        turns = await self.events.ended_after(session_id, after)
        if turns is None:
            return Changes(after=after)
        told = await self.events.of_turns(session_id, turns)
        changes = await asyncio.to_thread(_joined, told)
        unsure = [path for path, was_there in changes.gone.items() if not was_there]
        there = await self.events.there_before(session_id, turns.first_seq, unsure) if unsure else set[str]()
        files = await asyncio.to_thread(changes.files, there)
        return Changes(after=after, turns=turns.count, files=tuple(files), is_partial=told.is_partial)


def _joined(told: FileEvents) -> FileChanges:
    changes = FileChanges()
    for payload in told.payloads:
        changes.take(payload)
    return changes
