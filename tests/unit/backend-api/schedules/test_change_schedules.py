"""Schedules are changed as they are by then, though their messages are sent meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from backend_api.conversations.application.session_rules import OptionRules
from backend_api.identity.application.limits import Limits
from backend_api.identity.in_process_rate_limiter import InProcessRateLimiter
from backend_api.kit.errors import InvalidError, LimitError
from backend_api.kit.ids import UserId
from backend_api.kit.in_process_notifier import InProcessNotifier
from backend_api.kit.notifier import Topic
from backend_api.schedules.application.change_schedules import MAX_ATTEMPTS, CreateSchedule, UpdateSchedule
from backend_api.schedules.application.schedule_rules import ScheduleRules
from backend_api.schedules.cron_lines import CronsimLines
from backend_api.schedules.domain.entity import Schedule
from backend_api.schedules.domain.errors import ScheduleBusyError
from support.backend_stores import ANNA
from support.memory.schedules import MemorySchedules
from support.memory.sessions import MemorySessionRepository
from support.memory.store import MemoryStore

TEN = datetime(2026, 5, 4, 10, tzinfo=UTC)
DAILY = {"text": "hi", "cron": "0 9 * * *", "timezone": "UTC"}


class Raced(MemorySchedules):
    """Others change a schedule so many times just before it is stored."""

    races = 0

    async def replace(self, schedule: Schedule) -> bool:
        if self.races:
            self.races -= 1
            present = await self.get(schedule.id, schedule.user_id)
            await super().replace(replace(present, next_at=TEN + timedelta(days=self.races + 5)))
        return await super().replace(schedule)


class Scene:
    """The use cases over one store."""

    def __init__(self, limits: Limits | None = None, clock: Callable[[], float] = TEN.timestamp) -> None:
        store, limits, limiter = MemoryStore(lambda: TEN), limits or Limits(), InProcessRateLimiter()
        self.schedules, self.notifier = Raced(store), InProcessNotifier()
        rules = ScheduleRules(
            lines=CronsimLines(), sessions=MemorySessionRepository(store), rules_of=self.rules_of, clock=clock
        )
        self.create = CreateSchedule(
            schedules=self.schedules, rules=rules, notifier=self.notifier, limiter=limiter, limits=limits
        )
        self.update = UpdateSchedule(
            schedules=self.schedules, rules=rules, notifier=self.notifier, limiter=limiter, limits=limits
        )

    async def rules_of(self, user_id: UserId) -> OptionRules:
        del user_id
        return OptionRules(())


async def test_a_change_is_made_of_what_is_there_by_then() -> None:
    scene = Scene()
    schedule = await scene.create(ANNA, DAILY)
    assert schedule.next_at == TEN + timedelta(hours=23)
    scene.schedules.races = 1
    changed = await scene.update(schedule.id, ANNA, {"text": "other"})
    assert (changed.text, changed.next_at) == ("other", TEN + timedelta(days=5)), "what was sent meanwhile stays so"


async def test_one_that_is_changed_all_the_time_says_so() -> None:
    scene = Scene()
    schedule = await scene.create(ANNA, DAILY)
    scene.schedules.races = MAX_ATTEMPTS
    with pytest.raises(ScheduleBusyError):
        await scene.update(schedule.id, ANNA, {"text": "other"})


async def test_whoever_sends_them_is_told_of_each_change() -> None:
    scene = Scene()
    # Who is told of nothing waits longer than that.
    async with asyncio.timeout(1), scene.notifier.subscribe(Topic.SCHEDULE_CHANGED) as changes:
        schedule = await scene.create(ANNA, DAILY)
        await changes.next(60)
        await scene.update(schedule.id, ANNA, {"paused": True})
        await changes.next(60)
    assert (await scene.schedules.get(schedule.id, ANNA)).next_at is None


async def test_a_time_that_has_passed_is_refused_also_where_nothing_is_sent_for_now() -> None:
    scene = Scene()
    past = {"text": "hi", "at": "2026-05-04T10:00", "timezone": "UTC", "paused": True}
    with pytest.raises(InvalidError, match="has passed"):
        await scene.create(ANNA, past)
    later = await scene.create(ANNA, past | {"at": "2026-05-04T10:01"})
    assert (later.at, later.next_at) == (TEN + timedelta(minutes=1), None)
    assert (await scene.update(later.id, ANNA, {"paused": False})).next_at == later.at


async def test_a_time_of_another_age_is_refused() -> None:
    scene = Scene()
    given = {"text": "hi", "timezone": "UTC"}
    with pytest.raises(InvalidError, match="more than 10 years ahead"):
        await scene.create(ANNA, given | {"at": "2036-06-01T10:00"})
    assert (await scene.create(ANNA, given | {"at": "2036-05-01T10:00"})).at is not None


async def test_nobody_makes_them_without_end() -> None:
    scene = Scene(Limits(settings_per_minute=2))
    schedule = await scene.create(ANNA, DAILY)
    await scene.update(schedule.id, ANNA, {"text": "other"})
    with pytest.raises(LimitError):
        await scene.create(ANNA, DAILY)
    with pytest.raises(LimitError):
        await scene.update(schedule.id, ANNA, {"text": "more"})
