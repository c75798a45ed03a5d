from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from backend_api.agent.events import Event, MessageUser, RunFinished, RunStarted, ToolFinished
from backend_api.agent.model import (
    AssistantTurn,
    FinishPart,
    TextPart,
    ToolCallPart,
    ToolRequest,
    ToolTurn,
    Turn,
    UserTurn,
)
from backend_api.agent.new_events import Body, NewEvent
from backend_api.agent.tool import Done, ToolCall
from backend_api.conversations.domain.entity import Claimant, Lease
from backend_api.conversations.ports import Entry
from backend_api.kit.errors import StoreUnavailableError
from backend_api.kit.ids import SessionId
from backend_api.runs.application.histories import Histories, History
from backend_api.runs.application.run_actor import RunActor
from backend_api.runs.application.worker import Worker
from support.memory.run_ledger import MemoryRunLedger
from support.memory.sessions import MemoryEventLog
from support.memory.store import MemoryStore
from support.scripted import HandlerBox, OnOutput, ScriptedModel
from support.stage import USER, Stage, until, worker_for, working

STOP, CALLS = FinishPart("stop"), FinishPart("tool_calls")
SEE = ToolCallPart(ToolRequest(call_id="y", name="see", arguments={}))
CALL = ToolCallPart(ToolRequest(call_id="x", name="look", arguments={}))


class CountingLog(MemoryEventLog):
    """Counts what is read of it."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.reads = self.read_events = self.read_bodies = 0

    async def read_entries(self, session_id: SessionId, **bounds: Any) -> tuple[list[Entry], bool]:
        page, is_end = await super().read_entries(session_id, **bounds)
        self.reads += 1
        self.read_events += len(page)
        return page, is_end

    async def body(self, session_id: SessionId, seq: int) -> Body:
        self.read_bodies += 1
        return await super().body(session_id, seq)


class HeldLog(MemoryEventLog):
    """Keeps what was read back until it may go on."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.has_read, self.goes_on = asyncio.Event(), asyncio.Event()

    async def read_entries(self, session_id: SessionId, **bounds: Any) -> tuple[list[Entry], bool]:
        page = await super().read_entries(session_id, **bounds)
        self.has_read.set()
        await self.goes_on.wait()
        return page


class AwayLedger(MemoryRunLedger):
    """May be away for one write."""

    is_away = False

    async def record(self, lease: Lease, items: Sequence[NewEvent], *, handled: int = 0) -> list[Event]:
        self._answer()
        return await super().record(lease, items, handled=handled)

    async def finish(self, lease: Lease, finished: RunFinished, **rest: Any) -> list[Event]:
        self._answer()
        return await super().finish(lease, finished, **rest)

    def _answer(self) -> None:
        if self.is_away:
            self.is_away = False
            raise StoreUnavailableError("The database does not answer.")


