"""Stop, redirect and hand-over of a run at work, in every moment of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from backend_api.agent.events import (
    Event,
    LlmRequest,
    LlmResponse,
    MessageCompleted,
    MessageUser,
    RunFinished,
    RunQueued,
    RunStarted,
    ThinkingCompleted,
    ToolCalled,
    ToolFinished,
)
from backend_api.agent.model import (
    AssistantTurn,
    ModelUnavailableError,
    TextPart,
    ThinkingPart,
    ToolTurn,
    Turn,
    UserTurn,
)
from backend_api.agent.new_events import NewEvent
from backend_api.agent.tool import Done, ToolCall
from backend_api.conversations.domain.entity import InboxMessage, Lease
from backend_api.conversations.domain.errors import LeaseLostError
from backend_api.kit import measures
from backend_api.kit.notifier import Topic
from backend_api.runs.application.run_actor import REDIRECTED
from backend_api.runs.application.run_services import RunOptions
from backend_api.runs.application.serial_writes import WRITE_GRACE_S
from support.acting import CALLS, STOP, call
from support.memory.run_ledger import MemoryRunLedger
from support.memory.store import MemoryStore
from support.scripted import HandlerBox, OnOutput, ScriptedModel
from support.stage import USER, Stage, WatchedLedger, WatchedNotifier, until, worker_for, working


async def hold() -> None:
    await asyncio.Event().wait()


async def hang(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
    await on_output("begun")
    await hold()
    raise AssertionError


@asynccontextmanager
async def answering(stage: Stage, model: ScriptedModel) -> AsyncGenerator[Any]:
    """A session whose run has shown its first text."""
    async with working(worker_for(stage, model)):
        session = await stage.open_session()
        run = await stage.say(session, "go")
        await until(lambda: bool(stage.stream.deltas))
        yield session, run


def spoken(turns: list[Turn]) -> list[tuple[str, str]]:
    return [
        ("user" if isinstance(turn, UserTurn) else "agent", turn.text)
        for turn in turns
        if isinstance(turn, UserTurn | AssistantTurn)
    ]


async def test_a_redirect_in_mid_answer_keeps_what_was_said_and_goes_on_in_the_same_run() -> None:
    stage = Stage()
    model = ScriptedModel([TextPart("First I will"), hold], [TextPart("Blue then."), STOP])
    async with answering(stage, model) as (session, run):
        assert await stage.say(session, "make it blue", interrupt=True) == run
        finished = await stage.until_finished(run)
    assert finished.status == "completed"
    said = stage.payloads(session, MessageCompleted)
    assert [(one.text, one.partial) for one in said] == [("First I will", True), ("Blue then.", False)]
    assert spoken(model.requests[1].turns) == [
        ("user", "go"),
        ("agent", "First I will"),
        ("user", "make it blue"),
    ]
    assert len(stage.payloads(session, RunStarted)) == 1
    assert stage.store.runs[run].inbox == []


async def test_a_redirect_while_it_only_thinks_is_answered() -> None:
    stage = Stage()
    thinking = asyncio.Event()

    async def think_on() -> None:
        thinking.set()
        await hold()

    model = ScriptedModel([ThinkingPart("A, then"), think_on], [TextPart("Blue then."), STOP])
    async with working(worker_for(stage, model)):
        session = await stage.open_session()
        run = await stage.say(session, "go")
        async with asyncio.timeout(30):
            await thinking.wait()
        await stage.say(session, "make it blue", interrupt=True)
        finished = await stage.until_finished(run)
    assert finished.status == "completed"
    assert spoken(model.requests[1].turns) == [("user", "go"), ("user", "make it blue")]
    assert [one.text for one in stage.payloads(session, MessageCompleted)] == ["Blue then."]
    assert [one.text for one in stage.payloads(session, ThinkingCompleted)] == ["A, then"]


class SlowTraces(WatchedLedger):
    """Stores the end of a model call only once it may."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.go_on = asyncio.Event()

    async def record(self, lease: Lease, items: Sequence[NewEvent], *, handled: int = 0) -> list[Event]:
        if any(isinstance(item.payload, LlmResponse) for item in items):
            await self.go_on.wait()
        return await super().record(lease, items, handled=handled)


