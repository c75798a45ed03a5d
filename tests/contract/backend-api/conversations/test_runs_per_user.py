"""Nobody keeps the others from being served: one user has so many runs at work, further ones wait."""

from __future__ import annotations

import pytest

from backend_api.agent.events import MessageUser, RunFinished, Usage
from backend_api.conversations.domain.entity import Claimant
from backend_api.kit.ids import SessionId, UserId
from support.backend_stores import ANNA, BERT, MongoStores

CLAIMANT = Claimant(worker="here", lease_s=30, model="m")


@pytest.fixture
def bounds() -> dict[str, int]:
    return {"runs_per_user": 1}


async def ask(stores: MongoStores, user_id: UserId, claimant: Claimant | None = None) -> SessionId:
    session_id = await stores.session(user_id)
    said = MessageUser(message_id=f"m-{session_id}", text="hello")
    await stores.ledger.accept(session_id, user_id, said, claimant=claimant)
    return session_id


async def claimed(stores: MongoStores) -> SessionId | None:
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    return lease.run.session_id if lease else None


async def test_a_second_run_waits_while_another_user_is_served(stores: MongoStores) -> None:
    first, second, others = await ask(stores, ANNA), await ask(stores, ANNA), await ask(stores, BERT)
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    assert lease.run.session_id == first
    assert [await claimed(stores), await claimed(stores)] == [others, None]
    finished = RunFinished(run_id=lease.run.id, status="completed", usage=Usage())
    await stores.ledger.finish(lease, finished, seen_seq=1)
    assert await claimed(stores) == second


async def test_a_free_worker_does_not_take_what_is_one_too_many(stores: MongoStores) -> None:
    first, second = await ask(stores, ANNA, CLAIMANT), await ask(stores, ANNA, CLAIMANT)
    states = [(await stores.sessions.get(session_id, ANNA)).status for session_id in (first, second)]
    assert states == ["running", "queued"]


async def test_a_lapsed_run_is_taken_over_all_the_same(stores: MongoStores) -> None:
    first = await ask(stores, ANNA)
    await stores.ledger.claim("w", lease_s=-1, model="m")
    assert await claimed(stores) == first
