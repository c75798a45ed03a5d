"""Commands in the background: kept while nobody waits for them, looked at by one, told once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from backend_api.agent.events import BackgroundFinished, FilesChanged, MessageUser, RunFinished, RunQueued
from backend_api.agent.new_events import Body, NewEvent
from backend_api.background.domain import (
    MAX_WAKES,
    BackgroundCommand,
    BackgroundNotFoundError,
    TooManyBackgroundError,
)
from backend_api.conversations.domain.entity import Lease, SessionStatus
from backend_api.kit.ids import SessionId
from contracts.tools import MAX_BACKGROUND_RUNNING
from support.backend_stores import ANNA, MongoStores

FINISHED = BackgroundFinished(background_id="bg_1", command="$HOME", exit_code=3, preview="$x: no", state="ended")
ENDED = NewEvent(payload=FINISHED, body=Body(content=b"$x: no such thing", media_type="text/plain"), output="$x: read")


def command_of(session_id: SessionId, background_id: str = "bg_1") -> BackgroundCommand:
    return BackgroundCommand(
        id=background_id,
        session_id=session_id,
        user_id=ANNA,
        call_id="call_1",
        command="$HOME",
        generation=1,
        timeout_s=300,
        began_at=datetime.now(UTC),
    )


async def begun(stores: MongoStores, session_id: SessionId, background_id: str = "bg_1") -> BackgroundCommand:
    await stores.background.begin(command_of(session_id, background_id))
    await stores.background.confirm(background_id)
    return await stores.background.get(session_id, background_id)


async def at_work(stores: MongoStores, session_id: SessionId) -> Lease:
    await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m", text="hi"))
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    return lease


async def idle(stores: MongoStores) -> SessionId:
    session_id = await stores.session()
    lease = await at_work(stores, session_id)
    assert await stores.ledger.finish(lease, RunFinished(run_id=lease.run.id, status="completed"), seen_seq=9)
    return session_id


async def test_one_is_kept_as_it_was_begun_and_then_as_it_ended(stores: MongoStores) -> None:
    session_id = await idle(stores)
    command = await begun(stores, session_id)
    assert (command.command, command.is_begun, command.state) == ("$HOME", True, None)
    told = replace(ENDED, payload=replace(FINISHED, read_by="call_2"))
    assert await stores.background.settle(command, told, wakes=False)
    ended = await stores.background.get(session_id, "bg_1")
    assert (ended.state, ended.exit_code, ended.preview) == ("ended", 3, "$x: no")
    assert (ended.ended_at is not None, ended.read_by) == (True, "call_2")
    await begun(stores, session_id, "bg_2")
    assert [one.id for one in await stores.background.of_session(session_id, ended=9)] == ["bg_2", "bg_1"]
    with pytest.raises(BackgroundNotFoundError):
        await stores.background.get(await stores.session(), "bg_1")


async def test_one_that_was_never_started_is_forgotten(stores: MongoStores) -> None:
    session_id = await stores.session()
    await stores.background.begin(command_of(session_id))
    await stores.background.drop("bg_1")
    assert await stores.background.of_session(session_id, ended=9) == []


async def test_so_many_run_at_a_time_and_no_more(stores: MongoStores) -> None:
    session_id = await stores.session()
    for number in range(MAX_BACKGROUND_RUNNING):
        await begun(stores, session_id, f"bg_{number}")
    with pytest.raises(TooManyBackgroundError):
        await stores.background.begin(command_of(session_id, "bg_more"))
    await stores.background.settle(await stores.background.get(session_id, "bg_7"), ENDED, wakes=False)
    running = [f"bg_{number}" for number in reversed(range(MAX_BACKGROUND_RUNNING - 1))]
    assert [one.id for one in await stores.background.of_session(session_id, ended=0)] == running
    assert [one.id for one in await stores.background.of_session(session_id, ended=1)] == [*running, "bg_7"]
    await begun(stores, await stores.session(), "bg_elsewhere")


async def test_one_process_looks_at_a_time_and_another_once_its_lease_is_over(stores: MongoStores) -> None:
    session_id = await stores.session()
    await begun(stores, session_id)
    both = await asyncio.gather(*(stores.background.claim(lease_s=0.3, limit=9) for _ in range(4)))
    assert [one.id for found in both for one in found] == ["bg_1"]
    assert await stores.background.claim(lease_s=0.3, limit=9) == []
    await asyncio.sleep(0.4)
    assert [one.id for one in await stores.background.claim(lease_s=30, limit=9)] == ["bg_1"]
    await stores.background.release("bg_1")
    await asyncio.sleep(0.01)
    assert [one.id for one in await stores.background.claim(lease_s=30, limit=9)] == ["bg_1"]


async def test_one_whose_start_was_cut_off_is_looked_at_once_that_must_be_over(stores: MongoStores) -> None:
    await stores.background.begin(command_of(await stores.session()))
    assert await stores.background.claim(lease_s=30, limit=9) == []
    await asyncio.sleep(1.1)
    assert [one.is_begun for one in await stores.background.claim(lease_s=30, limit=9)] == [False]


async def test_a_wish_to_stop_is_kept_and_has_it_looked_at_at_once(stores: MongoStores) -> None:
    session_id = await stores.session()
    await begun(stores, session_id)
    await begun(stores, session_id, "bg_2")
    await stores.background.claim(lease_s=60, limit=9)
    [wanted] = await stores.background.request_end(session_id, "bg_2")
    assert (wanted.id, wanted.stop_wanted) == ("bg_2", True)
    await asyncio.sleep(0.01)
    assert [(one.id, one.stop_wanted) for one in await stores.background.claim(lease_s=60, limit=9)] == [("bg_2", True)]
    assert len(await stores.background.request_end(session_id)) == 2
    assert await stores.background.request_end(await stores.session()) == []


async def test_the_first_of_many_tells_of_it_and_an_idle_session_gets_one_run(stores: MongoStores) -> None:
    session_id = await idle(stores)
    command = await begun(stores, session_id)
    told = await asyncio.gather(*(stores.background.settle(command, ENDED, wakes=True) for _ in range(5)))
    assert sorted(len(events) for events in told) == [0, 0, 0, 0, 2]
    finished, queued = max(told, key=len)
    assert finished.payload == FINISHED
    assert isinstance(queued.payload, RunQueued)
    assert (queued.payload.cause, queued.payload.message_id, queued.run_id) == ("background", None, finished.run_id)
    session = await stores.sessions.get(session_id, ANNA)
    assert (session.status, session.active_run_id) == (SessionStatus.QUEUED, queued.run_id)
    events = await stores.log.read(session_id, after=0, limit=100)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert (await stores.log.body(session_id, finished.seq or 0)).content == b"$x: no such thing"
    entries, _ = await stores.log.read_entries(session_id, after=(finished.seq or 0) - 1, limit=1)
    assert entries[0].output == "$x: read"
    assert await stores.background.claim(lease_s=30, limit=9) == []
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    assert lease.run.id == queued.run_id


async def test_a_run_at_work_does_not_end_before_it_has_read_of_it(stores: MongoStores) -> None:
    session_id = await stores.session()
    command, lease = await begun(stores, session_id), await at_work(stores, session_id)
    (told,) = await stores.background.settle(command, ENDED, wakes=True)
    assert told.run_id == lease.run.id
    done = RunFinished(run_id=lease.run.id, status="completed")
    assert await stores.ledger.finish(lease, done, seen_seq=1) == []
    assert await stores.ledger.finish(lease, done, seen_seq=told.seq or 0)
    assert (await stores.sessions.get(session_id, ANNA)).status == SessionStatus.IDLE


async def test_a_run_that_ends_otherwise_leaves_it_to_the_next_one(stores: MongoStores) -> None:
    session_id = await stores.session()
    command, lease = await begun(stores, session_id), await at_work(stores, session_id)
    await stores.ledger.record(lease, [], handled=0)
    await stores.background.settle(command, ENDED, wakes=True)
    assert await stores.ledger.finish(lease, RunFinished(run_id=lease.run.id, status="failed"), seen_seq=1)
    queued = (await stores.log.read(session_id, after=0, limit=100))[-1].payload
    assert isinstance(queued, RunQueued)
    assert (await stores.sessions.get(session_id, ANNA)).status == SessionStatus.QUEUED


async def test_the_files_it_changed_are_told_after_its_end(stores: MongoStores) -> None:
    session_id = await idle(stores)
    before = (await stores.sessions.get(session_id, ANNA)).last_seq
    events = await stores.background.settle(
        await begun(stores, session_id),
        ENDED,
        wakes=True,
        changed=FilesChanged(paths=["out/a.csv", "$b"], origin="agent", removed=["$b"]),
    )
    assert [event.seq for event in events] == [before + 1, before + 2, before + 3]
    told, changed, queued = (event.payload for event in events)
    assert told == FINISHED
    assert changed == FilesChanged(paths=["out/a.csv", "$b"], origin="agent", removed=["$b"])
    assert isinstance(queued, RunQueued)
    stored = await stores.log.read(session_id, after=before, limit=10)
    assert [event.payload for event in stored][1:] == [changed, queued]
    assert (await stores.sessions.get(session_id, ANNA)).last_seq == before + 3


async def test_what_a_person_stopped_wakes_nobody(stores: MongoStores) -> None:
    session_id = await idle(stores)
    (told,) = await stores.background.settle(await begun(stores, session_id), ENDED, wakes=False)
    assert told.run_id is None
    assert (await stores.sessions.get(session_id, ANNA)).status == SessionStatus.IDLE


async def test_what_somebody_wants_to_stop_wakes_nobody_however_it_ended(stores: MongoStores) -> None:
    session_id = await idle(stores)
    command = await begun(stores, session_id)
    await stores.background.request_end(session_id)
    assert len(await stores.background.settle(command, ENDED, wakes=True)) == 1
    assert (await stores.sessions.get(session_id, ANNA)).status == SessionStatus.IDLE


async def test_results_alone_begin_so_many_runs_until_the_person_says_something(stores: MongoStores) -> None:
    session_id = await idle(stores)
    for number in range(MAX_WAKES):
        command = await begun(stores, session_id, f"bg_{number}")
        assert len(await stores.background.settle(command, ENDED, wakes=True)) == 2
        lease = await stores.ledger.claim("w", lease_s=30, model="m")
        assert lease is not None
        assert await stores.ledger.finish(lease, RunFinished(run_id=lease.run.id, status="completed"), seen_seq=999)
    command = await begun(stores, session_id, "bg_last")
    assert len(await stores.background.settle(command, ENDED, wakes=True)) == 1
    await at_work(stores, session_id)


async def test_one_of_a_session_that_is_gone_is_told_to_nobody(stores: MongoStores) -> None:
    session_id = await stores.session()
    command = await begun(stores, session_id)
    await stores.sessions.delete(session_id, ANNA)
    assert await stores.background.settle(command, ENDED, wakes=True) == []
    assert await stores.background.claim(lease_s=30, limit=9) == []