async def look(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
    return Done(success=True, output="long " * 2_000)


async def see(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
    return Done(success=True, output="seen \ud800 " * 1_000, body=b"\x89PNG", body_media_type="image/png")


def box() -> HandlerBox:
    tools = HandlerBox()
    tools.add("look", look)
    tools.add("see", see)
    return tools


async def drive(stage: Stage, worker: Any, session: SessionId, text: str) -> None:
    await stage.say(session, text)
    lease = await stage.ledger.claim(worker.name, lease_s=30, model="m")
    assert lease is not None
    await RunActor(worker.services, lease).drive(asyncio.Event())


async def begin(stage: Stage, worker: Worker, session: SessionId, text: str) -> None:
    """A message whose run begins in the worker's own process, until the worker has let go of it."""
    await until(lambda: worker._free == worker._slots)
    slot = worker.reserve(session)
    assert slot is not None
    message = MessageUser(message_id=f"m_{text}", text=text)
    accepted = await stage.ledger.accept(session, USER, message, claimant=slot.claimant)
    await slot.begin_run(accepted)
    await stage.until_finished(accepted.run_id)
    await until(lambda: worker._free == worker._slots)


async def asked(stage: Stage, model: ScriptedModel, session: SessionId, *workers: Any) -> list[Turn]:
    """What the model was asked for the last of three messages, each driven by the next of these workers."""
    for text, worker in zip(("one", "two", "three"), workers, strict=True):
        await drive(stage, worker, session, text)
    return list(model.requests[-1].turns)


async def test_a_run_reads_only_what_is_new_and_asks_the_same_as_one_that_reads_it_all() -> None:
    turns: list[list[Turn]] = []
    for is_same in (True, False):
        log = CountingLog(store := MemoryStore())
        stage = Stage(store, log=log)
        model = ScriptedModel([CALL, CALLS], [TextPart("Looked."), STOP], [TextPart("Two."), STOP])
        one = worker_for(stage, model, box())
        workers = [one, one, one] if is_same else [worker_for(stage, model, box()) for _ in range(3)]
        session = await stage.open_session(title="named")
        turns.append(await asked(stage, model, session, *workers))
        told = [event for event in stage.stream.published if isinstance(event.payload, RunStarted)]
        assert len(told) == 3
        if is_same:
            # Each event once, and the last known one again at the begin of each later run.
            assert log.read_events <= len(stage.events(session)) + 2
        assert log.read_bodies == 0
    assert turns[0] == turns[1]
    assert [turn.text for turn in turns[0] if isinstance(turn, UserTurn)] == ["one", "two", "three"]


async def test_what_a_model_read_beside_a_picture_is_read_again_by_another_worker() -> None:
    stage = Stage()
    model = ScriptedModel([SEE, CALLS], [TextPart("Seen."), STOP], [TextPart("Two."), STOP], [TextPart("Three."), STOP])
    session = await stage.open_session(title="named")
    worker, other = (worker_for(stage, model, box(), name=name) for name in ("worker_1", "worker_2"))
    turns = await asked(stage, model, session, worker, worker, other)
    results = [[turn for turn in asked.turns if isinstance(turn, ToolTurn)] for asked in model.requests[1:]]
    assert results[0] == results[1] == results[2]
    assert [len(turn.output) for turn in results[0]] == [7_000]
    assert len(turns) > 3


@pytest.mark.parametrize(
    ("title", "first"),
    [("named", [[CALL, CALLS], [SEE, CALLS], [TextPart("Seen."), STOP]]), ("", [[TextPart("One."), STOP]])],
    ids=["named, with tools", "named by its first message"],
)
async def test_a_run_reads_nothing_when_the_last_one_ended_in_this_process(title: str, first: list[Any]) -> None:
    log = CountingLog(store := MemoryStore())
    stage = Stage(store, log=log)
    model = ScriptedModel(*first, [TextPart("Two."), STOP], [TextPart("Three."), STOP])
    session = await stage.open_session(title=title)
    worker = worker_for(stage, model, box())
    async with working(worker):
        await stage.notifier.waiting.wait()
        await begin(stage, worker, session, "one")
        read = log.reads
        await begin(stage, worker, session, "two")
        await begin(stage, worker, session, "three")
        assert log.reads == read
    other = ScriptedModel([TextPart("Four."), STOP])
    await drive(stage, worker_for(stage, other, box(), name="worker_2"), session, "four")
    assert other.requests[0].turns[: len(model.requests[-1].turns)] == model.requests[-1].turns


async def test_a_run_that_ended_in_another_process_is_read() -> None:
    log = CountingLog(store := MemoryStore())
    stage = Stage(store, log=log)
    model = ScriptedModel([TextPart("One."), STOP], [TextPart("Two."), STOP], [TextPart("Three."), STOP])
    session = await stage.open_session(title="named")
    worker, other = (worker_for(stage, model, name=name) for name in ("worker_1", "worker_2"))
    async with working(worker), working(other):
        await stage.notifier.waiting.wait()
        await begin(stage, worker, session, "one")
        await begin(stage, other, session, "two")
        read = log.reads
        await begin(stage, worker, session, "three")
    assert log.reads > read
    texts = [turn.text for turn in model.requests[-1].turns if isinstance(turn, UserTurn | AssistantTurn)]
    assert texts == ["one", "One.", "two", "Two.", "three"]


async def test_what_is_read_while_it_is_stored_is_added_once() -> None:
    """A read that began before and ends after."""
    stage = Stage(store := MemoryStore())
    session = await stage.open_session(title="named")
    history = History(session)
    await history.read_on(stage.log)
    accepted = await stage.ledger.accept(
        session, USER, MessageUser(message_id="m", text="one"), claimant=Claimant(worker="w", lease_s=30, model="m")
    )
    log = HeldLog(store)
    reading = asyncio.create_task(history.read_on(log))
    await log.has_read.wait()
    history.join(accepted)
    log.goes_on.set()
    await reading
    fresh = History(session)
    await fresh.read_on(stage.log)
    assert history.last_seq == fresh.last_seq
    assert history.weight == fresh.weight


async def test_a_history_the_log_does_not_know_is_not_believed() -> None:
    stage = Stage()
    model = ScriptedModel([TextPart("Hi."), STOP])
    worker = worker_for(stage, model)
    session = await stage.open_session(title="named")
    await drive(stage, worker, session, "one")
    log = stage.events(session)
    for index, event in enumerate(log):
        later = event.at.replace(year=event.at.year + 1)
        payload = replace(event.payload, text="uno") if isinstance(event.payload, MessageUser) else event.payload
        log[index] = replace(event, at=later, payload=payload)
    await drive(stage, worker, session, "two")
    assert [turn.text for turn in model.requests[-1].turns if isinstance(turn, UserTurn)] == ["uno", "two"]


async def test_a_history_that_knows_more_than_the_log_is_not_taken_for_read() -> None:
    """As after a backup was restored under a gateway at work."""
    stage = Stage()
    longer, restored = await stage.open_session(), await stage.open_session()
    for text in ("one", "two", "three"):
        await stage.say(longer, text)
    history = History(longer)
    await history.read_on(stage.log)
    history.mark_idle()
    claimant = Claimant(worker="w", lease_s=30, model="m")
    accepted = await stage.ledger.accept(restored, USER, MessageUser(message_id="m", text="new"), claimant=claimant)
    history.join(accepted)
    assert not history.ends_with_message


async def test_what_was_used_last_is_kept_up_to_the_bound() -> None:
    stage = Stage()
    sessions = [await stage.open_session() for _ in range(3)]
    for session in sessions:
        await stage.say(session, "x" * 10_000)
    histories = Histories(at_most=50_000)
    for session in sessions:
        history = histories.borrow(session)
        await history.read_on(stage.log)
        histories.keep(history)
    assert [bool(histories.borrow(session).last_seq) for session in sessions] == [False, True, True]
    shorter, longer = History(sessions[0]), History(sessions[0])
    await longer.read_on(stage.log)
    histories.keep(longer)
    histories.keep(shorter)
    assert histories.borrow(sessions[0]) is longer


async def test_what_was_not_used_for_a_while_is_forgotten() -> None:
    stage = Stage()
    now = 0.0
    histories = Histories(for_s=300, clock=lambda: now)
    old, recent, new = [await stage.open_session() for _ in range(3)]
    for session, at in ((old, 0.0), (recent, 200.0), (new, 400.0)):
        await stage.say(session, "hello")
        history = histories.borrow(session)
        await history.read_on(stage.log)
        now = at
        histories.keep(history)
    assert [bool(histories.borrow(session).last_seq) for session in (old, recent, new)] == [False, True, True]


async def test_a_run_that_cannot_be_recorded_is_left_for_the_next_worker_and_does_not_fail() -> None:
    ledger = AwayLedger(store := MemoryStore())
    stage = Stage(store, ledger=ledger)

    async def go_away() -> None:
        ledger.is_away = True

    model = ScriptedModel([CALL, CALLS], [TextPart("Half"), go_away, STOP], [TextPart("All."), STOP])
    session = await stage.open_session(title="named")
    await drive(stage, worker_for(stage, model, box()), session, "go")
    (run,) = (row.run for row in store.runs.values())
    assert not run.status.is_end
    stage.lapse(run.id)
    async with working(worker_for(stage, model, box(), name="worker_2")):
        assert (await stage.until_finished(run.id)).status == "completed"
    assert stage.said(session) == "All."
    assert len(stage.payloads(session, ToolFinished)) == 1
