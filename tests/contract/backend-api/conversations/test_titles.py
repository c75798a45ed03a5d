"""Titles that are due."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from backend_api.agent.events import Event, MessageCompleted, MessageUser, RunFinished, SessionUpdated, Usage
from backend_api.agent.new_events import NewEvent
from backend_api.conversations.domain.titles import MAX_ATTEMPTS, DueTitle
from backend_api.kit.ids import SessionId
from support.backend_stores import ANNA, MongoStores

RUN = Usage(input=100, output=10, cost=0.5, known_cost=0.5, by_model={"m": {"input": 100, "output": 10}})
TITLE = Usage(input=20, output=3, cost=0.25, known_cost=0.25, by_model={"t": {"input": 20, "output": 3}})


async def answered(stores: MongoStores, *, name: bool = True) -> SessionId:
    """A session called by its first line, whose first run has ended."""
    session_id = await stores.session()
    await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m", text="first line"))
    lease = await stores.ledger.claim("w", lease_s=60, model="m")
    assert lease is not None
    if name:
        await stores.sessions.name(session_id, ANNA, "first line")
    said = [NewEvent(payload=MessageCompleted(message_id="a", text="an answer", turn=1, seen_seq=1))]
    end = RunFinished(run_id=lease.run.id, status="completed", usage=RUN)
    assert await stores.ledger.finish(lease, end, seen_seq=1, said=said)
    return session_id


async def begun(stores: MongoStores, session_id: SessionId, *, within_s: float = 60) -> DueTitle:
    due = await stores.titles.begin(session_id, within_s=within_s)
    assert due is not None
    return due


async def told(stores: MongoStores, session_id: SessionId) -> list[str | None]:
    events = await stores.log.read(session_id, after=0, limit=1_000)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert (await stores.sessions.get(session_id, ANNA)).last_seq == len(events)
    return [event.payload.title for event in events if isinstance(event.payload, SessionUpdated)]


async def test_a_title_is_stored_told_and_its_usage_counted(stores: MongoStores) -> None:
    session_id = await answered(stores)
    assert list(await stores.titles.due()) == [session_id]
    due = await begun(stores, session_id)
    (event,) = await stores.titles.store(due, "Better", TITLE)
    assert isinstance(event, Event)
    assert (event.payload, event.run_id) == (SessionUpdated(title="Better"), None)
    assert (await stores.sessions.get(session_id, ANNA)).title == "Better"
    assert await told(stores, session_id) == ["first line", "Better"]
    assert await stores.transcripts.usage(session_id) == replace(
        RUN,
        input=120,
        output=13,
        cost=0.75,
        known_cost=0.75,
        by_model=RUN.by_model | TITLE.by_model,
        costs={"m": {"cost": 0.5, "known_cost": 0.5}, "t": {"cost": 0.25, "known_cost": 0.25}},
    )
    assert list(await stores.titles.due()) == []
    assert await stores.titles.begin(session_id, within_s=60) is None


async def test_one_of_many_that_begin_at_once_has_it(stores: MongoStores) -> None:
    session_id = await answered(stores)
    begun = await asyncio.gather(*(stores.titles.begin(session_id, within_s=60) for _ in range(10)))
    assert sum(due is not None for due in begun) == 1
    assert list(await stores.titles.due()) == []


async def test_an_attempt_whose_worker_died_is_begun_anew_and_can_tell_nothing_more(
    stores: MongoStores,
) -> None:
    session_id = await answered(stores)
    dead = await begun(stores, session_id, within_s=0)
    async with asyncio.timeout(10):
        while not await stores.titles.due():
            await asyncio.sleep(0.01)
    second = await begun(stores, session_id)
    assert second.attempt == 2
    assert list(await stores.titles.store(dead, "Late", TITLE)) == []
    assert await stores.titles.store(second, "Better", TITLE)
    assert await told(stores, session_id) == ["first line", "Better"]


@pytest.mark.parametrize("given", ["mine", "first line"])
async def test_a_title_that_the_user_gives_meanwhile_stays(stores: MongoStores, given: str) -> None:
    session_id = await answered(stores)
    due = await begun(stores, session_id)
    await stores.sessions.change(session_id, ANNA, {"title": given})
    assert list(await stores.titles.store(due, "Better", TITLE)) == []
    assert (await stores.sessions.get(session_id, ANNA)).title == given
    assert (await stores.transcripts.usage(session_id)).input == 120
    assert await stores.titles.begin(session_id, within_s=60) is None


async def test_of_a_users_title_and_a_models_at_the_same_moment_the_users_stays(stores: MongoStores) -> None:
    for _ in range(20):
        session_id = await answered(stores)
        due = await begun(stores, session_id)
        await asyncio.gather(
            stores.titles.store(due, "Better", TITLE), stores.sessions.change(session_id, ANNA, {"title": "mine"})
        )
        assert (await stores.sessions.get(session_id, ANNA)).title == "mine"
        assert (await told(stores, session_id))[-1] == "mine"


async def test_a_session_that_was_named_by_its_user_has_none_due(stores: MongoStores) -> None:
    session_id = await stores.session(title="mine")
    assert await stores.titles.begin(session_id, within_s=60) is None
    assert list(await stores.titles.due()) == []


async def test_what_fails_is_put_off_and_given_up_after_so_many_attempts(stores: MongoStores) -> None:
    session_id = await answered(stores)
    await stores.titles.postpone(await begun(stores, session_id), Usage(), for_s=60)
    assert list(await stores.titles.due()) == []
    assert await stores.titles.begin(session_id, within_s=60) is None

    session_id = await answered(stores)
    for attempt in range(1, MAX_ATTEMPTS + 1):
        due = await begun(stores, session_id)
        assert due.attempt == attempt
        await stores.titles.postpone(due, TITLE, for_s=0)
    assert await stores.titles.begin(session_id, within_s=60) is None
    assert await told(stores, session_id) == ["first line"]
    assert (await stores.transcripts.usage(session_id)).input == 100 + MAX_ATTEMPTS * 20


async def test_one_without_an_answer_waits_for_the_end_of_a_run(stores: MongoStores) -> None:
    session_id = await answered(stores)
    await stores.titles.postpone(await begun(stores, session_id), Usage(), for_s=None)
    assert list(await stores.titles.due()) == []
    assert (await begun(stores, session_id)).attempt == 1


async def test_none_that_has_a_run_at_work_is_looked_for(stores: MongoStores) -> None:
    session_id = await answered(stores)
    await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m2", text="more"))
    assert list(await stores.titles.due()) == []
    lease = await stores.ledger.claim("w", lease_s=60, model="m")
    assert lease is not None
    assert (lease.is_named, lease.is_title_due) == (True, True)


async def test_keeping_what_it_is_called_ends_the_matter(stores: MongoStores) -> None:
    session_id = await answered(stores)
    assert list(await stores.titles.store(await begun(stores, session_id), None, TITLE)) == []
    assert await told(stores, session_id) == ["first line"]
    assert await stores.titles.begin(session_id, within_s=60) is None
    assert (await stores.transcripts.usage(session_id)).input == 120


async def test_the_beginning_of_a_conversation_is_what_was_said_first(stores: MongoStores) -> None:
    session_id = await answered(stores)
    said = await stores.transcripts.beginning(session_id, limit=1)
    assert [event.payload for event in said] == [MessageUser(message_id="m", text="first line")]
    said = await stores.transcripts.beginning(session_id, limit=20, most=1_000)
    assert [event.payload.type for event in said] == ["message.user", "message.completed"]


async def test_a_deleted_session_gets_none(stores: MongoStores) -> None:
    session_id = await answered(stores)
    due = await begun(stores, session_id)
    await stores.sessions.delete(session_id, ANNA)
    assert list(await stores.titles.store(due, "Better", TITLE)) == []
    assert await stores.titles.begin(session_id, within_s=60) is None
