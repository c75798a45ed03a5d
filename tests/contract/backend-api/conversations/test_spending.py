"""What runs used is summed up, each once, whatever became of them and whoever else had some."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from backend_api.agent.events import MessageCompleted, MessageUser, Question, RunFinished, Usage, UsageUpdated
from backend_api.agent.new_events import NewEvent
from backend_api.agent.options import Options
from backend_api.agent.questions import Questions
from backend_api.agent.usage import add_usage
from backend_api.agent.waits import Wait
from backend_api.conversations.domain.entity import Lease
from backend_api.conversations.domain.errors import LeaseLostError
from backend_api.conversations.domain.spending import SpentPage, SpentQuery, UsageBy
from backend_api.kit.errors import InvalidError
from backend_api.kit.ids import SessionId, UserId
from support.backend_stores import ANNA, BERT, MongoStores

PRICED = Usage(input=100, cached=40, output=10, thinking=5, cache_write=2, cost=0.25)
UNPRICED = Usage(input=7, output=1)


def used(*calls: tuple[str, Usage]) -> Usage:
    total = Usage()
    for model, call in calls:
        total = add_usage(total, call, model)
    return total


async def begun(stores: MongoStores, session_id: SessionId, user_id: UserId = ANNA) -> Lease:
    message = MessageUser(message_id="m", text="go")
    accepted = await stores.ledger.accept(session_id, user_id, message)
    lease = await stores.ledger.claim("w", lease_s=30, model="m", run_id=accepted.run_id)
    assert lease is not None
    return lease


async def told(stores: MongoStores, lease: Lease, usage: Usage) -> None:
    said = [MessageCompleted(message_id="a", text="so"), UsageUpdated(usage=usage)]
    await stores.ledger.record(lease, [NewEvent(payload=payload) for payload in said])


async def ended(stores: MongoStores, lease: Lease, usage: Usage, status: Any = "completed") -> None:
    finished = RunFinished(run_id=lease.run.id, status=status, usage=usage)
    assert await stores.ledger.finish(lease, finished, seen_seq=2**40)


async def asked(stores: MongoStores, by: UsageBy, user_id: UserId = ANNA, **changes: Any) -> SpentPage:
    now = datetime.now(UTC)
    within = {"since": now - timedelta(days=1), "until": now + timedelta(days=1), "timezone": "UTC", "limit": 50}
    return await stores.spending.page(SpentQuery(user_id=user_id, by=by, **(within | changes)))


async def total(stores: MongoStores, user_id: UserId = ANNA) -> tuple[int, int, float | None]:
    spent = (await asked(stores, "day", user_id)).total
    return spent.runs, spent.input, spent.cost


async def test_a_run_counts_once_while_it_works_when_it_has_ended_and_when_it_was_deleted(
    stores: MongoStores,
) -> None:
    session_id = await stores.session()
    assert await total(stores) == (0, 0, None)
    lease = await begun(stores, session_id)
    assert await total(stores) == (0, 0, None), "nothing was asked yet"
    await told(stores, lease, used(("m", PRICED)))
    assert await total(stores) == (1, 100, 0.25)
    await told(stores, lease, used(("m", PRICED), ("m", PRICED)))
    assert await total(stores) == (1, 200, 0.5)
    await ended(stores, lease, used(("m", PRICED), ("m", PRICED), ("m", PRICED)))
    assert await total(stores) == (1, 300, 0.75)
    again = await begun(stores, session_id)
    await told(stores, again, used(("m", PRICED)))
    assert await total(stores) == (2, 400, 1.0)
    await stores.sessions.delete(session_id, ANNA)
    assert await total(stores) == (2, 400, 1.0)
    with pytest.raises(LeaseLostError):
        await told(stores, again, used(("m", PRICED), ("m", PRICED)))
    assert await total(stores) == (2, 400, 1.0)
    (row,) = (await asked(stores, "session")).items
    assert (row.key, row.title, row.spent.input) == (None, None, 400)


async def test_one_that_waits_counts_and_one_that_is_stopped_while_it_does(stores: MongoStores) -> None:
    session_id = await stores.session()
    lease = await begun(stores, session_id)
    await told(stores, lease, used(("m", PRICED)))
    questions = Questions(call_id="c", questions=[Question(id="q", text="Which?")])
    assert await stores.ledger.wait(lease, [Wait(id="w", subject=questions, expires_s=60)], read_seq=0)
    assert await total(stores) == (1, 100, 0.25)
    await stores.ledger.request_stop(session_id, ANNA)
    assert await total(stores) == (1, 100, 0.25)


async def test_a_run_that_is_taken_over_counts_what_both_workers_told_once(stores: MongoStores) -> None:
    lease = await begun(stores, await stores.session())
    await told(stores, lease, used(("m", PRICED)))
    await stores.ledger.release(lease)
    next_lease = None
    async with asyncio.timeout(10):
        while next_lease is None:
            next_lease = await stores.ledger.claim("w2", lease_s=30, model="m", run_id=lease.run.id)
    with pytest.raises(LeaseLostError):
        await told(stores, lease, used(("m", PRICED), ("m", PRICED)))
    assert await total(stores) == (1, 100, 0.25)
    await told(stores, next_lease, used(("m", PRICED), ("m", PRICED)))
    assert await total(stores) == (1, 200, 0.5)
    await ended(stores, next_lease, used(("m", PRICED), ("m", PRICED)), "failed")
    assert await total(stores) == (1, 200, 0.5)


async def test_an_unknown_price_is_none_and_what_is_known_stands_beside(stores: MongoStores) -> None:
    lease = await begun(stores, await stores.session())
    await ended(stores, lease, used(("priced", PRICED), ("unpriced", UNPRICED), ("mixed", PRICED), ("mixed", UNPRICED)))
    page = await asked(stores, "model")
    rows = {row.key: (row.spent.input, row.spent.cost, row.spent.known_cost) for row in page.items}
    assert rows == {
        "mixed": (107, None, 0.25),
        "priced": (100, 0.25, 0.25),
        "unpriced": (7, None, 0.0),
    }
    assert [row.key for row in page.items] == ["mixed", "priced", "unpriced"], "most tokens first"
    assert (page.total.runs, page.total.input, page.total.cost, page.total.known_cost) == (1, 214, None, 0.5)
    priced = page.items[1].spent
    assert (priced.cached, priced.output, priced.thinking, priced.cache_write) == (40, 10, 5, 2)


async def test_nobody_sees_anothers(stores: MongoStores) -> None:
    for user_id in (ANNA, BERT):
        lease = await begun(stores, await stores.session(user_id), user_id)
        await ended(stores, lease, used((user_id, PRICED)))
    working = await begun(stores, await stores.session(BERT), BERT)
    await told(stores, working, used(("b", UNPRICED)))
    assert await total(stores) == (1, 100, 0.25)
    assert [row.key for row in (await asked(stores, "model")).items] == [ANNA]
    assert await total(stores, BERT) == (2, 107, None)


async def test_days_are_those_of_the_time_zone_and_the_range_is_kept(stores: MongoStores) -> None:
    lease = await begun(stores, await stores.session())
    await ended(stores, lease, used(("m", PRICED)))
    at = lease.run.created_at
    for zone in ("UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago"):
        (row,) = (await asked(stores, "day", timezone=zone)).items
        assert row.key == at.astimezone(ZoneInfo(zone)).date().isoformat()
    moment = timedelta(milliseconds=1)
    for since, until, count in ((at, at + moment, 1), (at + moment, at + moment * 9, 0), (at - moment, at, 0)):
        assert (await asked(stores, "day", since=since, until=until)).total.runs == count
    with pytest.raises(InvalidError):
        await asked(stores, "day", timezone="Mars/Olympus")


async def test_sessions_come_in_pages_the_one_with_the_last_run_first(stores: MongoStores) -> None:
    sessions = [await stores.session(title=f"number {number}") for number in range(5)]
    for session_id in [*sessions, sessions[0]]:
        await ended(stores, await begun(stores, session_id), used(("m", PRICED)))
    seen, cursor = list[Any](), None
    while True:
        page = await asked(stores, "session", limit=2, cursor=cursor)
        assert page.total.runs == 6
        assert len(page.items) <= 2
        seen += [(row.key, row.title, row.spent.runs) for row in page.items]
        if (cursor := page.next_cursor) is None:
            break
    order = [0, 4, 3, 2, 1]
    assert seen == [(sessions[number], f"number {number}", 2 if number == 0 else 1) for number in order]
    with pytest.raises(InvalidError):
        await asked(stores, "session", cursor="!")


async def test_what_a_title_used_counts_with_its_run(stores: MongoStores) -> None:
    session_id = await stores.session()
    await stores.sessions.update(session_id, ANNA, {"options": {"enable_tracing": True}, "model": "m", "preset": "p"})
    lease = await begun(stores, session_id)
    await stores.sessions.name(session_id, ANNA, "first line")
    await ended(stores, lease, used(("m", PRICED)))
    due = await stores.titles.begin(session_id, within_s=60)
    assert due is not None
    assert due.options == Options(model="m", preset="p", enable_tracing=True)
    await stores.titles.store(due, "Better", used(("t", UNPRICED)))
    assert await total(stores) == (1, 107, None)
    assert [(row.key, row.spent.known_cost) for row in (await asked(stores, "model")).items] == [
        ("m", 0.25),
        ("t", 0.0),
    ]


@pytest.mark.parametrize("is_removed", [False, True], ids=["just deleted", "removed"])
@pytest.mark.parametrize("of_run", [used(("m", PRICED)), Usage()], ids=["a run that asked", "one that did not"])
async def test_what_a_title_used_counts_though_its_session_was_deleted_meanwhile(
    stores: MongoStores, of_run: Usage, is_removed: bool
) -> None:
    session_id = await stores.session()
    lease = await begun(stores, session_id)
    await stores.sessions.name(session_id, ANNA, "go")
    await ended(stores, lease, of_run)
    due = await stores.titles.begin(session_id, within_s=60)
    assert due is not None
    await stores.sessions.delete(session_id, ANNA)
    if is_removed:
        await stores.deletions(0.0).finish(session_id)
    assert list(await stores.titles.store(due, "Better", used(("t", PRICED), ("m", UNPRICED)))) == []
    calls = [("m", PRICED)] if of_run.by_model else []
    whole = used(*calls, ("t", PRICED), ("m", UNPRICED))
    found = await asked(stores, "model")
    assert (found.total.runs, found.total.input, found.total.cost) == (1, whole.input, None)
    assert {row.key: row.spent.input for row in found.items} == {m: n["input"] for m, n in whole.by_model.items()}
    assert {row.key: row.spent.cost for row in found.items} == {"t": 0.25, "m": None}
    assert found.total.known_cost == whole.known_cost
    await stores.deletions(0.0).finish(session_id)
    assert (await asked(stores, "model")).total == found.total
