from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from backend_api.agent.capabilities.current_date import CURRENT_DATE
from backend_api.agent.capabilities.turn_limit import TURN_LIMIT
from backend_api.agent.events import (
    ContextOpened,
    ErrorEvent,
    FilesChanged,
    MessageCompleted,
    MessageDelta,
    MessageUser,
    Notice,
    RunFinished,
    SessionUpdated,
    ToolCalled,
    ToolFinished,
    Usage,
    UsageUpdated,
)
from backend_api.agent.model import (
    AssistantTurn,
    FinishPart,
    ModelAuthError,
    ModelStreamCutError,
    ModelUnavailableError,
    TextPart,
    ToolCallPart,
    ToolRequest,
    ToolTurn,
    UsagePart,
    UserTurn,
)
from backend_api.agent.new_events import NewEvent
from backend_api.agent.thread import MAX_RESULT_CHARACTERS
from backend_api.agent.tool import Done, ToolCall
from backend_api.conversations.domain.entity import Lease, RunId
from backend_api.kit import measures
from backend_api.kit.notifier import Topic
from backend_api.runs.application.name_session import title_of
from backend_api.runs.application.run_services import RunOptions
from backend_api.sandboxes.domain.errors import SandboxUnavailableError
from support.acting import CALLS, STOP, call
from support.memory.run_ledger import MemoryRunLedger
from support.memory.store import MemoryStore
from support.scripted import HandlerBox, OnOutput, ScriptedModel
from support.stage import USER, Stage, until, worker_for, working
from support.tables import having


