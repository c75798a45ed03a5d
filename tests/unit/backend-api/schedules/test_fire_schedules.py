"""Schedules are sent when they are due, or when a person wants it, and what keeps one from it is told."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from backend_api.agent.events import MessageUser, RunQueued, ScheduleFired
from backend_api.conversations.domain.errors import SessionNotFoundError
from backend_api.identity.application.limits import Limits
from backend_api.identity.in_process_rate_limiter import InProcessRateLimiter
from backend_api.kit.errors import StoreUnavailableError
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.in_process_notifier import InProcessNotifier
from backend_api.kit.notifier import Topic
from backend_api.schedules.application.fire_schedules import LEAST_S, FireSchedules, RunSchedule, SendScheduled
from backend_api.schedules.cron_lines import CronsimLines
from backend_api.schedules.domain.entity import Missed, Schedule, ScheduleId
from backend_api.schedules.domain.errors import AccountDisabledError
from backend_api.schedules.ports import Fired, Firing, Upcoming
from support.backend_stores import ANNA, add_session
from support.memory.run_ledger import MemoryRunLedger
from support.memory.schedules import MemorySchedules
from support.memory.session_stream import MemorySessionStream
from support.memory.sessions import MemoryEventLog, MemorySessionRepository
from support.memory.store import MemoryStore

TEN = datetime(2026, 5, 4, 10, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


class Faulty(MemorySchedules):
    """Some can't be sent; `read_faults` looks fail."""

    def __init__(self, store: MemoryStore, faults: dict[str, Exception], **bounds: int) -> None:
        super().__init__(store, **bounds)
        self.faults, self.read_faults = faults, list[Exception]()

    async def fire(self, schedule: Schedule, firing: Firing) -> Fired | None:
        if (fault := self.faults.get(schedule.text)) is not None:
            raise fault
        return await super().fire(schedule, firing)

    async def upcoming(self, *, limit: int) -> Upcoming | None:
        if self.read_faults:
            raise self.read_faults.pop()
        return await super().upcoming(limit=limit)


@dataclass
class Scene:
    """Schedules of a user and a clock that is moved."""

    store: MemoryStore
    schedules: Faulty
    notifier: InProcessNotifier
    fire: FireSchedules
    run: RunSchedule
    now: datetime = TEN

    async def session(self) -> SessionId:
        return await add_session(MemorySessionRepository(self.store), ANNA)

    async def add(self, text: str = "hi", user_id: UserId = ANNA, **fields: Any) -> Schedule:
        empty = Schedule(id=ScheduleId(text), user_id=user_id, text=text, timezone="UTC", created_at=TEN, next_at=TEN)
        schedule = replace(empty, **({"cron": "*/10 * * * *"} | fields))
        await self.schedules.add(schedule, at_most=0)
        return schedule

    async def get(self, text: str = "hi") -> Schedule:
        return await self.schedules.get(ScheduleId(text), ANNA)

    async def said(self, session_id: SessionId) -> list[str]:
        events = await MemoryEventLog(self.store).read(session_id, after=0, limit=100)
        return [event.payload.text for event in events if isinstance(event.payload, MessageUser)]


@pytest.fixture
def scene() -> Scene:
    made: list[Scene] = []
    store = MemoryStore(lambda: made[0].now)
    schedules, notifier = Faulty(store, {}, max_waiting=2), InProcessNotifier()
    send = SendScheduled(schedules=schedules, stream=MemorySessionStream(), notifier=notifier)
    made.append(
        Scene(
            store=store,
            schedules=schedules,
            notifier=notifier,
            fire=FireSchedules(schedules=schedules, lines=CronsimLines(), send=send, notifier=notifier),
            run=RunSchedule(schedules=schedules, send=send, limiter=InProcessRateLimiter(), limits=Limits()),
        )
    )
    return made[0]


async def test_one_that_is_due_is_sent_once_and_again_when_it_is_due_again(scene: Scene) -> None:
    session_id = await scene.session()
    await scene.add(session_id=session_id)
    assert await scene.fire.fire_due() == LEAST_S
    assert await scene.fire.fire_due() == scene.fire.poll_s, "the next is in ten minutes"
    assert await scene.said(session_id) == ["hi"]
    scene.now = TEN + 10 * MINUTE - timedelta(seconds=3)
    assert await scene.fire.fire_due() == 3.0
    scene.now = TEN + 10 * MINUTE
    await scene.fire.fire_due()
    assert await scene.said(session_id) == ["hi", "hi"]


async def test_the_run_is_queued_for_whoever_is_free_and_readers_are_told(scene: Scene) -> None:
    session_id = await scene.session()
    await scene.add(session_id=session_id)
    async with scene.notifier.subscribe(Topic.RUN_QUEUED) as queued:
        await scene.fire.fire_due()
        assert await queued.next(1) == scene.store.sessions[session_id].session.active_run_id
        scene.now = TEN + 10 * MINUTE
        await scene.fire.fire_due()
        assert await queued.next(0.01) is None, "the run there is reads it"
    before, _, run, *_ = (event.payload for event in scene.store.sessions[session_id].events)
    assert isinstance(before, ScheduleFired)
    assert isinstance(run, RunQueued)
    assert (before.due_at, run.cause) == (TEN, "schedule")


