"""Schedules: each occurrence becomes one message, with its session, its run and what becomes of the schedule."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from backend_api.agent.events import Event, MessageUser, RunFinished, RunQueued, ScheduleFired
from backend_api.conversations.domain.entity import SessionStatus
from backend_api.conversations.domain.errors import SessionNotFoundError, SessionQuotaError, TooManyWaitingError
from backend_api.kit.ids import SessionId
from backend_api.schedules.domain.entity import Missed, Schedule, ScheduleId
from backend_api.schedules.domain.errors import AccountDisabledError, ScheduleNotFoundError, ScheduleQuotaError
from backend_api.schedules.ports import LISTED_MOST, Firing
from support.backend_stores import ANNA, BERT, MongoStores

NOW = datetime.now(UTC).replace(microsecond=0)
PAST, LATER = NOW - timedelta(minutes=1), NOW + timedelta(days=1)
MISSED = Missed(count=3, first_at=PAST - timedelta(hours=3), last_at=PAST, reason="late")


@pytest.fixture
def bounds() -> dict[str, Any]:
    return {"max_waiting": 2, "sessions_most": 4}


def schedule_of(schedule_id: str = "one", **fields: Any) -> Schedule:
    empty = Schedule(
        id=ScheduleId(schedule_id),
        user_id=ANNA,
        text="$now: what is new?",
        timezone="UTC",
        created_at=NOW,
        next_at=PAST,
    )
    return replace(empty, cron="0 9 * * *", **fields)


async def added(stores: MongoStores, schedule_id: str = "one", **fields: Any) -> Schedule:
    await stores.schedules.add(schedule_of(schedule_id, **fields), at_most=0)
    return await stores.schedules.get(ScheduleId(schedule_id), ANNA)


def firing(text: str = "$now", **fields: Any) -> Firing:
    return Firing(message=MessageUser(message_id="m1", text=text), due_at=PAST, next_at=LATER, **fields)


async def told(stores: MongoStores, session_id: SessionId) -> list[Event]:
    return list(await stores.log.read(session_id, after=0, limit=50))


async def test_one_is_kept_changed_and_deleted_by_its_user_alone(stores: MongoStores) -> None:
    schedule = await added(stores, options={"max_turns": 3}, preset="chat", missed=MISSED)
    assert schedule == schedule_of(options={"max_turns": 3}, preset="chat", missed=MISSED)
    assert await stores.schedules.replace(replace(schedule, text="other"))
    assert not await stores.schedules.replace(replace(schedule, text="too late")), "it was changed since it was read"
    assert [one.text for one in await stores.schedules.of_user(ANNA)] == ["other"]
    assert await stores.schedules.of_user(BERT) == []
    with pytest.raises(ScheduleNotFoundError):
        await stores.schedules.get(schedule.id, BERT)
    with pytest.raises(ScheduleNotFoundError):
        await stores.schedules.delete(schedule.id, BERT)
    await stores.schedules.delete(schedule.id, ANNA)
    assert not await stores.schedules.replace(schedule)
    with pytest.raises(ScheduleNotFoundError):
        await stores.schedules.get(schedule.id, ANNA)


async def test_a_user_has_so_many_and_no_more(stores: MongoStores) -> None:
    await stores.schedules.add(schedule_of("one"), at_most=1)
    with pytest.raises(ScheduleQuotaError):
        await stores.schedules.add(schedule_of("two"), at_most=1)
    await stores.schedules.add(replace(schedule_of("two"), user_id=BERT), at_most=1)


async def test_all_are_listed_the_newest_first_up_to_a_bound(stores: MongoStores) -> None:
    for number, minute in enumerate((1, 3, 3, 2)):
        at = NOW + timedelta(minutes=minute)
        await stores.schedules.add(schedule_of(f"one_{number}", created_at=at), at_most=0)
    assert [one.id for one in await stores.schedules.of_user(ANNA)] == ["one_1", "one_2", "one_3", "one_0"]
    for number in range(LISTED_MOST):
        await stores.schedules.add(schedule_of(f"more_{number:04}", created_at=NOW), at_most=0)
    listed = [one.id for one in await stores.schedules.of_user(ANNA)]
    assert (len(listed), listed[3:5]) == (LISTED_MOST, ["one_0", "more_0000"])


async def test_nothing_of_somebody_elses_is_changed_or_sent(stores: MongoStores) -> None:
    schedule = await added(stores)
    as_bert = replace(schedule, user_id=BERT, text="mine")
    assert not await stores.schedules.replace(as_bert)
    assert await stores.schedules.fire(as_bert, firing()) is None
    with pytest.raises(ScheduleNotFoundError):
        await stores.schedules.fire(as_bert, Firing(message=MessageUser(message_id="m1", text="hi")))
    with pytest.raises(SessionNotFoundError):
        await stores.schedules.fire(replace(schedule, session_id=await stores.session(BERT)), firing())
    assert await stores.schedules.get(schedule.id, ANNA) == schedule


async def test_of_a_disabled_account_nothing_is_sent_and_nothing_changes(stores: MongoStores) -> None:
    schedule = await added(stores)
    await stores.disable(ANNA)
    for one in (firing(), Firing(message=MessageUser(message_id="m1", text="hi"))):
        with pytest.raises(AccountDisabledError):
            await stores.schedules.fire(schedule, one)
    assert await stores.schedules.get(schedule.id, ANNA) == schedule


async def test_what_is_due_comes_with_the_stores_time_and_when_to_look_next(stores: MongoStores) -> None:
    assert await stores.schedules.upcoming(limit=9) is None
    await added(stores, "paused", paused=True, next_at=None)
    await added(stores, "later", next_at=LATER)
    upcoming = await stores.schedules.upcoming(limit=9)
    assert upcoming is not None
    assert (upcoming.next_look, list(upcoming.schedules)) == (LATER, [])
    due = await added(stores, "due")
    upcoming = await stores.schedules.upcoming(limit=9)
    assert upcoming is not None
    assert ([one.id for one in upcoming.schedules], upcoming.next_look) == (["due"], PAST)
    assert abs(upcoming.now - datetime.now(UTC)) < timedelta(seconds=30)
    await stores.schedules.postpone(due, for_s=60)
    upcoming = await stores.schedules.upcoming(limit=9)
    assert upcoming is not None
    assert not upcoming.schedules
    assert timedelta(seconds=50) < upcoming.next_look - upcoming.now <= timedelta(seconds=60)
    assert (await stores.schedules.get(due.id, ANNA)).next_at == PAST, "it is as due as before"


async def test_its_message_begins_a_run_of_an_idle_session(stores: MongoStores) -> None:
    session_id = await stores.session()
    schedule = await added(stores, session_id=session_id)
    fired = await stores.schedules.fire(schedule, firing(missed=MISSED))
    assert fired is not None
    assert (fired.session_id, fired.begins_run) == (session_id, True)
    events = await told(stores, session_id)
    assert events == list(fired.events)
    before, said, queued = (event.payload for event in events)
    assert before == ScheduleFired(
        schedule_id="one", message_id="m1", due_at=PAST, missed=3, missed_from=MISSED.first_at, missed_to=MISSED.last_at
    )
    assert said == MessageUser(message_id="m1", text="$now")
    assert queued == RunQueued(run_id=fired.run_id, message_id="m1", cause="schedule")
    session = await stores.sessions.get(session_id, ANNA)
    assert (session.status, session.last_seq, session.active_run_id) == (SessionStatus.QUEUED, 3, fired.run_id)
    present = await stores.schedules.get(schedule.id, ANNA)
    assert (present.next_at, present.missed) == (LATER, None)
    assert present.last_run is not None
    last = present.last_run
    assert (last.due_at, last.session_id, last.run_id, last.missed) == (PAST, session_id, fired.run_id, MISSED)
    assert last.status == "queued"
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    await stores.ledger.finish(lease, RunFinished(run_id=lease.run.id, status="completed"), seen_seq=9)
    (present,) = await stores.schedules.of_user(ANNA)
    assert present.last_run is not None
    assert present.last_run.status == "completed"


async def test_it_joins_what_a_busy_session_is_told_until_no_more_may_wait(stores: MongoStores) -> None:
    session_id = await stores.session()
    accepted = await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="first", text="hi"))
    schedule = await added(stores, session_id=session_id)
    fired = await stores.schedules.fire(schedule, firing())
    assert fired is not None
    assert (fired.run_id, fired.begins_run, len(fired.events)) == (accepted.run_id, False, 2)
    present = await stores.schedules.get(schedule.id, ANNA)
    assert present.last_run is not None
    assert present.last_run.run_id == accepted.run_id
    with pytest.raises(TooManyWaitingError):
        await stores.schedules.fire(present, firing())
    assert await stores.schedules.get(schedule.id, ANNA) == present, "nothing is stored of what is refused"
    assert len(await told(stores, session_id)) == 4


async def test_without_a_session_each_opens_one_as_long_as_there_may_be_more(stores: MongoStores) -> None:
    schedule = await added(stores, preset="chat", model="demo", options={"max_turns": 2})
    first = await stores.schedules.fire(schedule, firing())
    second = await stores.schedules.fire(await stores.schedules.get(schedule.id, ANNA), firing())
    assert first is not None
    assert second is not None
    assert first.session_id != second.session_id
    session = await stores.sessions.get(first.session_id, ANNA)
    assert (session.preset, session.model, session.options) == ("chat", "demo", {"max_turns": 2})
    lease = await stores.ledger.claim("w", lease_s=30, model="m", run_id=first.run_id)
    assert lease is not None
    assert (lease.options.preset, lease.options.max_turns, lease.is_named) == ("chat", 2, False)
    for _ in range(2):
        await stores.session()
    with pytest.raises(SessionQuotaError):
        await stores.schedules.fire(await stores.schedules.get(schedule.id, ANNA), firing())


async def test_a_session_it_opens_knows_the_settings_of_its_user(stores: MongoStores) -> None:
    await stores.settings.change(ANNA, "appearance.theme", "dark")
    fired = await stores.schedules.fire(await added(stores), firing())
    assert fired is not None
    lease = await stores.ledger.claim("w", lease_s=30, model="m", run_id=fired.run_id)
    assert lease is not None
    assert lease.has_settings


async def test_of_many_that_send_the_same_occurrence_one_does(stores: MongoStores) -> None:
    session_id = await stores.session()
    schedule = await added(stores, session_id=session_id)
    sent = await asyncio.gather(*(stores.schedules.fire(schedule, firing()) for _ in range(8)))
    assert sum(one is not None for one in sent) == 1
    assert await stores.schedules.fire(schedule, firing()) is None, "who read it before comes too late"
    assert [event.payload.type for event in await told(stores, session_id)] == [
        "schedule.fired",
        "message.user",
        "run.queued",
    ]


async def test_what_was_changed_or_deleted_since_it_was_read_is_not_sent(stores: MongoStores) -> None:
    session_id = await stores.session()
    schedule = await added(stores, session_id=session_id)
    await stores.schedules.replace(replace(schedule, paused=True, next_at=None))
    assert await stores.schedules.fire(schedule, firing()) is None
    await stores.schedules.delete(schedule.id, ANNA)
    assert await stores.schedules.fire(schedule, firing()) is None
    assert await told(stores, session_id) == []


async def test_what_was_changed_since_it_was_read_is_not_put_off(stores: MongoStores) -> None:
    schedule = await added(stores)
    await stores.schedules.replace(replace(schedule, text="sooner"))
    await stores.schedules.postpone(schedule, for_s=3600)
    upcoming = await stores.schedules.upcoming(limit=9)
    assert upcoming is not None
    assert [one.text for one in upcoming.schedules] == ["sooner"]
    await stores.schedules.postpone(upcoming.schedules[0], for_s=3600)
    later = await stores.schedules.upcoming(limit=9)
    assert later is not None
    assert later.schedules == []


async def test_a_person_has_it_sent_without_a_change_of_when_it_is_due(stores: MongoStores) -> None:
    session_id = await stores.session()
    schedule = await added(stores, session_id=session_id, next_at=LATER, missed=MISSED)
    now = Firing(message=MessageUser(message_id="m1", text="hi"))
    fired = await stores.schedules.fire(schedule, now)
    assert fired is not None
    present = await stores.schedules.get(schedule.id, ANNA)
    assert (present.next_at, present.missed, present.version) == (LATER, MISSED, schedule.version)
    assert present.last_run is not None
    assert (present.last_run.due_at, present.last_run.run_id) == (None, fired.run_id)
    await stores.schedules.delete(schedule.id, ANNA)
    with pytest.raises(ScheduleNotFoundError):
        await stores.schedules.fire(schedule, now)


async def test_that_of_a_deleted_session_is_paused_and_says_so(stores: MongoStores) -> None:
    session_id = await stores.session()
    schedule = await added(stores, session_id=session_id)
    with pytest.raises(SessionNotFoundError):
        await stores.schedules.fire(replace(schedule, session_id=SessionId("none")), firing())
    await stores.sessions.delete(session_id, ANNA)
    present = await stores.schedules.get(schedule.id, ANNA)
    assert (present.paused, present.pause_reason, present.next_at) == (True, "session_deleted", None)
    assert await stores.schedules.fire(schedule, firing()) is None
    assert await stores.schedules.upcoming(limit=9) is None
