"""Sessions, runs and events in memory, under one lock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from backend_api.agent.events import Event, StoredPayload, Usage
from backend_api.agent.new_events import Body, NewEvent
from backend_api.agent.waits import OpenWait
from backend_api.conversations.domain.entity import Accepted, InboxMessage, Lease, Run, RunId, Session
from backend_api.conversations.domain.errors import LeaseLostError, SessionNotFoundError
from backend_api.kit.ids import SessionId, UserId
from backend_api.settings.domain.entity import StoredSettings


def utc_now() -> datetime:
    """The clock of a store."""
    return datetime.now(UTC)


@dataclass(slots=True, kw_only=True)
class SessionRow:
    """A session with what it knows of its stream."""

    session: Session
    events: list[Event] = field(default_factory=list[Event])
    bodies: dict[int, Body] = field(default_factory=dict[int, Body])
    outputs: dict[int, str] = field(default_factory=dict[int, str])
    accepted: dict[str, Accepted] = field(default_factory=dict[str, Accepted])
    started_seq: int = 0
    last_user_seq: int = 0
    model_read: int = 0
    """Up to here messages were read by a model, or are nobody's to read any more."""
    last_user_message_id: str = ""
    last_user_origin: tuple[str | None, str | None] = (None, None)
    """Request id and trace."""
    title_due: TitleRow | None = None
    background_wakes: int = 0
    """Runs that results of background commands alone began since the person said something."""
    model_call_quota: int = 0
    """Bytes of what is kept of its model calls."""


@dataclass(slots=True)
class TitleRow:
    """A title that is due: `next` as in the database's `title_due`."""

    next: datetime | None
    attempts: int = 0
    token: str = ""


@dataclass(slots=True, kw_only=True)
class RunRow:
    """A run with its lease."""

    run: Run
    worker: str = ""
    fence: int = 0
    is_unconfirmed: bool = False
    expires_at: datetime | None = None
    usage: Usage | None = None
    inbox: list[InboxMessage] = field(default_factory=list[InboxMessage])
    inbox_last: int = 0
    waits: list[OpenWait] = field(default_factory=list[OpenWait])
    resolved: dict[str, OpenWait] = field(default_factory=dict[str, OpenWait])


class MemoryStore:
    """What the memory adapters of sessions, runs and events share."""

    def __init__(self, clock: Callable[[], datetime] = utc_now) -> None:
        self.clock = clock
        self.lock = asyncio.Lock()
        self.sessions: dict[SessionId, SessionRow] = {}
        self.runs: dict[RunId, RunRow] = {}
        self.settings: dict[UserId, StoredSettings] = {}
        self.settings_models: dict[UserId, tuple[int, str | None]] = {}
        """Version, and the model that sessions which chose none begin with."""
        self.deleted: dict[SessionId, tuple[UserId, datetime]] = {}

    def own(self, session_id: SessionId, user_id: UserId) -> SessionRow:
        """Raises `SessionNotFoundError`."""
        row = self.sessions.get(session_id)
        if row is None or row.session.user_id != user_id:
            raise SessionNotFoundError("There is no such session.")
        return row

    def leased(self, lease: Lease) -> tuple[SessionRow, RunRow]:
        """Raises `LeaseLostError`."""
        session, run = self.sessions.get(lease.run.session_id), self.runs.get(lease.run.id)
        if session is None or run is None or session.session.active_run_id != lease.run.id or run.fence != lease.fence:
            raise LeaseLostError("The run was taken over after an interruption, or it ended.")
        return session, run

    def record(self, row: SessionRow, run_id: str | None, items: Sequence[NewEvent]) -> list[Event]:
        """Keep, with what stands beside."""
        events = self.store(row, run_id, [item.payload for item in items])
        for event, item in zip(events, items, strict=True):
            if item.body is not None:
                row.bodies[event.seq or 0] = item.body
            if item.output is not None:
                row.outputs[event.seq or 0] = item.output
        return events

    def store(self, row: SessionRow, run_id: str | None, payloads: Sequence[StoredPayload]) -> list[Event]:
        """Number and keep."""
        first = len(row.events) + 1
        at = self.clock()
        events = [
            Event(seq=first + index, at=at, session_id=row.session.id, run_id=run_id, payload=payload)
            for index, payload in enumerate(payloads)
        ]
        row.events += events
        return events
