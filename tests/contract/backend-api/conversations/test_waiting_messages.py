"""Messages that no model has read yet are bounded in each session."""

from __future__ import annotations

import pytest

from backend_api.agent.events import MessageCompleted, MessageUser, RunFinished, Usage
from backend_api.agent.new_events import NewEvent
from backend_api.agent.plans import Plan, PlanDecision
from backend_api.agent.waits import Wait
from backend_api.conversations.domain.entity import Accepted
from backend_api.conversations.domain.errors import TooManyWaitingError
from backend_api.kit.ids import SessionId
from support.backend_stores import ANNA, MongoStores

MOST = 3


@pytest.fixture
def bounds() -> dict[str, int]:
    return {"max_waiting": MOST}


async def say(stores: MongoStores, session_id: SessionId, name: str, *, interrupt: bool = False) -> Accepted:
    said = MessageUser(message_id=name, text=name, client_message_id=name)
    return await stores.ledger.accept(session_id, ANNA, said, interrupt=interrupt)


async def refused(stores: MongoStores, session_id: SessionId, *, interrupt: bool = False) -> None:
    before = (await stores.sessions.get(session_id, ANNA)).last_seq
    with pytest.raises(TooManyWaitingError):
        await say(stores, session_id, "too many", interrupt=interrupt)
    assert (await stores.sessions.get(session_id, ANNA)).last_seq == before


@pytest.mark.parametrize("status", ["completed", "failed", "stopped"])
async def test_so_many_wait_and_no_more_until_the_model_has_read_them(stores: MongoStores, status: str) -> None:
    session_id = await stores.session()
    accepted = [await say(stores, session_id, f"m{n}") for n in range(MOST)]
    await refused(stores, session_id)
    assert (await say(stores, session_id, "m1")).duplicate
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    await refused(stores, session_id)
    answer = MessageCompleted(message_id="a", text="Read two.", turn=1, seen_seq=accepted[1].seq)
    await stores.ledger.record(lease, [NewEvent(payload=answer)])
    last = [await say(stores, session_id, name) for name in ("m3", "m4")][-1]
    await refused(stores, session_id)
    finished = RunFinished(run_id=lease.run.id, status=status, usage=Usage())  # type: ignore[arg-type]
    assert await stores.ledger.finish(lease, finished, seen_seq=last.seq)
    for n in range(5, 5 + MOST):
        await say(stores, session_id, f"m{n}")
    await refused(stores, session_id)
    await stores.ledger.request_stop(session_id, ANNA)
    assert not (await say(stores, session_id, "after the stop")).duplicate


async def test_so_many_are_for_a_run_that_waits_and_one_more_that_interrupts_decides_nothing(
    stores: MongoStores,
) -> None:
    session_id = await stores.session()
    first = await say(stores, session_id, "go")
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    answer = MessageCompleted(message_id="a", text="Read.", turn=1, seen_seq=first.seq)
    await stores.ledger.record(lease, [NewEvent(payload=answer)])
    wait = Wait(id="p", subject=Plan(call_id="c", plan="1. go"), expires_s=60)
    assert await stores.ledger.wait(lease, [wait], read_seq=first.seq)
    for n in range(MOST):
        assert (await say(stores, session_id, f"m{n}")).run_id == lease.run.id
    await refused(stores, session_id)
    await refused(stores, session_id, interrupt=True)
    assert (await stores.waits.answer(session_id, ANNA, "p", PlanDecision(decision="approve"))).is_queued
    again = await stores.ledger.claim("w", lease_s=30, model="m")
    assert again is not None
    last = (await stores.sessions.get(session_id, ANNA)).last_seq
    answer = MessageCompleted(message_id="b", text="Read all.", turn=2, seen_seq=last)
    await stores.ledger.record(again, [NewEvent(payload=answer)])
    assert not (await say(stores, session_id, "read")).duplicate


async def test_other_sessions_wait_for_themselves(stores: MongoStores) -> None:
    full, other = await stores.session(), await stores.session()
    for n in range(MOST):
        await say(stores, full, f"m{n}")
    await refused(stores, full)
    assert (await say(stores, other, "m")).seq == 1
