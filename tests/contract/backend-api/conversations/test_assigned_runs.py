"""Runs leased to a worker in another process in the moment they are queued."""

from __future__ import annotations

import asyncio

from backend_api.agent.events import MessageUser, RunFinished, RunStarted
from backend_api.conversations.domain.entity import Accepted, Claimant, Lease, RunId
from backend_api.kit.ids import SessionId
from support.backend_stores import ANNA, MongoStores


async def assigned(stores: MongoStores, *, lease_s: float = 30) -> tuple[SessionId, Accepted]:
    session_id = await stores.session(title="named")
    await stores.sessions.update(session_id, ANNA, {"options": {"max_turns": 3}, "preset": "chat"})
    claimant = Claimant(worker="w1", lease_s=lease_s, model="m", is_elsewhere=True)
    message = MessageUser(message_id="m1", text="hi")
    return session_id, await stores.ledger.accept(session_id, ANNA, message, claimant=claimant)


async def confirm(stores: MongoStores, run_id: RunId, worker: str = "w1") -> Lease | None:
    return await stores.ledger.confirm(run_id, worker, lease_s=30)


async def test_its_worker_takes_it_up_with_all_that_a_claim_tells(stores: MongoStores) -> None:
    session_id, accepted = await assigned(stores)
    assert [event.payload.type for event in accepted.events] == ["message.user", "run.queued", "run.started"]
    lease = await confirm(stores, accepted.run_id)
    assert lease is not None
    assert (lease.worker, lease.fence, lease.has_begun_before, lease.messages) == ("w1", 1, False, ())
    assert lease.is_named
    assert (lease.options.max_turns, lease.options.preset) == (3, "chat")
    ended = RunFinished(run_id=lease.run.id, status="completed")
    assert await stores.ledger.finish(lease, ended, seen_seq=accepted.seq)
    events = await stores.log.read(session_id, after=0, limit=100)
    assert [event.payload.worker for event in events if isinstance(event.payload, RunStarted)] == ["w1"]


async def test_it_is_taken_up_once_and_by_its_worker_alone(stores: MongoStores) -> None:
    _, accepted = await assigned(stores)
    assert await confirm(stores, accepted.run_id, "w2") is None
    assert await confirm(stores, RunId("nobody's")) is None
    leases = await asyncio.gather(*(confirm(stores, accepted.run_id) for _ in range(8)))
    assert sum(lease is not None for lease in leases) == 1


async def test_one_that_was_not_taken_up_in_time_is_claimed_by_any_worker_and_by_it_no_more(
    stores: MongoStores,
) -> None:
    for claimant in ("w1", "w2"):
        _, accepted = await assigned(stores, lease_s=-1)
        claimed = await stores.ledger.claim(claimant, lease_s=30, model="m", run_id=accepted.run_id)
        assert claimed is not None
        assert (claimed.fence, claimed.has_begun_before) == (2, True)
        assert await confirm(stores, accepted.run_id) is None


async def test_one_taken_up_is_nobody_elses(stores: MongoStores) -> None:
    _, accepted = await assigned(stores, lease_s=-1)
    assert await confirm(stores, accepted.run_id) is not None
    assert await stores.ledger.claim("w2", lease_s=30, model="m") is None


async def test_a_stop_that_came_before_it_was_taken_up_lies_in_its_inbox(stores: MongoStores) -> None:
    session_id, accepted = await assigned(stores)
    stopped = await stores.ledger.request_stop(session_id, ANNA)
    assert stopped is not None
    assert stopped.stop_requested
    lease = await confirm(stores, accepted.run_id)
    assert lease is not None
    assert [message.kind for message in lease.messages] == ["stop"]


async def test_of_several_those_are_told_that_lapsed_and_that_nobody_has(stores: MongoStores) -> None:
    names = ("left", "confirmed", "claimed", "stopped")
    ids = {name: (await assigned(stores, lease_s=-1))[1].run_id for name in names}
    ids["fresh"] = (await assigned(stores))[1].run_id
    ids["gone"] = RunId("nobody's")
    assert await confirm(stores, ids["confirmed"]) is not None
    assert await stores.ledger.claim("w2", lease_s=30, model="m", run_id=ids["claimed"]) is not None
    stopped = await stores.ledger.claim("w2", lease_s=30, model="m", run_id=ids["stopped"])
    assert stopped is not None
    assert await stores.ledger.finish(stopped, RunFinished(run_id=ids["stopped"], status="stopped"), seen_seq=9)
    assert await stores.ledger.lapsed([*ids.values()]) == [ids["left"]]
    assert await stores.ledger.lapsed([]) == []
