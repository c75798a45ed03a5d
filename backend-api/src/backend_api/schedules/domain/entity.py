"""A message that is sent by itself: once at a time, or again and again by a cron line."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, NewType

from backend_api.conversations.domain.entity import RunId
from backend_api.kit.ids import SessionId, UserId

ScheduleId = NewType("ScheduleId", str)

MAX_TEXT_CHARACTERS = 10_000
MAX_CRON_CHARACTERS = 100
MAX_AHEAD = timedelta(days=3660)
"""How far in the future a time may lie."""

PauseReason = Literal["session_deleted", "account_disabled", "never_due"]
"""Why a schedule was paused by no person: its session is gone, its user's account is disabled, or no time fits its cron
line and zone any more."""
MissReason = Literal["late", "queue_full", "session_quota"]
"""Nobody was there in time; the session, or the user, had as many messages, or sessions, as there may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """Occurrences that began no run in time, from the first to the last one. `count` goes up to `MAX_MISSED`."""

    count: int
    first_at: datetime
    last_at: datetime
    reason: MissReason


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledRun:
    """The last message a schedule sent. `due_at` is None where a person had it run; `missed` is what it made up for.
    `status` is that of its run now, None where that is gone."""

    at: datetime
    due_at: datetime | None
    session_id: SessionId
    run_id: RunId
    missed: Missed | None = None
    status: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Either `at` or `cron` is there. Without `session_id` each message opens a session, of this model, preset and
    options. `next_at` is None while it is paused, and once it is over. `missed` are occurrences that no message has
    told of yet. `version` counts its changes."""

    id: ScheduleId
    user_id: UserId
    text: str
    timezone: str
    created_at: datetime
    at: datetime | None = None
    cron: str | None = None
    session_id: SessionId | None = None
    model: str | None = None
    preset: str | None = None
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    paused: bool = False
    pause_reason: PauseReason | None = None
    next_at: datetime | None = None
    missed: Missed | None = None
    last_run: ScheduledRun | None = None
    version: int = 0
