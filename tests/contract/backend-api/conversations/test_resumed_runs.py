"""A run may begin without a message: it goes on from where the last one ended."""

from __future__ import annotations

import asyncio

import pytest

from backend_api.agent.events import (
    ContextNote,
    MessageCompleted,
    MessageUser,
    RunFinished,
    RunQueued,
    RunStarted,
)
from backend_api.agent.model import NoteTurn
from backend_api.agent.new_events import NewEvent
from backend_api.agent.threads import Threads
from backend_api.conversations.domain.entity import Lease, RunId, SessionStatus
from backend_api.conversations.domain.errors import NothingToResumeError, SessionNotFoundError
from backend_api.kit.ids import SessionId, UserId
from support.backend_stores import ANNA, MongoStores

NOTE = ContextNote(kind="resume", text="Go on.")


async def ended(stores: MongoStores, status: str = "failed") -> Lease:
    session_id = await stores.session()
    await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m", text="go"))
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    finished = RunFinished(run_id=lease.run.id, status=status)  # type: ignore[arg-type]
    assert await stores.ledger.finish(lease, finished, seen_seq=1)
    return lease


@pytest.mark.parametrize("status", ["failed", "stopped", "interrupted"])
async def test_it_is_queued_claimed_folded_and_ended_like_any_other(stores: MongoStores, status: str) -> None:
    run = (await ended(stores, status)).run
    events = await stores.ledger.resume(run.session_id, ANNA, run.id, NOTE)
    assert [event.seq for event in events] == [5, 6]
    queued = events[-1].payload
    assert isinstance(queued, RunQueued)
    assert (queued.message_id, queued.cause) == (None, "resume")
    assert (await stores.sessions.get(run.session_id, ANNA)).status == SessionStatus.QUEUED
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    assert (lease.run.id, lease.run.message_id) == (queued.run_id, None)
    log = await stores.log.read(run.session_id, after=0, limit=100)
    started = log[-1].payload
    assert isinstance(started, RunStarted)
    assert started.message_id is None
    threads = Threads()
    for event in log:
        threads.apply(event)
    conversation = threads.main.conversation(lease.run.id)
    assert conversation.turns[-1] == NoteTurn(text="Go on.")
    assert not conversation.is_answered
    said = MessageCompleted(message_id="a", text="Done.", turn=1, seen_seq=conversation.seen_seq)
    finished = RunFinished(run_id=lease.run.id, status="completed")
    assert await stores.ledger.finish(lease, finished, seen_seq=conversation.seen_seq, said=[NewEvent(payload=said)])
    session = await stores.sessions.get(run.session_id, ANNA)
    assert (session.status, session.active_run_id, session.unread) == (
        SessionStatus.IDLE,
        None,
        1 + (status != "stopped"),
    )
    for event in (await stores.log.read(run.session_id, after=0, limit=100))[len(log) :]:
        threads.apply(event)
    after = threads.main.conversation("another").turns
    assert after[: len(conversation.turns)] == conversation.turns


async def test_only_the_last_run_can_go_on_once_and_only_for_its_owner(stores: MongoStores) -> None:
    done = (await ended(stores, "completed")).run
    run = (await ended(stores)).run

    async def resume(session_id: SessionId, run_id: RunId, user: UserId = ANNA) -> bool:
        try:
            return bool(await stores.ledger.resume(session_id, user, run_id, NOTE))
        except NothingToResumeError:
            return False

    assert not await resume(done.session_id, done.id)
    assert not await resume(run.session_id, done.id)
    with pytest.raises(SessionNotFoundError):
        await resume(run.session_id, run.id, UserId("another"))
    assert (await stores.sessions.get(run.session_id, ANNA)).last_seq == 4
    tries = await asyncio.gather(*(resume(run.session_id, run.id) for _ in range(4)))
    assert sorted(tries) == [False, False, False, True]
    stopped = await stores.ledger.request_stop(run.session_id, ANNA)
    assert stopped is not None
    assert not await resume(run.session_id, run.id)
    assert await resume(run.session_id, stopped.id)
