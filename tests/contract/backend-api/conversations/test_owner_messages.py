"""What is said to the owner of a run, and runs handed over."""

from __future__ import annotations

import asyncio

import pytest

from backend_api.agent.events import MessageCompleted, MessageUser, RunFinished
from backend_api.agent.new_events import NewEvent
from backend_api.conversations.domain.entity import Accepted, Lease, RunId, RunStatus
from backend_api.conversations.domain.errors import LeaseLostError
from backend_api.kit.ids import SessionId
from support.backend_stores import ANNA, MongoStores


async def say(stores: MongoStores, session_id: SessionId, text: str, *, interrupt: bool = False) -> Accepted:
    message = MessageUser(message_id=f"m-{text}", text=text)
    return await stores.ledger.accept(session_id, ANNA, message, interrupt=interrupt)


async def at_work(stores: MongoStores) -> tuple[SessionId, Lease]:
    session_id = await stores.session()
    await say(stores, session_id, "hello")
    lease = await stores.ledger.claim("w1", lease_s=30, model="m")
    assert lease is not None
    return session_id, lease


async def heard(stores: MongoStores, lease: Lease) -> list[tuple[str, int]]:
    return [(message.kind, message.seq) for message in await stores.ledger.renew(lease, lease_s=30)]


async def test_a_message_that_interrupts_waits_for_the_owner_until_it_is_taken(stores: MongoStores) -> None:
    session_id, lease = await at_work(stores)
    assert lease.messages == ()
    await say(stores, session_id, "and this")
    redirect = await say(stores, session_id, "no, that", interrupt=True)
    assert redirect.run_id == lease.run.id
    (message,) = await stores.ledger.renew(lease, lease_s=30)
    assert (message.kind, message.seq) == ("redirect", redirect.seq)
    assert await stores.ledger.renew(lease, lease_s=30) == (message,)
    cut = NewEvent(payload=MessageCompleted(message_id="a", text="b", partial=True))
    (event,) = await stores.ledger.record(lease, [cut], handled=message.number)
    assert event.seq == redirect.seq + 1
    assert await heard(stores, lease) == []


async def test_messages_are_taken_without_an_event_too(stores: MongoStores) -> None:
    session_id, lease = await at_work(stores)
    await say(stores, session_id, "no, that", interrupt=True)
    (message,) = await stores.ledger.renew(lease, lease_s=30)
    assert await stores.ledger.record(lease, [], handled=message.number) == []
    assert await heard(stores, lease) == []


async def test_a_later_redirect_stands_for_an_earlier_one_and_survives_its_taking(stores: MongoStores) -> None:
    session_id, lease = await at_work(stores)
    await say(stores, session_id, "one", interrupt=True)
    (first,) = await stores.ledger.renew(lease, lease_s=30)
    two = await say(stores, session_id, "two", interrupt=True)
    await stores.ledger.record(lease, [], handled=first.number)
    assert await heard(stores, lease) == [("redirect", two.seq)]


async def test_redirects_and_stops_at_once_are_all_heard_in_order(stores: MongoStores) -> None:
    session_id, lease = await at_work(stores)
    said, *_ = await asyncio.gather(
        asyncio.gather(*(say(stores, session_id, str(n), interrupt=True) for n in range(5))),
        *(stores.ledger.request_stop(session_id, ANNA) for _ in range(5)),
    )
    messages = await stores.ledger.renew(lease, lease_s=30)
    assert sorted(message.kind for message in messages) == ["redirect", "stop"]
    assert [message.number for message in messages] == sorted(message.number for message in messages)
    assert max(message.number for message in messages) == 10
    assert max(one.seq for one in said) in {message.seq for message in messages if message.kind == "redirect"}


async def test_a_queued_run_needs_no_redirect_and_an_idle_session_gets_a_run(stores: MongoStores) -> None:
    session_id = await stores.session()
    first = await say(stores, session_id, "one", interrupt=True)
    second = await say(stores, session_id, "two", interrupt=True)
    assert first.run_id == second.run_id
    lease = await stores.ledger.claim("w1", lease_s=30, model="m")
    assert lease is not None
    assert lease.messages == ()
    assert await heard(stores, lease) == []


async def test_what_was_not_taken_is_told_to_the_next_owner_and_only_to_the_owner(stores: MongoStores) -> None:
    session_id = await stores.session()
    await say(stores, session_id, "hello")
    lapsed = await stores.ledger.claim("w1", lease_s=-1, model="m")
    assert lapsed is not None
    redirect = await say(stores, session_id, "no, that", interrupt=True)
    await stores.ledger.request_stop(session_id, ANNA)
    lease = await stores.ledger.claim("w2", lease_s=30, model="m")
    assert lease is not None
    assert [(one.kind, one.seq) for one in lease.messages] == [
        ("redirect", redirect.seq),
        ("stop", redirect.seq),
    ]
    with pytest.raises(LeaseLostError):
        await stores.ledger.renew(lapsed, lease_s=30)
    with pytest.raises(LeaseLostError):
        await stores.ledger.record(lapsed, [], handled=lease.messages[-1].number)
    assert len(await heard(stores, lease)) == 2


async def test_a_stop_of_another_run_touches_nothing(stores: MongoStores) -> None:
    session_id, lease = await at_work(stores)
    assert await stores.ledger.request_stop(session_id, ANNA, RunId("another")) is None
    assert await heard(stores, lease) == []
    assert await stores.ledger.request_stop(session_id, ANNA, lease.run.id) is not None
    assert await heard(stores, lease) == [("stop", 3)]


async def test_a_run_that_was_given_back_is_claimed_at_once_and_the_first_owner_is_fenced_out(
    stores: MongoStores,
) -> None:
    _, lease = await at_work(stores)
    await stores.ledger.release(lease)
    taken = await stores.ledger.claim("w2", lease_s=30, model="m")
    assert taken is not None
    assert (taken.run.id, taken.run.attempt, taken.run.releases) == (lease.run.id, 2, 1)
    assert (taken.run.worker, taken.has_begun_before) == ("w2", True)
    for late in (stores.ledger.release(lease), stores.ledger.renew(lease, lease_s=30)):
        with pytest.raises(LeaseLostError):
            await late
    with pytest.raises(LeaseLostError):
        await stores.ledger.record(lease, [NewEvent(payload=MessageCompleted(message_id="late", text="late"))])


async def test_a_heartbeat_that_comes_after_a_run_was_given_back_does_not_take_it_again(
    stores: MongoStores,
) -> None:
    _, lease = await at_work(stores)
    await stores.ledger.release(lease)
    with pytest.raises(LeaseLostError):
        await stores.ledger.renew(lease, lease_s=30)
    taken = await stores.ledger.claim("w2", lease_s=30, model="m")
    assert taken is not None
    assert taken.run.id == lease.run.id


async def test_an_ended_run_is_not_given_back(stores: MongoStores) -> None:
    session_id, lease = await at_work(stores)
    await stores.ledger.finish(lease, RunFinished(run_id=lease.run.id, status="completed"), seen_seq=3)
    with pytest.raises(LeaseLostError):
        await stores.ledger.release(lease)
    run = await stores.ledger.get(lease.run.id)
    assert run is not None
    assert run.status == RunStatus.COMPLETED
    await say(stores, session_id, "again", interrupt=True)
    assert await stores.ledger.claim("w2", lease_s=30, model="m") is not None
