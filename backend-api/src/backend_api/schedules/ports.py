"""What schedules need of the outside."""

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
"""Of a user, where a deployment lets people have any number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Firing:
    """A message of a schedule. `due_at` is None where a person has it run, which leaves `next_at` and what was missed
    as they are; else they become the ones here."""

    message: MessageUser
    due_at: datetime | None = None
    next_at: datetime | None = None
    missed: Missed | None = None

    def event_of(self, schedule: Schedule) -> ScheduleFired:
        """What stands before the message."""
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
    """What a message of a schedule became: the session it stands in, the run that reads it, and the events."""

    session_id: SessionId
    run_id: RunId
    begins_run: bool
    events: Sequence[Event]


@dataclass(frozen=True, slots=True, kw_only=True)
class Upcoming:
    """The schedules that are due, the first one first, by the store's time `now`; `next_look` is when the first one
    is, or will be."""

    now: datetime
    next_look: datetime
    schedules: Sequence[Schedule]


CronFault = Literal[
    "cron_fields", "cron_minute", "cron_hour", "cron_day", "cron_month", "cron_weekday", "cron_never_due"
]
"""What can be wrong with a line: how many fields it has, one of these, or that no day fits it."""


class CronLines(Protocol):
    """Cron lines of five fields, in zones by their IANA names."""

    def check(self, cron: str, *, field: str) -> None:
        """Raises `InvalidError` for `field` that says which part of the line is wrong, also by a `CronFault`."""
        ...

    def check_zone(self, timezone: str, *, field: str) -> None:
        """Raises `InvalidError` for `field`."""
        ...

    def local(self, at: datetime, timezone: str) -> datetime:
        """A time without offset as one in UTC: of a time that is there twice the first one; one that is skipped is as
        much later as is skipped."""
        ...

    def times(self, cron: str, timezone: str, after: datetime) -> Iterator[datetime]:
        """The times after one, in UTC. A fixed time that the zone skips is due at the end of what is skipped; one that
        is there twice, the first time. Raises `InvalidError`."""
        ...


class Schedules(Protocol):
    """Those of all users: more than seven methods, as each is a step of one life. Every change counts `version`, and is
    refused to whoever saw another one."""

    async def add(self, schedule: Schedule, *, at_most: int) -> None:
        """Raises `ScheduleQuotaError` for a user who has `at_most`; 0 is any number."""
        ...

    async def get(self, schedule_id: ScheduleId, user_id: UserId) -> Schedule:
        """Raises `ScheduleNotFoundError`."""
        ...

    async def of_user(self, user_id: UserId) -> list[Schedule]:
        """All, but at most `LISTED_MOST`, the newest first, with the status of their last runs."""
        ...

    async def replace(self, schedule: Schedule) -> bool:
        """Store what a schedule becomes; False where it was changed since it was read. `last_run` stays."""
        ...

    async def delete(self, schedule_id: ScheduleId, user_id: UserId) -> None:
        """Raises `ScheduleNotFoundError`."""
        ...

    async def upcoming(self, *, limit: int) -> Upcoming | None:
        """None where nothing is ever due. One read, by an index."""
        ...

    async def fire(self, schedule: Schedule, firing: Firing) -> Fired | None:
        """Store the message, with its session and its run where there is none, and what becomes of the schedule, in one
        transaction. A run at work reads it before its next turn, one that waits after the decision. None where the
        schedule was changed since it was read: somebody else sent it.

        Raises `SessionNotFoundError`, `TooManyWaitingError`, `SessionQuotaError`, `AccountDisabledError`; nothing is
        stored then."""
        ...

    async def postpone(self, schedule: Schedule, *, for_s: float) -> None:
        """Look at it again after so long, as it could not be sent."""
        ...
