"""Ports that schedules need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from backend_api.agent.events import Event, MessageUser, ScheduleFired
from backend_api.conversations.domain.entity import RunId
from backend_api.kit.ids import SessionId, UserId
from backend_api.schedules.domain.entity import Missed, Schedule, ScheduleId

LISTED_MOST = 1_000
"""The most schedules of a user that are listed, if the deployment sets no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Firing:
    """A message of a schedule. `due_at` is None if a person requested it, which leaves `next_at` and `missed` of the
    schedule as they are; else they become these."""

    message: MessageUser
    due_at: datetime | None = None
    next_at: datetime | None = None
    missed: Missed | None = None

    def event_of(self, schedule: Schedule) -> ScheduleFired:
        """The event that precedes the message."""
        missed = self.missed
        return ScheduleFired(
            schedule_id=schedule.id,
            message_id=self.message.message_id,
            due_at=self.due_at,
            missed=missed.count if missed else 0,
            missed_from=missed.first_at if missed else None,
            missed_to=missed.last_at if missed else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fired:
    """The outcome of a scheduled message: its session, the run that reads it, and the events."""

    session_id: SessionId
    run_id: RunId
    begins_run: bool
    events: Sequence[Event]


@dataclass(frozen=True, slots=True, kw_only=True)
class Upcoming:
    """The schedules that are due, earliest first, by the store's time `now`; `next_look` is the time at which the first
    one is or will be due."""

    now: datetime
    next_look: datetime
    schedules: Sequence[Schedule]


CronFault = Literal[
    "cron_fields", "cron_minute", "cron_hour", "cron_day", "cron_month", "cron_weekday", "cron_never_due"
]
"""Errors of a cron line: the number of its fields, one of its fields, or that no day fits it."""


class CronLines(Protocol):
    """Cron lines of five fields, in zones by their IANA names."""

    def check(self, cron: str, *, field: str) -> None:
        """Raises `InvalidError` for `field`, which explains the wrong part of the line, also by a `CronFault`."""
        ...

    def check_zone(self, timezone: str, *, field: str) -> None:
        """Raises `InvalidError` for `field`."""
        ...

    def local(self, at: datetime, timezone: str) -> datetime:
        """The UTC time of a local one without offset: of a time that occurs twice, the first; a skipped time is moved
        later by the length of the gap."""
        ...

    def times(self, cron: str, timezone: str, after: datetime) -> Iterator[datetime]:
        """The times after one, in UTC. A fixed time that the zone skips is due at the end of the gap; one that occurs
        twice, the first time. Raises `InvalidError`."""
        ...


class Schedules(Protocol):
    """The schedules of all users: more than seven methods, as each is a step of one life. Every change increments
    `version`, and fails if the caller read another version."""

    async def add(self, schedule: Schedule, *, at_most: int) -> None:
        """Store it. Raises `ScheduleQuotaError` for a user who has `at_most`; 0 is no limit."""
        ...

    async def get(self, schedule_id: ScheduleId, user_id: UserId) -> Schedule:
        """Raises `ScheduleNotFoundError`."""
        ...

    async def of_user(self, user_id: UserId) -> list[Schedule]:
        """All schedules, but at most `LISTED_MOST`, newest first, with the status of their last runs."""
        ...

    async def replace(self, schedule: Schedule) -> bool:
        """Store a changed schedule; False if it was changed since it was read. `last_run` stays."""
        ...

    async def delete(self, schedule_id: ScheduleId, user_id: UserId) -> None:
        """Raises `ScheduleNotFoundError`."""
        ...

    async def upcoming(self, *, limit: int) -> Upcoming | None:
        """The due schedules and the next look; None if nothing is ever due. One read, by an index."""
        ...

    async def fire(self, schedule: Schedule, firing: Firing) -> Fired | None:
        """Store the message, with its session and run if there are none, and the schedule's next state, in one
        transaction. A run at work reads the message before its next turn, one that waits, after the decision. None if
        the schedule was changed since it was read: another process sent it.

        Raises `SessionNotFoundError`, `TooManyWaitingError`, `SessionQuotaError`, `AccountDisabledError`; nothing is
        stored then.
        """
        ...

    async def postpone(self, schedule: Schedule, *, for_s: float) -> None:
        """Look at it again after so many seconds, as it could not be sent."""
        ...
