"""A run that is given back stays so: nothing of the worker that left takes its lease again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from backend_api.agent.model import TextPart
from backend_api.conversations.domain.entity import InboxMessage, Lease
from backend_api.kit import measures
from backend_api.kit.in_process_notifier import InProcessNotifier
from backend_api.kit.notifier import Topic
from support.acting import CALLS, STOP, Tools, call, looking
from support.memory.run_ledger import MemoryRunLedger
from support.memory.store import MemoryStore
from support.scripted import ScriptedModel
from support.stage import Stage, WatchedNotifier, until, worker_for, working


class WakesAtRelease(MemoryRunLedger):
    """A heartbeat is woken at the moment a run is given back, which takes a while to hear of."""

    def __init__(self, store: MemoryStore, notifier: InProcessNotifier) -> None:
        super().__init__(store)
        self._notifier = notifier
        self.calls: list[str] = []

    async def renew(self, lease: Lease, *, lease_s: float) -> Sequence[InboxMessage]:
        self.calls.append("renew")
        return await super().renew(lease, lease_s=lease_s)

    async def release(self, lease: Lease) -> None:
        await super().release(lease)
        self.calls.append("release")
        await self._notifier.notify(Topic.RUN_INBOX, lease.run.id)
        for _ in range(50):
            await asyncio.sleep(0)


async def test_no_heartbeat_renews_the_lease_of_a_run_that_is_given_back() -> None:
    store, notifier = MemoryStore(), WatchedNotifier()
    ledger = WakesAtRelease(store, notifier)
    stage, begun, done = Stage(store, ledger=ledger, notifier=notifier), asyncio.Event(), asyncio.Event()

    async def stay() -> None:
        begun.set()
        await done.wait()

    model = ScriptedModel([call("look", what="x"), CALLS], [TextPart("Done."), STOP])
    lost = measures.REGISTRY.get_sample_value("agent_leases_lost_total")
    first = worker_for(stage, model, Tools(looking(False, stay)))
    async with working(first) as task:
        session = await stage.open_session(title="named")
        run = await stage.say(session, "go")
        await asyncio.wait_for(begun.wait(), 10)
        first.drain()
        done.set()
        await asyncio.wait_for(task, 10)
    assert ledger.calls.count("release") == 1
    assert ledger.calls[-1] == "release"
    assert measures.REGISTRY.get_sample_value("agent_leases_lost_total") == lost
    assert (stage.run(run).attempt, stage.run(run).worker) == (1, None)
    async with working(worker_for(stage, model, Tools(looking(False)), name="worker_2")):
        await until(lambda: stage.run(run).status.is_end, within_s=10)
    assert stage.said(session) == "Done."