async def test_a_redirect_before_the_first_word_is_read_also_where_its_call_was_stored_just_before() -> None:
    store = MemoryStore()
    ledger = SlowTraces(store)
    stage = Stage(store, ledger=ledger)

    async def answer() -> None:
        ledger.go_on.set()

    model = ScriptedModel([hold], [answer, TextPart("Blue then."), STOP])
    async with working(worker_for(stage, model)):
        session = await stage.open_session(title="named", enable_tracing=True)
        run = await stage.say(session, "go")
        await until(lambda: any(isinstance(event.payload, LlmRequest) for event in stage.stream.published))
        await stage.say(session, "make it blue", interrupt=True)
        await stage.until_finished(run)
    assert spoken(model.requests[1].turns) == [("user", "go"), ("user", "make it blue")]


class SlowLedger(WatchedLedger):
    """Its first write of a call takes longer than a redirect waits for."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()

    async def record(self, lease: Lease, items: Sequence[NewEvent], *, handled: int = 0) -> list[Event]:
        if not self.begun.is_set() and any(isinstance(item.payload, ToolCalled) for item in items):
            self.begun.set()
            asyncio.get_running_loop().call_later(WRITE_GRACE_S + 0.3, self.go_on.set)
            await self.go_on.wait()
        return await super().record(lease, items, handled=handled)


async def test_a_redirect_during_a_slow_write_records_nothing_twice() -> None:
    store = MemoryStore()
    ledger = SlowLedger(store)
    stage = Stage(store, ledger=ledger)
    box = HandlerBox()
    box.add("wait", hang)
    model = ScriptedModel([TextPart("I will wait."), call("wait"), CALLS], [TextPart("Blue then."), STOP])
    async with working(worker_for(stage, model, box)):
        session = await stage.open_session()
        run = await stage.say(session, "go")
        async with asyncio.timeout(30):
            await ledger.begun.wait()
        await stage.say(session, "make it blue", interrupt=True)
        await stage.until_finished(run)
    said = stage.payloads(session, MessageCompleted)
    assert [(one.text, one.partial) for one in said] == [("I will wait.", False), ("Blue then.", False)]
    assert [one.preview for one in stage.payloads(session, ToolFinished)] == ["Not begun. " + REDIRECTED]


async def test_what_a_call_wrote_stays_with_its_result_when_it_is_cut() -> None:
    stage = Stage()
    box = HandlerBox()
    written = asyncio.Event()

    async def write(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        for number in range(9_000):
            await on_output(f"line {number}\n")
        written.set()
        await hold()
        raise AssertionError

    box.add("write", write)
    model = ScriptedModel([call("write"), CALLS], [TextPart("Blue then."), STOP])
    async with working(worker_for(stage, model, box)):
        session = await stage.open_session()
        run = await stage.say(session, "go")
        async with asyncio.timeout(30):
            await written.wait()
        await stage.say(session, "make it blue", interrupt=True)
        await stage.until_finished(run)
    (finished,) = [one for one in stage.events(session) if isinstance(one.payload, ToolFinished)]
    (read,) = [turn for turn in model.requests[1].turns if isinstance(turn, ToolTurn)]
    body = (await stage.log.body(session, finished.seq or 0)).content.decode()
    for told in (read.output, body):
        assert f"line 8999\n{REDIRECTED}" in told
        assert told.endswith("may have happened.")
        assert len(told) < 17_000


async def test_a_redirect_in_mid_tool_cuts_it_says_so_and_leaves_a_valid_conversation() -> None:
    stage = Stage()
    box = HandlerBox()
    box.add("wait", hang)
    model = ScriptedModel(
        [call("wait", what="one"), call("wait", what="two"), CALLS],
        [TextPart("Blue then."), STOP],
    )
    async with working(worker_for(stage, model, box)):
        session = await stage.open_session()
        run = await stage.say(session, "go")
        await until(lambda: bool(stage.stream.deltas))
        await stage.say(session, "make it blue", interrupt=True)
        finished = await stage.until_finished(run)
    assert finished.status == "completed"
    assert box.started == [("wait", {"what": "one"})]
    assert box.cancelled == ["wait"]
    first, second = stage.payloads(session, ToolFinished)
    assert (first.cancelled, second.cancelled, first.success) == (True, True, False)
    assert "may have happened" in first.preview
    assert "Not begun" in second.preview
    results = [turn for turn in model.requests[1].turns if isinstance(turn, ToolTurn)]
    assert [result.output for result in results] == [first.preview, second.preview]
    assert spoken(model.requests[1].turns)[-1] == ("user", "make it blue")


async def test_a_redirect_during_a_retry_wait_asks_at_once_with_the_new_message() -> None:
    stage = Stage()
    model = ScriptedModel([ModelUnavailableError("busy", may_retry=True)], [TextPart("Blue then."), STOP])
    waits = asyncio.Event()

    async def sleep(seconds: float) -> None:
        waits.set()
        await hold()

    worker = worker_for(stage, model, sleep=sleep)
    async with working(worker):
        session = await stage.open_session()
        run = await stage.say(session, "go")
        async with asyncio.timeout(30):
            await waits.wait()
        await stage.say(session, "make it blue", interrupt=True)
        finished = await stage.until_finished(run)
    assert finished.status == "completed"
    assert spoken(model.requests[1].turns) == [("user", "go"), ("user", "make it blue")]


async def test_two_redirects_at_once_cut_the_turn_once_and_both_are_read() -> None:
    stage = Stage()
    model = ScriptedModel([TextPart("First"), hold], [TextPart("Both."), STOP])
    async with answering(stage, model) as (session, run):
        await asyncio.gather(
            stage.say(session, "make it blue", interrupt=True), stage.say(session, "and big", interrupt=True)
        )
        finished = await stage.until_finished(run)
    assert finished.status == "completed"
    assert len(model.requests) == 2
    assert spoken(model.requests[1].turns)[-2:] == [("user", "make it blue"), ("user", "and big")]
    assert stage.said(session) == "FirstBoth."


async def test_a_redirect_the_model_has_read_already_cuts_nothing() -> None:
    stage = Stage()
    held = asyncio.Event()
    model = ScriptedModel([TextPart("One."), held.wait, STOP], [TextPart("Two."), held.wait, STOP])
    async with answering(stage, model) as (session, run):
        # The redirect reaches the owner only when its message was read with the next turn.
        await stage.ledger.renewed.wait()
        message = MessageUser(message_id="m", text="make it blue")
        await stage.ledger.accept(session, USER, message, interrupt=True)
        held.set()
        await until(lambda: len(model.requests) == 2)
        held.clear()
        await stage.notifier.notify(Topic.RUN_INBOX, run)
        await until(lambda: stage.store.runs[run].inbox == [])
        held.set()
        finished = await stage.until_finished(run)
    assert finished.status == "completed"
    assert [(one.text, one.partial) for one in stage.payloads(session, MessageCompleted)] == [
        ("One.", False),
        ("Two.", False),
    ]


async def test_a_redirect_that_only_the_store_knows_is_heard_at_the_heartbeat() -> None:
    stage = Stage()
    model = ScriptedModel([TextPart("First"), hold], [TextPart("Blue then."), STOP])
    async with working(worker_for(stage, model, options=RunOptions(heartbeat_s=0.05))):
        session = await stage.open_session()
        run = await stage.say(session, "go")
        await until(lambda: bool(stage.stream.deltas))
        await stage.ledger.accept(session, USER, MessageUser(message_id="m", text="make it blue"), interrupt=True)
        assert (await stage.until_finished(run)).status == "completed"
    assert stage.said(session) == "FirstBlue then."


async def test_a_stop_wins_over_a_redirect_that_was_said_before_it() -> None:
    stage = Stage()
    model = ScriptedModel([TextPart("First"), hold], [TextPart("Never."), STOP])
    async with answering(stage, model) as (session, run):
        await stage.ledger.renewed.wait()
        await stage.ledger.accept(session, USER, MessageUser(message_id="m", text="make it blue"), interrupt=True)
        await stage.stop(session)
        finished = await stage.until_finished(run)
        assert stage.store.sessions[session].session.active_run_id is None
    assert finished.status == "stopped"
    assert [(one.text, one.partial) for one in stage.payloads(session, MessageCompleted)] == [("First", True)]
    assert len(model.requests) == 1


async def test_a_stop_wins_over_a_redirect_that_was_said_after_it_and_is_answered_by_a_run_of_its_own() -> None:
    stage = Stage()
    model = ScriptedModel([TextPart("First"), hold], [TextPart("Blue then."), STOP])
    async with answering(stage, model) as (session, run):
        await stage.ledger.request_stop(session, USER)
        await stage.say(session, "make it blue", interrupt=True)
        assert (await stage.until_finished(run)).status == "stopped"
        following = stage.payloads(session, RunQueued)[-1].run_id
        assert (await stage.until_finished(following)).status == "completed"
    assert following != run
    assert [(one.text, one.partial) for one in stage.payloads(session, MessageCompleted)] == [
        ("First", True),
        ("Blue then.", False),
    ]


class EndsLate(MemoryRunLedger):
    """Before the first end something happens."""

    def __init__(self, store: MemoryStore, before: Callable[[], Awaitable[Any]]) -> None:
        super().__init__(store)
        self._before: Callable[[], Awaitable[Any]] | None = before

    async def finish(self, lease: Lease, finished: RunFinished, **rest: Any) -> list[Event]:
        before, self._before = self._before, None
        if before is not None:
            await before()
        return await super().finish(lease, finished, **rest)


async def test_a_redirect_while_the_run_ends_is_answered_by_it() -> None:
    model = ScriptedModel([TextPart("Done."), STOP], [TextPart("Blue then."), STOP])
    store = MemoryStore()
    stage = Stage(store, ledger=EndsLate(store, lambda: stage.say(session, "make it blue", interrupt=True)))
    async with working(worker_for(stage, model)):
        session = await stage.open_session()
        run = await stage.say(session, "go")
        finished = await stage.until_finished(run)
    assert finished.status == "completed"
    assert stage.said(session) == "Done.Blue then."
    assert len(stage.payloads(session, RunFinished)) == 1


async def test_a_stop_left_for_a_dead_worker_is_obeyed_by_the_next_before_anything_else() -> None:
    stage = Stage()
    session = await stage.open_session()
    run = await stage.say(session, "go")
    assert await stage.ledger.claim("dead", lease_s=-1, model="m") is not None
    await stage.stop(session)
    model = ScriptedModel([TextPart("Never."), STOP])
    async with working(worker_for(stage, model)):
        assert (await stage.until_finished(run)).status == "stopped"
    assert stage.said(session) == ""


async def test_a_worker_that_leaves_gives_its_runs_back_after_their_step() -> None:
    stage = Stage()
    box = HandlerBox()
    done = asyncio.Event()

    async def work(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        await on_output("begun")
        await done.wait()
        return Done(success=True, output="worked")

    box.add("work", work)
    model = ScriptedModel([call("work"), CALLS], [TextPart("Done."), STOP])
    first = worker_for(stage, model, box)
    async with working(first) as task:
        session = await stage.open_session()
        run = await stage.say(session, "go")
        await until(lambda: bool(stage.stream.deltas))
        first.drain()
        assert first.reserve(session) is None
        done.set()
        async with asyncio.timeout(30):
            await asyncio.wait({task})
        assert len(model.requests) == 1
        async with working(worker_for(stage, model, box, name="worker_2", options=RunOptions(max_attempts=1))):
            finished = await stage.until_finished(run)
    assert finished.status == "completed"
    (result,) = stage.payloads(session, ToolFinished)
    assert (result.success, result.preview) == (True, "worked")
    assert [started.worker for started in stage.payloads(session, RunStarted)] == ["worker_1", "worker_2"]
    assert box.started == [("work", {})]


async def test_a_worker_that_leaves_idle_is_gone_at_once() -> None:
    stage = Stage()
    worker = worker_for(stage, ScriptedModel([STOP]))
    async with working(worker) as task:
        await stage.notifier.waiting.wait()
        worker.drain()
        async with asyncio.timeout(30):
            await asyncio.wait({task})
        run = await stage.say(await stage.open_session(), "go")
        assert stage.run(run).attempt == 0


class BeatsIntoTheEnd(MemoryRunLedger):
    """A heartbeat finds the run ended before the worker that ended it knows that it has."""

    def __init__(self, store: MemoryStore, notifier: WatchedNotifier) -> None:
        super().__init__(store)
        self._notifier = notifier
        self._refused = asyncio.Event()

    async def finish(self, lease: Lease, finished: RunFinished, **rest: Any) -> list[Event]:
        events = await super().finish(lease, finished, **rest)
        await self._notifier.notify(Topic.RUN_INBOX, lease.run.id)
        await self._refused.wait()
        for _ in range(20):
            await asyncio.sleep(0)
        return events

    async def renew(self, lease: Lease, *, lease_s: float) -> Sequence[InboxMessage]:
        try:
            return await super().renew(lease, lease_s=lease_s)
        except LeaseLostError:
            self._refused.set()
            raise


async def test_the_end_of_a_run_is_told_also_when_a_heartbeat_finds_it_first_and_no_lease_counts_as_lost() -> None:
    store, notifier = MemoryStore(), WatchedNotifier()
    stage = Stage(store, ledger=BeatsIntoTheEnd(store, notifier), notifier=notifier)
    lost = measures.REGISTRY.get_sample_value("agent_leases_lost_total")
    async with working(worker_for(stage, ScriptedModel([TextPart("Done."), STOP]))):
        await stage.say(await stage.open_session(), "go")
        await until(lambda: any(isinstance(event.payload, RunFinished) for event in stage.stream.published))
    assert measures.REGISTRY.get_sample_value("agent_leases_lost_total") == lost
