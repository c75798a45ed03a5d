"""Due and missed occurrences of a schedule."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from backend_api.agent.schedule_messages import MAX_MISSED
from backend_api.schedules.domain.entity import Missed, MissReason, Schedule
from backend_api.schedules.ports import CronLines

LATE = timedelta(seconds=60)
"""An occurrence whose message is sent later than this was missed, and its message says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """The due message of a schedule, for the occurrence at `at`. `missed` are the occurrences without a message in
    time, this one included if it is late; `next_at` is the next occurrence, None if there is none."""

    at: datetime
    missed: Missed | None
    next_at: datetime | None


def first_at(schedule: Schedule, lines: CronLines, now: datetime) -> datetime | None:
    """The first occurrence from now on. Raises `InvalidError` for an invalid cron line or zone."""
    if schedule.cron is None:
        return schedule.at
    return next(lines.times(schedule.cron, schedule.timezone, now), None)


def due_of(schedule: Schedule, lines: CronLines, now: datetime) -> Due:
    """The due message of a schedule whose `next_at` has come. However many occurrences were missed, one message is
    sent.

    Raises `InvalidError` for an invalid cron line or zone.
    """
    assert schedule.next_at is not None
    passed, next_at = [schedule.next_at], None
    if schedule.cron is not None:
        later = lines.times(schedule.cron, schedule.timezone, schedule.next_at)
        for at in islice(later, MAX_MISSED):
            if at > now:
                next_at = at
                break
            passed.append(at)
        else:
            next_at = next(lines.times(schedule.cron, schedule.timezone, now), None)
    is_capped = len(passed) > MAX_MISSED
    is_late = is_capped or now - passed[-1] > LATE
    missed = passed if is_late else passed[:-1]
    if not missed:
        return Due(at=passed[-1], missed=None, next_at=next_at)
    last_at = now if is_capped else missed[-1]
    summary = Missed(count=min(len(missed), MAX_MISSED), first_at=missed[0], last_at=last_at, reason="late")
    return Due(at=passed[-1], missed=summary, next_at=next_at)


def merged(earlier: Missed | None, later: Missed | None) -> Missed | None:
    """Both together."""
    if earlier is None or later is None:
        return earlier or later
    return Missed(
        count=min(earlier.count + later.count, MAX_MISSED),
        first_at=min(earlier.first_at, later.first_at),
        last_at=max(earlier.last_at, later.last_at),
        reason=later.reason,
    )


def refused(due: Due, reason: MissReason) -> Missed:
    """The occurrences, as missed for this reason."""
    before = due.missed
    is_counted = before is not None and before.last_at >= due.at
    count = (before.count if before else 0) + (0 if is_counted else 1)
    first = before.first_at if before else due.at
    last = max(before.last_at, due.at) if before else due.at
    return Missed(count=min(count, MAX_MISSED), first_at=first, last_at=last, reason=reason)
