"""A person asks for a summary: a run at work is told, and an idle session gets one for it, exactly once."""

from __future__ import annotations

import asyncio

import pytest

from backend_api.agent.events import CompactionWanted, MessageUser, RunFinished, RunQueued
from backend_api.conversations.domain.entity import SessionStatus
from backend_api.conversations.domain.errors import NothingToCompactError, SessionNotFoundError
from support.backend_stores import ANNA, BERT, MongoStores

WANTED = CompactionWanted(focus="the colours")


async def test_an_idle_session_gets_a_run_and_one_at_work_keeps_its_own(stores: MongoStores) -> None:
    session_id = await stores.session()
    await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m", text="hi"))
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    (told,) = await stores.ledger.compact(session_id, ANNA, WANTED)
    assert (told.run_id, told.payload) == (lease.run.id, WANTED)
    assert await stores.ledger.finish(lease, RunFinished(run_id=lease.run.id, status="completed"), seen_seq=9)
    told, queued = await stores.ledger.compact(session_id, ANNA, WANTED)
    assert isinstance(queued.payload, RunQueued)
    assert (queued.payload.cause, queued.payload.message_id, queued.seq) == ("compact", None, (told.seq or 0) + 1)
    session = await stores.sessions.get(session_id, ANNA)
    assert session is not None
    assert (session.status, session.active_run_id) == (SessionStatus.QUEUED, queued.run_id)
    events = await stores.log.read(session_id, after=0, limit=100)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    following = await stores.ledger.claim("w", lease_s=30, model="m")
    assert following is not None
    assert following.run.id == queued.run_id


async def test_of_many_at_once_one_begins_a_run(stores: MongoStores) -> None:
    session_id = await stores.session()
    await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m", text="hi"))
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    assert await stores.ledger.finish(lease, RunFinished(run_id=lease.run.id, status="completed"), seen_seq=9)
    told = await asyncio.gather(*(stores.ledger.compact(session_id, ANNA, WANTED) for _ in range(5)))
    assert sorted(len(events) for events in told) == [1, 1, 1, 1, 2]
    assert len({events[-1].run_id for events in told}) == 1


async def test_nothing_is_summed_up_before_anything_was_said_nor_for_anybody_else(stores: MongoStores) -> None:
    session_id = await stores.session()
    with pytest.raises(NothingToCompactError):
        await stores.ledger.compact(session_id, ANNA, WANTED)
    with pytest.raises(SessionNotFoundError):
        await stores.ledger.compact(session_id, BERT, WANTED)
    assert not await stores.log.read(session_id, after=0, limit=10)