async def echo(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
    await on_output("live")
    return Done(success=True, output=f"did {arguments.get('what')}", changed_paths=["a.txt"])


async def hang(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
    await on_output("begun")
    await asyncio.Event().wait()
    raise AssertionError


async def hold() -> None:
    await asyncio.Event().wait()


async def test_a_message_is_answered_and_the_run_completed() -> None:
    stage = Stage()
    model = ScriptedModel([TextPart("Hel"), TextPart("lo"), UsagePart(Usage(input=7, output=2)), STOP])
    async with working(worker_for(stage, model)):
        session = await stage.open_session()
        finished = await stage.until_finished(await stage.say(session, "Hi there\nmore"))
    assert finished.status == "completed"
    assert finished.usage.input == 7
    assert stage.said(session) == "Hello"
    assert stage.store.sessions[session].session.title == "Hi there"
    assert stage.payloads(session, SessionUpdated)[0].title == "Hi there"
    assert next(turn for turn in model.requests[0].turns if isinstance(turn, UserTurn)).text == "Hi there\nmore"


async def test_calls_are_recorded_before_any_starts_and_their_results_reach_the_model() -> None:
    stage = Stage()
    box = HandlerBox()
    recorded: list[int] = []

    async def look(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        recorded.append(len(stage.payloads(session, ToolCalled)))
        return await echo(context, arguments, on_output)

    box.add("write", look)
    model = ScriptedModel(
        [TextPart("I do both."), call("write", what="one"), call("write", what="two"), CALLS],
        [TextPart("Done."), STOP],
    )
    async with working(worker_for(stage, model, box)):
        session = await stage.open_session()
        finished = await stage.until_finished(await stage.say(session, "go"))
    assert recorded == [2, 2]
    assert box.started == [("write", {"what": "one"}), ("write", {"what": "two"})]
    assert finished.files == ["a.txt"]
    assert len(stage.payloads(session, FilesChanged)) == 2
    results = [turn for turn in model.requests[1].turns if isinstance(turn, ToolTurn)]
    assert [result.output for result in results] == ["did one", "did two"]
    ids = [called.call_id for called in stage.payloads(session, ToolCalled)]
    assert [result.call_id for result in results] == ids
    assert len(set(ids)) == 2


async def test_reading_calls_run_together_and_writing_ones_in_order() -> None:
    stage = Stage()
    box = HandlerBox()
    both = asyncio.Barrier(2)
    log: list[str] = []

    async def meet(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        async with asyncio.timeout(30):
            await both.wait()
        log.append("read")
        return Done(success=True, output="")

    async def write(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        log.append(f"{arguments['what']} begins")
        await asyncio.sleep(0)
        log.append(f"{arguments['what']} ends")
        return Done(success=True, output="")

    box.add("read", meet, read_only=True)
    box.add("write", write)
    calls = [call("read"), call("read"), call("write", what="a"), call("write", what="b")]
    model = ScriptedModel([*calls, CALLS], [TextPart("Done."), STOP])
    async with working(worker_for(stage, model, box)):
        session = await stage.open_session()
        await stage.until_finished(await stage.say(session, "go"))
    assert log == ["read", "read", "a begins", "a ends", "b begins", "b ends"]


async def test_broken_arguments_and_unknown_tools_become_results() -> None:
    stage = Stage()
    box = HandlerBox()
    box.add("write", echo)
    broken = ToolCallPart(ToolRequest(call_id="", name="write", arguments=None, raw='{"what": "o'))
    model = ScriptedModel([broken, call("no such.tool"), CALLS], [TextPart("Sorry."), STOP])
    async with working(worker_for(stage, model, box)):
        session = await stage.open_session()
        await stage.until_finished(await stage.say(session, "go"))
    assert box.started == []
    first, second = [turn for turn in model.requests[1].turns if isinstance(turn, ToolTurn)]
    assert "not a JSON object" in first.output
    assert not first.success
    assert "no tool named 'no such.tool'" in second.output
    assert second.name == "no_such_tool"


async def test_a_call_over_its_deadline_is_ended_and_reported() -> None:
    stage = Stage()
    box = HandlerBox()
    box.add("hang", hang, deadline_ms=-2_990)
    model = ScriptedModel([call("hang"), CALLS], [TextPart("It hung."), STOP])
    async with working(worker_for(stage, model, box)):
        session = await stage.open_session()
        await stage.until_finished(await stage.say(session, "go"))
    assert box.cancelled == ["hang"]
    assert "was ended" in stage.payloads(session, ToolFinished)[0].preview


async def test_stop_in_mid_answer_keeps_the_partial_text() -> None:
    stage = Stage()
    model = ScriptedModel([TextPart("So far"), hold])
    async with working(worker_for(stage, model)):
        session = await stage.open_session()
        run = await stage.say(session, "go")
        await until(lambda: bool(stage.stream.deltas))
        await stage.stop(session)
        finished = await stage.until_finished(run)
    message = stage.payloads(session, MessageCompleted)[0]
    assert (message.text, message.partial) == ("So far", True)
    assert finished.status == "stopped"


async def test_stop_in_mid_tool_cancels_it_and_leaves_a_valid_conversation() -> None:
    stage = Stage()
    box = HandlerBox()
    box.add("hang", hang)
    model = ScriptedModel([call("hang"), CALLS], [TextPart("Again."), STOP])
    async with working(worker_for(stage, model, box, table=having(CURRENT_DATE))):
        session = await stage.open_session()
        run = await stage.say(session, "go")
        await until(lambda: bool(box.started))
        await stage.stop(session)
        assert (await stage.until_finished(run)).status == "stopped"
        await stage.until_finished(await stage.say(session, "what happened?"))
    assert box.cancelled == ["hang"]
    assert not stage.payloads(session, ToolFinished)[0].success
    assert [type(turn).__name__ for turn in model.requests[1].turns] == [
        "UserTurn",
        "NoteTurn",
        "AssistantTurn",
        "ToolTurn",
        "UserTurn",
    ]


async def test_a_stop_that_only_the_store_knows_is_seen_at_the_heartbeat() -> None:
    stage = Stage()
    model = ScriptedModel([TextPart("So far"), hold])
    async with working(worker_for(stage, model, options=RunOptions(heartbeat_s=0.02))):
        session = await stage.open_session()
        run = await stage.say(session, "go")
        await until(lambda: bool(stage.stream.deltas))
        await stage.ledger.request_stop(session, USER)
        assert (await stage.until_finished(run)).status == "stopped"


async def test_a_message_sent_during_the_answer_is_answered_in_the_same_run() -> None:
    stage = Stage()

    async def interject() -> None:
        await stage.say(session, "and also this")

    model = ScriptedModel([TextPart("First."), interject, STOP], [TextPart("Second."), STOP])
    async with working(worker_for(stage, model)):
        session = await stage.open_session()
        await stage.until_finished(await stage.say(session, "this"))
    texts = [turn.text for turn in model.requests[1].turns if isinstance(turn, UserTurn | AssistantTurn)]
    assert texts == ["this", "First.", "and also this"]
    assert len(stage.payloads(session, RunFinished)) == 1


async def test_passing_faults_are_retried_before_the_first_part_only() -> None:
    stage = Stage()
    sleeps: list[float] = []
    busy = ModelUnavailableError("busy", may_retry=True)
    model = ScriptedModel([busy], [busy], [TextPart("Yes"), ModelStreamCutError("cut", may_retry=True)])
    async with working(worker_for(stage, model, sleeps=sleeps)):
        session = await stage.open_session()
        finished = await stage.until_finished(await stage.say(session, "go"))
    assert sleeps == [1.0, 2.0]
    assert len(model.requests) == 3
    assert (finished.status, finished.retryable) == ("failed", True)
    assert stage.payloads(session, ErrorEvent)[0].code == "model_stream_cut"
    assert stage.payloads(session, MessageCompleted)[0].partial


async def test_a_refused_key_ends_the_run_and_the_session_stays_usable() -> None:
    stage = Stage()
    model = ScriptedModel([ModelAuthError("The provider refused the key.")], [TextPart("Now."), STOP])
    async with working(worker_for(stage, model)):
        session = await stage.open_session()
        failed = await stage.until_finished(await stage.say(session, "go"))
        completed = await stage.until_finished(await stage.say(session, "again"))
    assert (failed.status, failed.reason, failed.retryable) == ("failed", "The provider refused the key.", False)
    assert completed.status == "completed"


async def test_a_computer_that_cannot_be_had_ends_the_run_with_the_reason() -> None:
    stage = Stage()
    box = HandlerBox()

    async def unavailable(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        raise SandboxUnavailableError("The engine is full.")

    box.add("write", unavailable)
    box.add("read", unavailable, read_only=True)
    model = ScriptedModel([call("read"), call("read"), call("write"), CALLS])
    async with working(worker_for(stage, model, box)):
        session = await stage.open_session()
        finished = await stage.until_finished(await stage.say(session, "go"))
    assert (finished.status, finished.reason, finished.retryable) == ("failed", "The engine is full.", True)
    assert len(stage.payloads(session, ToolFinished)) == 3
    assert stage.payloads(session, ErrorEvent)[0].code == "computer_unavailable"


async def test_a_tool_that_throws_is_a_result_and_the_run_goes_on(caplog: Any) -> None:
    async def throw(*_: Any) -> Done:
        raise ZeroDivisionError("secret detail")

    async def throw_early(call: ToolCall, *_: Any) -> Done:
        call.mark_started(False)
        raise ZeroDivisionError("secret detail")

    stage, box = Stage(), HandlerBox()
    box.add("throw", throw)
    box.add("early", throw_early)
    model = ScriptedModel([call("throw"), call("early"), CALLS], [TextPart("It broke."), STOP])
    async with working(worker_for(stage, model, box)):
        session = await stage.open_session()
        end = await stage.until_finished(await stage.say(session, "go"))
    assert end.status == "completed"
    first, second = stage.payloads(session, ToolFinished)
    assert (first.success, second.success) == (False, False)
    assert "may have happened" in first.preview
    assert second.preview.startswith("Nothing was run")
    assert "secret detail" not in first.preview
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize(
    "output",
    ["x" * 100_000_000, "\x00\x01\x7f\ufffe" * 10_000, "\udcff\ud800 half" * 5_000, "\udcff", ""],
    ids=["100 MB", "control characters", "halves of pairs", "half a pair", "nothing"],
)
async def test_whatever_a_tool_prints_is_a_bounded_result_and_the_run_goes_on(output: str) -> None:
    async def print_it(*_: Any) -> Done:
        return Done(success=True, output=output)

    stage, box = Stage(), HandlerBox()
    box.add("print", print_it)
    model = ScriptedModel([call("print"), CALLS], [TextPart("Well."), STOP])
    async with working(worker_for(stage, model, box)):
        session = await stage.open_session()
        end = await stage.until_finished(await stage.say(session, "go"))
    assert end.status == "completed"
    (result,) = [turn for turn in model.requests[1].turns if isinstance(turn, ToolTurn)]
    assert len(result.output) <= MAX_RESULT_CHARACTERS
    result.output.encode()
    (finished,) = stage.payloads(session, ToolFinished)
    assert len(finished.preview) <= 2_000
    finished.preview.encode()
    assert finished.body is None or finished.body.size <= 4_000_000


async def test_a_crash_in_a_run_ends_it_and_the_worker_goes_on(caplog: Any) -> None:
    stage = Stage()
    model = ScriptedModel([ZeroDivisionError("bug")], [TextPart("Fine."), STOP])
    async with working(worker_for(stage, model)):
        session = await stage.open_session()
        failed = await stage.until_finished(await stage.say(session, "go"))
        fine = await stage.until_finished(await stage.say(session, "again"))
    assert (failed.status, fine.status) == ("failed", "completed")
    assert stage.payloads(session, ErrorEvent)[0].code == "internal"
    assert "run crashed" in caplog.text


async def test_a_token_budget_ends_the_run_with_a_reason_however_often_its_history_is_read() -> None:
    stage, box = Stage(), HandlerBox()
    box.add("write", echo)

    def reads(tokens: int) -> list[Any]:
        return [call("write"), UsagePart(Usage(input=tokens, output=2)), CALLS]

    model = ScriptedModel(*(reads(tokens) for tokens in (20, 30, 40, 50)))
    async with working(worker_for(stage, model, box, max_tokens=50)):
        session = await stage.open_session()
        finished = await stage.until_finished(await stage.say(session, "go"))
    assert finished.status == "failed"
    assert stage.payloads(session, ErrorEvent)[0].code == "token_budget"
    used = stage.payloads(session, UsageUpdated)[-1]
    assert (used.usage.input, used.usage.new, used.context) == (140, 52, 52)


async def test_a_run_that_used_up_its_turns_says_without_tools_how_far_it_came() -> None:
    stage, box = Stage(), HandlerBox()
    box.add("write", echo)
    working_on = [call("write"), CALLS]
    model = ScriptedModel(working_on, working_on, [TextPart("So far so good."), STOP], [TextPart("On."), STOP])
    async with working(worker_for(stage, model, box)):
        session = await stage.open_session(max_turns=2)
        finished = await stage.until_finished(await stage.say(session, "go"))
        assert (finished.status, finished.reason) == ("completed", "max_turns")
        await stage.until_finished(await stage.say(session, "and on"))
    assert stage.said(session).startswith("So far so good.")
    assert [notice.code for notice in stage.payloads(session, Notice)] == ["max_turns"]
    assert not stage.payloads(session, ErrorEvent)
    assert [bool(request.tools) for request in model.requests] == [True, True, False, True]
    notes = [str(request.turns[-1]) for request in model.requests]
    assert "2 turns are left" in notes[0]
    assert "the last turn" in notes[1]
    assert "No turns are left" in notes[2]
    assert "2 turns are left" in notes[3], "the next run counts anew"
    assert [opened.cause for opened in stage.payloads(session, ContextOpened)] == ["started", "tools", "tools"]


async def test_a_call_made_where_there_are_no_tools_is_not_run_and_a_message_meanwhile_gets_a_run_of_its_own() -> None:
    stage, box, ran = Stage(), HandlerBox(), list[str]()

    async def note(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        ran.append(context.run_id)
        return Done(success=True, output=f"{len(ran)}")

    box.add("write", note)
    session = await stage.open_session(max_turns=1, title="named")

    async def speak_up() -> None:
        await stage.say(session, "by the way")

    model = ScriptedModel(
        [call("write"), CALLS], [speak_up, TextPart("Enough."), call("write"), CALLS], [TextPart("Hi."), STOP]
    )
    async with working(worker_for(stage, model, box, table=having(TURN_LIMIT))):
        first = await stage.until_finished(await stage.say(session, "go"))
        assert (first.status, first.reason, len(ran)) == ("completed", "max_turns", 1)
        async with asyncio.timeout(10):
            while len(stage.payloads(session, RunFinished)) < 2:
                await asyncio.sleep(0.01)
    assert stage.payloads(session, RunFinished)[-1].status == "completed"
    assert stage.said(session).endswith("Hi.")
    assert len(ran) == 1


async def test_an_answer_cut_for_length_goes_on_as_one_message() -> None:
    stage = Stage()
    cut = FinishPart("length")
    model = ScriptedModel([TextPart("one "), cut], [TextPart("two "), cut], [TextPart("three"), STOP])
    async with working(worker_for(stage, model)):
        session = await stage.open_session()
        await stage.until_finished(await stage.say(session, "count"))
    assert [message.text for message in stage.payloads(session, MessageCompleted)] == ["one two three"]
    deltas = [delta for _, delta in stage.stream.deltas if isinstance(delta, MessageDelta)]
    assert "".join(delta.text for delta in deltas) == "one two three"[: sum(len(delta.text) for delta in deltas)]


async def test_continuing_ends_after_three_times() -> None:
    stage = Stage()
    model = ScriptedModel([TextPart("x"), FinishPart("length")])
    async with working(worker_for(stage, model)):
        session = await stage.open_session()
        finished = await stage.until_finished(await stage.say(session, "count"))
    assert finished.status == "completed"
    assert stage.said(session) == "xxxx"


async def test_an_empty_answer_after_tools_is_asked_for_again() -> None:
    stage = Stage()
    model = ScriptedModel([STOP], [TextPart("Here."), STOP])
    async with working(worker_for(stage, model)):
        session = await stage.open_session()
        await stage.until_finished(await stage.say(session, "go"))
    assert stage.said(session) == "Here."


async def test_a_refusal_ends_the_run_as_failed() -> None:
    stage = Stage()
    async with working(worker_for(stage, ScriptedModel([FinishPart("refusal")]))):
        session = await stage.open_session()
        finished = await stage.until_finished(await stage.say(session, "go"))
    assert (finished.status, finished.retryable) == ("failed", False)


async def test_a_run_of_a_dead_worker_goes_on_from_its_last_recorded_step() -> None:
    stage = Stage()
    box = HandlerBox()
    box.add("write", hang)
    box.add("read", hang, read_only=True)
    session = await stage.open_session()
    run = await stage.say(session, "go")
    model = ScriptedModel([call("read"), call("write", what="x"), CALLS])
    dead = asyncio.create_task(worker_for(stage, model, box, options=RunOptions(heartbeat_s=60), slots=1).work())
    await until(lambda: len(box.started) == 1 and stage.ledger.renewed.is_set())
    fence = stage.store.runs[run].fence
    stage.lapse(run)
    alive = HandlerBox()
    alive.add("write", echo)
    alive.add("read", echo, read_only=True)
    model = ScriptedModel([TextPart("Checked."), STOP])
    async with working(worker_for(stage, model, alive, name="worker_2")):
        finished = await stage.until_finished(run)
    dead.cancel()
    await asyncio.wait({dead})
    assert fence == 1
    assert finished.status == "completed"
    assert alive.started == [("read", {})]
    results = {turn.name: turn for turn in model.requests[0].turns if isinstance(turn, ToolTurn)}
    assert results["read"].success
    assert "may have happened" in results["write"].output
    assert len(stage.payloads(session, ToolFinished)) == 2


async def test_a_worker_that_lost_its_lease_writes_nothing_more_and_counts_it_once() -> None:
    stage = Stage()
    session = await stage.open_session()
    lost = asyncio.Event()
    counted = measures.REGISTRY.get_sample_value("agent_leases_lost_total")
    model = ScriptedModel([TextPart("old"), lost.wait, STOP], [TextPart("new"), STOP])
    first = worker_for(stage, model, options=RunOptions(heartbeat_s=60), slots=1)
    async with working(first):
        run = await stage.say(session, "go")
        await until(lambda: bool(stage.stream.deltas) and stage.ledger.renewed.is_set())
        stage.lapse(run)
        async with working(worker_for(stage, model, name="worker_2")):
            finished = await stage.until_finished(run)
        before = len(stage.events(session))
        lost.set()
        for _ in range(20):
            await asyncio.sleep(0)
    assert finished.status == "completed"
    assert stage.said(session) == "new"
    assert len(stage.events(session)) == before
    assert measures.REGISTRY.get_sample_value("agent_leases_lost_total") == (counted or 0) + 1


async def test_nothing_is_kept_of_the_text_of_a_run_that_was_lost() -> None:
    """Nobody here hears the next start of the run, which ends what was being written."""
    stage = Stage()
    session = await stage.open_session()
    model = ScriptedModel([TextPart("half an ans"), asyncio.Event().wait])
    async with working(worker_for(stage, model, options=RunOptions(heartbeat_s=0.05))):
        run = await stage.say(session, "go")
        await until(lambda: bool(stage.stream.deltas))
        assert [event.payload.type for event in await stage.stream.texts(session)] == ["message.delta"]
        stage.lapse(run)
        assert await stage.ledger.claim("elsewhere", lease_s=60, model="m", run_id=run) is not None
        async with asyncio.timeout(30):
            while await stage.stream.texts(session):
                await asyncio.sleep(0.01)


async def test_a_whole_answer_is_not_asked_for_again_after_a_crash() -> None:
    stage = Stage()
    session = await stage.open_session()
    run = await stage.say(session, "go")
    lease = await stage.ledger.claim("dead", lease_s=-1, model="m")
    assert lease is not None
    await stage.ledger.record(lease, [NewEvent(payload=MessageCompleted(message_id="m", text="All said.", turn=1))])
    model = ScriptedModel([TextPart("again"), STOP])
    async with working(worker_for(stage, model)):
        assert (await stage.until_finished(run)).status == "completed"
    assert model.requests == []


async def test_a_run_taken_over_too_often_is_interrupted_with_a_reason() -> None:
    stage = Stage()
    session = await stage.open_session()
    run = await stage.say(session, "go")
    for _ in range(3):
        assert await stage.ledger.claim("dead", lease_s=-1, model="m") is not None
    async with working(worker_for(stage, ScriptedModel([STOP]))):
        finished = await stage.until_finished(run)
    assert finished.status == "interrupted"
    assert "3 times" in (finished.reason or "")


async def test_a_run_that_comes_a_step_further_each_time_is_cut_as_often_as_it_takes() -> None:
    stage = Stage()
    session = await stage.open_session()
    run = await stage.say(session, "go")
    for number in range(5):
        lease = await stage.ledger.claim("dead", lease_s=-1, model="m")
        assert lease is not None
        called = ToolCalled(
            call_id=f"c{number}", name="work", arguments={}, phrase="", dangerous=False, turn=number, seen_seq=1
        )
        result = ToolFinished(call_id=called.call_id, success=True, preview="worked")
        await stage.ledger.record(lease, [NewEvent(payload=called), NewEvent(payload=result)])
    async with working(worker_for(stage, ScriptedModel([TextPart("Done."), STOP]))):
        finished = await stage.until_finished(run)
    assert finished.status == "completed"


async def test_a_worker_that_is_shut_down_hands_its_runs_over_at_once() -> None:
    stage = Stage()
    session = await stage.open_session()
    async with working(worker_for(stage, ScriptedModel([TextPart("So"), hold]))):
        run = await stage.say(session, "go")
        await until(lambda: bool(stage.stream.deltas))
    async with working(worker_for(stage, ScriptedModel([TextPart("Whole."), STOP]), name="worker_2")):
        finished = await stage.until_finished(run)
    assert finished.status == "completed"
    assert stage.said(session) == "Whole."


async def test_many_runs_work_at_once() -> None:
    stage = Stage()
    all_in = asyncio.Barrier(20)
    model = ScriptedModel([all_in.wait, TextPart("ok"), STOP])
    async with working(worker_for(stage, model)):
        runs = [await stage.say(await stage.open_session(), "go") for _ in range(20)]
        for run in runs:
            assert (await stage.until_finished(run)).status == "completed"


class Named(MemoryRunLedger):
    """Remembers what workers look for. The first claims by name wait for each other."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.named: list[RunId | None] = []
        self._runs = store.runs
        self._claims = 0
        self._two_claim = asyncio.Event()

    async def claim(self, worker: str, *, lease_s: float, model: str, run_id: RunId | None = None) -> Lease | None:
        self.named.append(run_id)
        if run_id is not None and run_id in self._runs:
            self._claims += 1
            if self._claims == 2:
                self._two_claim.set()
            async with asyncio.timeout(10):
                await self._two_claim.wait()
        return await super().claim(worker, lease_s=lease_s, model=model, run_id=run_id)


def naming() -> tuple[Stage, Named]:
    store = MemoryStore()
    ledger = Named(store)
    return Stage(store, ledger=ledger), ledger


async def test_runs_it_is_notified_of_are_claimed_by_name_beside_each_other() -> None:
    stage, ledger = naming()
    async with working(worker_for(stage, ScriptedModel([TextPart("Yes."), STOP]), poll_s=30.0)):
        await stage.notifier.waiting.wait()
        ledger.named.clear()
        runs = [await stage.say(await stage.open_session(), "hi") for _ in range(10)]
        for run in runs:
            assert (await stage.until_finished(run)).status == "completed"
    assert sorted(str(one) for one in ledger.named) == sorted(runs)


async def test_a_notification_that_names_no_run_finds_any_that_waits() -> None:
    stage = Stage()
    async with working(worker_for(stage, ScriptedModel([TextPart("Yes."), STOP]), poll_s=30.0)):
        await stage.notifier.waiting.wait()
        stage.notifier.is_silent = True
        run = await stage.say(await stage.open_session(), "hi")
        stage.notifier.is_silent = False
        await stage.notifier.notify(Topic.RUN_QUEUED)
        assert (await stage.until_finished(run)).status == "completed"


async def test_a_run_whose_notification_was_lost_is_found_while_others_come_all_the_time() -> None:
    stage, ledger = naming()
    async with working(worker_for(stage, ScriptedModel([TextPart("Yes."), STOP]))):
        await stage.notifier.waiting.wait()
        stage.notifier.is_silent = True
        run = await stage.say(await stage.open_session(), "hi")
        stage.notifier.is_silent = False
        while not stage.run(run).status.is_end:
            await stage.say(await stage.open_session(), "again")
            await asyncio.sleep(0.01)
    assert run not in ledger.named


async def test_a_slow_channel_never_slows_the_model() -> None:
    stage = Stage()
    stage.stream.delay_s = 0.02
    parts = [TextPart(f"w{number} ") for number in range(2_000)]
    model = ScriptedModel([*parts, STOP])
    async with working(worker_for(stage, model)):
        session = await stage.open_session()
        started = time.perf_counter()
        # Each of them waited for would be 40 seconds.
        await stage.until_finished(await stage.say(session, "go"), within_s=30)
        assert time.perf_counter() - started < 20
    assert stage.said(session) == "".join(part.text for part in parts)
    assert len(stage.stream.deltas) < 200


def test_a_title_is_the_first_line_cut_at_a_word() -> None:
    assert title_of("\n  Hello   there \nmore") == "Hello there"
    assert title_of("") == ""
    long = title_of("word " * 40)
    assert len(long) <= 61
    assert long.endswith("word…")
    assert title_of("长" * 100) == "长" * 60 + "…"


async def test_a_run_that_begins_in_a_reserved_slot_knows_what_was_said_before() -> None:
    stage = Stage()
    model = ScriptedModel([TextPart("One."), STOP], [TextPart("Two."), STOP])
    worker = worker_for(stage, model)
    async with working(worker):
        session = await stage.open_session()
        await stage.until_finished(await stage.say(session, "first"))
        slot = worker.reserve(session)
        assert slot is not None
        message = MessageUser(message_id="m-second", text="second")
        accepted = await stage.ledger.accept(session, USER, message, claimant=slot.claimant)
        await slot.begin_run(accepted)
        finished = await stage.until_finished(accepted.run_id)
    assert finished.status == "completed"
    asked = [turn.text for turn in model.requests[1].turns if isinstance(turn, UserTurn)]
    assert asked == ["first", "second"]


async def test_a_worker_has_so_many_slots_and_none_while_it_rests() -> None:
    stage = Stage()
    worker = worker_for(stage, ScriptedModel(), slots=2)
    session = await stage.open_session()
    assert worker.reserve(session) is None
    async with working(worker):
        await asyncio.wait_for(stage.notifier.waiting.wait(), 30)
        slots = [worker.reserve(session), worker.reserve(session)]
        assert None not in slots
        assert worker.reserve(session) is None
        for slot in slots:
            assert slot is not None
            slot.release()
        again = worker.reserve(session)
        assert again is not None
        again.release()
    assert worker.reserve(session) is None
