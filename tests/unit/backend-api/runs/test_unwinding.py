"""What becomes of a run where what was cut does not end, is stored at the same moment, or cannot be stored."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from backend_api.agent.events import Event, RunFinished, RunStarted, ToolCalled, ToolFinished
from backend_api.agent.model import FinishPart, TextPart, ToolCallPart, ToolRequest
from backend_api.agent.new_events import NewEvent
from backend_api.agent.tool import Done, ToolCall
from backend_api.conversations.domain.entity import Lease
from backend_api.kit import measures
from backend_api.kit.errors import StoreUnavailableError
from backend_api.runs.application import run_actor
from backend_api.runs.application.run_actor import REDIRECTED
from backend_api.runs.application.run_journal import RunJournal
from backend_api.runs.application.run_stream import RunStream
from backend_api.runs.application.subagent_journal import SubagentJournal
from support.memory.store import MemoryStore
from support.scripted import HandlerBox, OnOutput, ScriptedModel
from support.stage import Stage, WatchedLedger, until, worker_for, working

STOP = FinishPart("stop")
CALLS = FinishPart("tool_calls")


async def hold() -> None:
    await asyncio.Event().wait()


async def test_work_that_does_not_end_writes_nothing_more_into_a_run_that_goes_on(
    monkeypatch: Any, caplog: Any
) -> None:
    monkeypatch.setattr(run_actor, "UNWIND_S", 0.1)
    stage, box, over = Stage(), HandlerBox(), asyncio.Event()
    lost = measures.REGISTRY.get_sample_value("agent_leases_lost_total")

    async def stay(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        while not over.is_set():
            try:
                await over.wait()
            except asyncio.CancelledError:
                continue
        return Done(success=True, output="late")

    box.add("stay", stay)
    stubborn = ToolCallPart(ToolRequest(call_id="x", name="stay", arguments={}))
    model = ScriptedModel([stubborn, CALLS], [TextPart("Blue then."), STOP], [TextPart("Never."), STOP])
    worker = worker_for(stage, model, box)
    async with working(worker):
        session = await stage.open_session()
        run = await stage.say(session, "go")
        await until(lambda: bool(box.started))
        await stage.say(session, "make it blue", interrupt=True)
        finished = await stage.until_finished(run, within_s=10)
        over.set()
        await until(lambda: worker._free == worker._slots)
    assert finished.status == "completed"
    assert stage.said(session) == "Blue then."
    assert [started.attempt for started in stage.payloads(session, RunStarted)] == [1, 2]
    (result,) = stage.payloads(session, ToolFinished)
    assert REDIRECTED in result.preview
    assert len(stage.payloads(session, RunFinished)) == 1
    assert "run lost" not in caplog.text
    assert measures.REGISTRY.get_sample_value("agent_leases_lost_total") == lost


async def test_work_that_ends_late_and_as_if_it_was_not_cut_stores_no_second_result(monkeypatch: Any) -> None:
    stage, box = Stage(), HandlerBox()

    async def stay(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        try:
            await hold()
        except asyncio.CancelledError:
            await until(lambda: bool(stage.payloads(session, ToolFinished)))
        return Done(success=True, output="late")

    box.add("stay", stay)
    stubborn = ToolCallPart(ToolRequest(call_id="x", name="stay", arguments={}))
    model = ScriptedModel([stubborn, CALLS], [TextPart("Blue then."), STOP])
    async with working(worker_for(stage, model, box)):
        session = await stage.open_session()
        run = await stage.say(session, "go")
        await until(lambda: bool(box.started))
        await stage.say(session, "make it blue", interrupt=True)
        await stage.until_finished(run, within_s=10)
    assert [started.attempt for started in stage.payloads(session, RunStarted)] == [1]
    assert len(stage.payloads(session, ToolFinished)) == 1


class FailingLedger(WatchedLedger):
    """Stores nothing of a run while it is away."""

    is_away = False

    async def record(self, lease: Lease, items: Sequence[NewEvent], *, handled: int = 0) -> list[Event]:
        self._check()
        return await super().record(lease, items, handled=handled)

    async def finish(self, lease: Lease, finished: RunFinished, **rest: Any) -> list[Event]:
        self._check()
        return await super().finish(lease, finished, **rest)

    def _check(self) -> None:
        if self.is_away:
            raise StoreUnavailableError("The database is away.")


async def test_a_stop_that_cannot_be_stored_is_obeyed_once_the_store_is_back(caplog: Any) -> None:
    store = MemoryStore()
    ledger = FailingLedger(store)
    stage = Stage(store, ledger=ledger)
    worker = worker_for(stage, ScriptedModel([TextPart("So far"), hold]))
    async with working(worker):
        session = await stage.open_session()
        run = await stage.say(session, "go")
        await until(lambda: bool(stage.stream.deltas))
        ledger.is_away = True
        await stage.stop(session)
        await until(lambda: worker._free == worker._slots, within_s=10)
        assert "run left until the database is back" in caplog.text
        assert "run left without an end" not in caplog.text
        assert worker.services.histories.borrow(session).last_seq
        ledger.is_away = False
        stage.lapse(run)
        assert (await stage.until_finished(run, within_s=10)).status == "stopped"


class SlowResult(WatchedLedger):
    """A result takes a while to store."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()

    async def record(self, lease: Lease, items: Sequence[NewEvent], *, handled: int = 0) -> list[Event]:
        if any(isinstance(item.payload, ToolFinished) for item in items):
            self.begun.set()
            await self.go_on.wait()
        return await super().record(lease, items, handled=handled)


async def test_a_call_whose_result_is_being_stored_while_its_agent_is_cut_gets_no_second_one() -> None:
    store = MemoryStore()
    ledger = SlowResult(store)
    stage = Stage(store, ledger=ledger)
    session = await stage.open_session()
    await stage.say(session, "go")
    lease = await stage.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    stream = RunStream(stage.stream, session, lease.run.id, may_show=lambda: True)
    journal = RunJournal(lease, stage.ledger, stage.log, stream)
    below = SubagentJournal(journal, "task")
    await journal.load()
    await below.record([ToolCalled(call_id="c", name="look", arguments={}, phrase="Look", turn=1)])
    finished = ToolFinished(call_id="c", success=True, preview="seen")
    storing = asyncio.create_task(below.record_result(finished, Done(success=True, output="seen")))
    await ledger.begun.wait()
    cutting = asyncio.create_task(below.cut_open_calls("Cut."))
    await asyncio.sleep(0)
    ledger.go_on.set()
    await asyncio.gather(storing, cutting)
    assert [one.preview for one in stage.payloads(session, ToolFinished)] == ["seen"]


async def test_a_call_that_is_cut_is_told_as_a_terminal_shows_what_it_wrote() -> None:
    stage = Stage(MemoryStore())
    session = await stage.open_session()
    await stage.say(session, "go")
    lease = await stage.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    stream = RunStream(stage.stream, session, lease.run.id, may_show=lambda: True)
    journal = RunJournal(lease, stage.ledger, stage.log, stream)
    await journal.load()
    called = ToolCalled(call_id="c", name="look", arguments={}, phrase="Look", turn=1)
    await journal.record([called])
    with journal.tool_call(called, lambda *_: hold()) as call:
        call.mark_started(True)
        for done in range(1, 101):
            await call.on_output(f"\r\x1b[K\x1b[32m{done} %\x1b[0m")
        await journal.writes.cut("Stopped.", handled=0)
    (finished,) = stage.payloads(session, ToolFinished)
    assert finished.preview.startswith("100 %\nStopped.")
