"""Slots of a worker: each that is given back is used again, in whichever moment that is."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from backend_api.application.runs.worker import Worker
from backend_api.domain.agent.model import FinishPart, TextPart
from support.scripted import ScriptedModel
from support.stage import Stage, worker_for, working

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
