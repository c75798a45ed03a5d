"""What is due of a schedule: one message however much was missed, which is counted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from backend_api.kit.ids import UserId
from backend_api.schedules.application.occurrences import Due, due_of, merged, refused
from backend_api.schedules.cron_lines import CronsimLines
from backend_api.schedules.domain.entity import Missed, Schedule, ScheduleId

TEN = datetime(2026, 5, 4, 10, tzinfo=UTC)
MINUTE, SECOND = timedelta(minutes=1), timedelta(seconds=1)


def due(now: datetime, *, cron: str | None, next_at: datetime = TEN) -> Due:
    schedule = Schedule(
        id=ScheduleId("s"), user_id=UserId("u"), text="hi", timezone="UTC", created_at=TEN, cron=cron, next_at=next_at
    )
    return due_of(schedule, CronsimLines(), now)


def test_one_in_time_misses_nothing() -> None:
    assert due(TEN + SECOND, cron="*/10 * * * *") == Due(at=TEN, missed=None, next_at=TEN + 10 * MINUTE)
    assert due(TEN + SECOND, cron=None) == Due(at=TEN, missed=None, next_at=None)
    assert due(TEN + MINUTE, cron="*/10 * * * *").missed is None


def test_after_an_hour_one_is_sent_for_all() -> None:
    now = TEN + 62 * MINUTE
    last = TEN + 60 * MINUTE
    missed = Missed(count=7, first_at=TEN, last_at=last, reason="late")
    assert due(now, cron="*/10 * * * *") == Due(at=last, missed=missed, next_at=TEN + 70 * MINUTE)


def test_one_that_is_just_due_was_not_missed_and_those_before_were() -> None:
    found = due(TEN + 30 * MINUTE + SECOND, cron="*/10 * * * *")
    assert found.missed == Missed(count=3, first_at=TEN, last_at=TEN + 20 * MINUTE, reason="late")
    assert found.at == TEN + 30 * MINUTE


def test_one_time_that_was_missed_is_sent_late_and_said() -> None:
    found = due(TEN + 60 * MINUTE, cron=None)
    assert found == Due(at=TEN, missed=Missed(count=1, first_at=TEN, last_at=TEN, reason="late"), next_at=None)
    assert due(TEN + MINUTE, cron=None).missed is None
    assert due(TEN + MINUTE + SECOND, cron=None).missed == found.missed, "more than a minute is late"


def test_years_of_minutes_are_counted_up_to_a_thousand() -> None:
    now = TEN + timedelta(days=800)
    found = due(now, cron="* * * * *")
    assert found.missed == Missed(count=1000, first_at=TEN, last_at=now, reason="late")
    assert found.next_at == now + MINUTE


def test_what_could_not_be_sent_counts_with_those_before() -> None:
    first = refused(due(TEN, cron="*/10 * * * *"), "queue_full")
    assert first == Missed(count=1, first_at=TEN, last_at=TEN, reason="queue_full")
    late = refused(due(TEN + 15 * MINUTE, cron="*/10 * * * *"), "session_quota")
    assert late == Missed(count=2, first_at=TEN, last_at=TEN + 10 * MINUTE, reason="session_quota")
    mixed = refused(due(TEN + 10 * MINUTE, cron="*/10 * * * *"), "queue_full")
    assert mixed == Missed(count=2, first_at=TEN, last_at=TEN + 10 * MINUTE, reason="queue_full")
    assert merged(None, first) == first
    assert merged(first, None) == first
    both = merged(first, Missed(count=999, first_at=TEN + MINUTE, last_at=TEN + 5 * MINUTE, reason="late"))
    assert both == Missed(count=1000, first_at=TEN, last_at=TEN + 5 * MINUTE, reason="late")
