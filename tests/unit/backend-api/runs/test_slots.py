"""Slots of a worker: each that is given back is used again, in whichever moment that is."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from backend_api.agent.events import MessageUser
from backend_api.agent.model import FinishPart, TextPart
from backend_api.conversations.ports import Entry
from backend_api.kit.ids import SessionId
from backend_api.runs.application.lease_keeper import LeaseKeeper
from backend_api.runs.application.run_services import RunOptions
from backend_api.runs.application.worker import Worker
from support.memory.sessions import MemoryEventLog
from support.memory.store import MemoryStore
from support.scripted import ScriptedModel
from support.stage import USER, Stage, until, worker_for, working

SAID = [TextPart("Well."), FinishPart("stop")]


async def test_a_slot_freed_in_the_moment_the_worker_begins_to_wait_for_one_is_used(monkeypatch: Any) -> None:
    stage = Stage()
    worker = worker_for(stage, ScriptedModel(SAID), slots=1)
    session = await stage.open_session()
    waits = asyncio.Event()
    wait_for = Worker._unless_draining

    async def unless_draining(self: Worker, waiting: Coroutine[None, None, Any]) -> Any:
        if self._free == 0 and not waits.is_set():
            waits.set()
            # In the next turn of the loop, the first in which a task begun now can do anything.
            asyncio.get_running_loop().call_soon(slot.release)
        return await wait_for(self, waiting)

    async with working(worker):
        await stage.notifier.waiting.wait()
        slot = worker.reserve(session)
        assert slot is not None
        monkeypatch.setattr(Worker, "_unless_draining", unless_draining)
        async with asyncio.timeout(5):
            await waits.wait()
        run = await stage.say(session, "go")
        assert (await stage.until_finished(run, within_s=5)).status == "completed"


async def test_a_slot_given_back_unused_keeps_what_is_known_of_the_session() -> None:
    stage = Stage()
    worker = worker_for(stage, ScriptedModel(SAID))
    async with working(worker):
        session = await stage.open_session()
        await stage.until_finished(await stage.say(session, "go"))
        await until(lambda: worker._free == worker._slots)
        slot = worker.reserve(session)
        assert slot is not None
        await asyncio.sleep(0)
        slot.release()
        await until(lambda: worker._free == worker._slots)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert worker.services.histories.borrow(session).last_seq


class NeverRead(MemoryEventLog):
    """The first read takes forever."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.reads = 0

    async def read_entries(self, session_id: SessionId, **bounds: Any) -> tuple[list[Entry], bool]:
        self.reads += 1
        if self.reads == 1:
            await asyncio.Event().wait()
        return await super().read_entries(session_id, **bounds)


async def test_a_history_that_is_not_read_in_time_is_read_by_the_run_under_its_heartbeat() -> None:
    store = MemoryStore()
    stage = Stage(store, log=NeverRead(store))
    worker = worker_for(stage, ScriptedModel(SAID), options=RunOptions(heartbeat_s=0.05, lease_s=0.5))
    async with working(worker):
        session = await stage.open_session()
        await stage.notifier.waiting.wait()
        slot = worker.reserve(session)
        assert slot is not None
        message = MessageUser(message_id="m", text="go")
        accepted = await stage.ledger.accept(session, USER, message, claimant=slot.claimant)
        await slot.begin_run(accepted)
        finished = await stage.until_finished(accepted.run_id, within_s=5)
    assert (finished.status, stage.run(accepted.run_id).attempt) == ("completed", 1)
    assert stage.said(session) == "Well."


async def test_a_lease_is_believed_from_when_it_was_asked_for_and_not_from_when_it_is_used() -> None:
    stage = Stage()
    session = await stage.open_session()
    run = await stage.say(session, "go")
    lease = await stage.ledger.claim("slow", lease_s=0.05, model="m", run_id=run)
    assert lease is not None
    await asyncio.sleep(0.1)
    assert await stage.ledger.claim("next", lease_s=30, model="m", run_id=run) is not None
    keeper = LeaseKeeper(lease, stage.ledger, stage.notifier, lease_s=0.05, heartbeat_s=0.01)
    assert not keeper.holds
