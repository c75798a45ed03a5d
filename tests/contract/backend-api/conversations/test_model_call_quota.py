"""How much is kept of model calls."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from support.backend_stores import ANNA, BERT, MongoStores

MOST = 1_000


@pytest.fixture
def bounds() -> dict[str, Any]:
    return {"model_call_quota_most": MOST}


async def test_the_calls_of_all_sessions_of_a_user_count_together_and_nobody_elses(stores: MongoStores) -> None:
    sessions = [await stores.session(), await stores.session()]
    assert await stores.model_call_quota.has_room(ANNA)
    for session_id in sessions:
        await stores.model_call_quota.add(session_id, ANNA, MOST // 2 - 1)
    assert await stores.model_call_quota.has_room(ANNA)
    await stores.model_call_quota.add(sessions[0], ANNA, 2)
    assert not await stores.model_call_quota.has_room(ANNA)
    assert await stores.model_call_quota.has_room(BERT)


async def test_none_of_what_is_added_at_the_same_moment_is_lost(stores: MongoStores) -> None:
    session_id = await stores.session()
    await asyncio.gather(*(stores.model_call_quota.add(session_id, ANNA, 50) for _ in range(19)))
    assert await stores.model_call_quota.has_room(ANNA)
    await stores.model_call_quota.add(session_id, ANNA, 50)
    assert not await stores.model_call_quota.has_room(ANNA)


async def test_what_a_deleted_session_kept_counts_no_more(stores: MongoStores) -> None:
    deleted, other = await stores.session(), await stores.session()
    await stores.model_call_quota.add(other, ANNA, 1)
    await stores.model_call_quota.add(deleted, ANNA, MOST)
    assert not await stores.model_call_quota.has_room(ANNA)
    await stores.sessions.delete(deleted, ANNA)
    assert await stores.model_call_quota.has_room(ANNA)


async def test_what_is_counted_after_its_session_was_deleted_goes_with_what_is_left_of_it(
    stores: MongoStores,
) -> None:
    session_id = await stores.session()
    await stores.sessions.delete(session_id, ANNA)
    await stores.model_call_quota.add(session_id, ANNA, MOST)
    deletions = stores.deletions(0)
    due = await deletions.claim_next()
    assert due is not None
    await deletions.finish(due.session_id)
    assert await stores.model_call_quota.has_room(ANNA)
