"""Scheduled messages: sent once at a time, or repeatedly by a cron line."""

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
"""The furthest in the future that a time may lie."""

PauseReason = Literal["session_deleted", "account_disabled", "never_due"]
"""Reasons for an automatic pause: the session is gone, the user's account is disabled, or no time fits the cron line
and zone any more."""
MissReason = Literal["late", "queue_full", "session_quota"]
"""Reasons for a missed occurrence: no process ran in time; the session had too many waiting messages; the user had too
many sessions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """Occurrences that began no run in time, from the first to the last. `count` goes up to `MAX_MISSED`."""

    count: int
    first_at: datetime
    last_at: datetime
    reason: MissReason


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledRun:
    """The last message that a schedule sent. `due_at` is None if a person requested it; `missed` are the occurrences it
    makes up for. `status` is the present status of its run, None if the run is gone."""

    at: datetime
    due_at: datetime | None
    session_id: SessionId
    run_id: RunId
    missed: Missed | None = None
    status: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A schedule has either `at` or `cron`. Without `session_id` each message opens a session, with this model, preset
    and options. `next_at` is None while it is paused, and once it is over. `missed` are occurrences that no message has
    reported yet. `version` counts its changes."""

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