async def test_after_an_hour_in_which_nobody_was_there_one_message_says_what_was_missed(scene: Scene) -> None:
    session_id = await scene.session()
    await scene.add(session_id=session_id)
    scene.now = TEN + 62 * MINUTE
    await scene.fire.fire_due()
    assert await scene.said(session_id) == ["hi"]
    missed = Missed(count=7, first_at=TEN, last_at=TEN + 60 * MINUTE, reason="late")
    present = await scene.get()
    assert present.last_run is not None
    assert (present.last_run.missed, present.missed, present.next_at) == (missed, None, TEN + 70 * MINUTE)


async def test_one_for_a_session_whose_queue_is_full_is_missed_and_the_next_one_says_so(scene: Scene) -> None:
    session_id = await scene.session()
    ledger = MemoryRunLedger(scene.store)
    for name in ("a", "b"):
        await ledger.accept(session_id, ANNA, MessageUser(message_id=name, text=name))
    await scene.add(session_id=session_id)
    await scene.fire.fire_due()
    present = await scene.get()
    assert present.missed == Missed(count=1, first_at=TEN, last_at=TEN, reason="queue_full")
    assert (present.last_run, present.next_at) == (None, TEN + 10 * MINUTE)
    row = scene.store.sessions[session_id]
    row.model_read = len(row.events)
    scene.now = TEN + 10 * MINUTE
    await scene.fire.fire_due()
    present = await scene.get()
    assert present.last_run is not None
    assert (present.missed, present.last_run.missed) == (
        None,
        Missed(count=1, first_at=TEN, last_at=TEN, reason="queue_full"),
    )


async def test_one_of_a_user_with_as_many_sessions_as_may_be_is_missed(scene: Scene) -> None:
    scene.schedules = Faulty(scene.store, {}, sessions_most=1)
    scene.fire = replace(
        scene.fire, schedules=scene.schedules, send=replace(scene.fire.send, schedules=scene.schedules)
    )
    await scene.session()
    await scene.add(cron=None, at=TEN)
    await scene.fire.fire_due()
    present = await scene.get()
    assert (present.missed, present.next_at) == (
        Missed(count=1, first_at=TEN, last_at=TEN, reason="session_quota"),
        None,
    )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [({"session_id": SessionId("gone")}, "session_deleted"), ({"timezone": "Nowhere/Town"}, "never_due")],
)
async def test_one_that_can_never_be_sent_is_paused_with_the_reason(
    scene: Scene, changes: dict[str, Any], reason: str
) -> None:
    await scene.add(**changes)
    await scene.fire.fire_due()
    present = await scene.get()
    assert (present.paused, present.pause_reason, present.next_at) == (True, reason, None)
    assert await scene.fire.fire_due() == scene.fire.poll_s


@pytest.mark.parametrize(
    ("fault", "reason"),
    [(AccountDisabledError("disabled"), "account_disabled"), (SessionNotFoundError("gone"), "session_deleted")],
)
async def test_one_that_is_refused_for_ever_as_it_is_sent_is_paused(
    scene: Scene, fault: Exception, reason: str
) -> None:
    scene.schedules.faults["hi"] = fault
    await scene.add()
    await scene.fire.fire_due()
    present = await scene.get()
    assert (present.paused, present.pause_reason, present.next_at) == (True, reason, None)


@pytest.mark.parametrize("fault", [StoreUnavailableError("away"), RuntimeError("a fault of ours")])
async def test_one_that_fails_keeps_nobody_elses_and_is_tried_again(scene: Scene, fault: Exception) -> None:
    scene.schedules.faults["bad"] = fault
    session_id = await scene.session()
    await scene.add("bad", session_id=session_id)
    await scene.add("good", session_id=session_id)
    await scene.fire.fire_due()
    assert await scene.said(session_id) == ["good"]
    assert await scene.fire.fire_due() == scene.fire.poll_s, "it is not tried again at once"
    scene.schedules.faults.clear()
    scene.now = TEN + MINUTE
    await scene.fire.fire_due()
    assert await scene.said(session_id) == ["good", "bad"]


async def test_a_person_has_it_sent_now_also_where_it_is_paused(scene: Scene) -> None:
    session_id = await scene.session()
    schedule = await scene.add(session_id=session_id, paused=True, next_at=None)
    present = await scene.run(schedule.id, ANNA)
    assert await scene.said(session_id) == ["hi"]
    assert present.last_run is not None
    assert (present.paused, present.last_run.due_at, present.last_run.status) == (True, None, "queued")


async def test_who_watches_hears_of_a_new_one_and_outlives_faults(scene: Scene) -> None:
    session_id = await scene.session()
    scene.schedules.read_faults = list[Exception]([StoreUnavailableError("away"), RuntimeError("a fault of ours")])
    watching = asyncio.create_task(scene.fire.fire_until_cancelled())
    async with asyncio.timeout(5), scene.notifier.subscribe(Topic.RUN_QUEUED) as queued:
        while scene.schedules.read_faults:
            await scene.notifier.notify(Topic.SCHEDULE_CHANGED)
            await asyncio.sleep(0)
        await scene.add(session_id=session_id)
        await scene.notifier.notify(Topic.SCHEDULE_CHANGED)
        await queued.next(5)
    assert await scene.said(session_id) == ["hi"]
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)
