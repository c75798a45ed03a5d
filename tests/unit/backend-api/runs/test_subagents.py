"""An agent that works for another one: a thread of the same run, which goes on in it after any take-over."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from backend_api.agent.capability import Capabilities, Setup
from backend_api.agent.events import (
    AgentDelta,
    ContextOpened,
    MessageCompleted,
    MessageDelta,
    RunFinished,
    SubagentFinished,
    SubagentStarted,
    ToolCalled,
    ToolFinished,
    UsageUpdated,
    agent_of,
)
from backend_api.agent.model import (
    FinishPart,
    ModelRequestError,
    TextPart,
    ToolTurn,
    Turn,
)
from backend_api.agent.tool import Assignment, Done, Tool, ToolCall, Waits
from backend_api.conversations.domain.entity import RunId
from backend_api.kit.ids import SessionId
from backend_api.runs.capabilities import capabilities
from support.acting import (
    Acting,
    DiesAfter,
    Tools,
    asked,
    call,
    hand_on,
    look_and_tell,
    looking,
)
from support.memory.store import MemoryStore
from support.scripted import ANY, HandlerBox
from support.stage import Stage, until, worker_for, working

STOP, CALLS = FinishPart("stop"), FinishPart("tool_calls")


async def play(stage: Stage, model: Acting, box: HandlerBox | None = None) -> tuple[SessionId, RunFinished]:
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, model, Tools(box or looking()))):
        end = await stage.until_finished(await stage.say(session, "go"))
    return session, end


async def test_its_last_answer_is_the_result_of_the_call_and_all_else_is_its_own() -> None:
    stage, model = Stage(), Acting(hand_on("it"), look_and_tell)
    session, end = await play(stage, model)
    assert end.status == "completed"
    result = model.of(None)[-1].turns[-1]
    assert isinstance(result, ToolTurn)
    assert (result.output, result.success) == ("it: found.", True)
    read = repr(model.of(None)[-1].turns)
    assert "step 0" not in read
    assert "saw it" not in read
    assert "go" not in {getattr(turn, "text", "") for turn in model.of("it")[0].turns}
    (started,) = stage.payloads(session, SubagentStarted)
    (handed,) = [called for called in stage.payloads(session, ToolCalled) if called.name == "task"]
    assert started.parent_call_id == handed.call_id
    own = [called for called in stage.payloads(session, ToolCalled) if called.name == "look"]
    assert {(called.agent_id, called.parent_call_id) for called in own} == {(started.subagent_id, handed.call_id)}
    assert [event.payload.epoch for event in stage.events(session) if isinstance(event.payload, ContextOpened)] == [
        1,
        1,
    ]


async def test_it_counts_into_the_runs_usage_and_its_own_is_told() -> None:
    stage, model = Stage(), Acting(hand_on("one", "two"), look_and_tell)
    session, end = await play(stage, model)
    assert len(model.requests) == 8
    assert (end.usage.input, end.usage.output) == (80, 8)
    assert [told.usage.input for told in stage.payloads(session, UsageUpdated)] == list(range(10, 90, 10))
    assert {told.context for told in stage.payloads(session, UsageUpdated)} == {11}
    finished = stage.payloads(session, SubagentFinished)
    assert [(told.usage.input, told.tool_count, told.summary[-6:]) for told in finished] == [(30, 2, "found.")] * 2


async def test_nothing_it_says_is_shown_or_counted_as_said_to_the_person() -> None:
    stage, model = Stage(), Acting(hand_on("it"), look_and_tell)
    session, _ = await play(stage, model)
    shown = "".join(delta.text for _, delta in stage.stream.deltas if isinstance(delta, MessageDelta))
    assert shown == "All done."
    assert stage.store.sessions[session].session.unread == 1


async def test_what_it_says_is_shown_as_its_own_while_it_is_written_and_once_it_is_stored_no_more() -> None:
    stage, model = Stage(), Acting(hand_on("it"), look_and_tell)
    session, _ = await play(stage, model)
    own = [delta for _, delta in stage.stream.deltas if isinstance(delta, AgentDelta)]
    (started,) = stage.payloads(session, SubagentStarted)
    said = [one for one in stage.payloads(session, MessageCompleted) if one.agent_id == started.subagent_id]
    assert {one.agent_id for one in own} == {started.subagent_id}
    for message in said:
        assert "".join(one.text for one in own if one.message_id == message.message_id) == message.text
    assert "found." in "".join(one.text for one in own)
    assert not await stage.stream.texts(session)


async def test_several_work_at_once_and_never_read_each_other() -> None:
    both = asyncio.Barrier(2)

    async def meet() -> None:
        async with asyncio.timeout(10):
            await both.wait()

    stage, model = Stage(), Acting(hand_on("one", "two"), look_and_tell)
    _, end = await play(stage, model, looking(before=meet))
    assert end.status == "completed"
    assert "two" not in repr(model.of("one")[-1].turns)
    assert "one" not in repr(model.of("two")[-1].turns)


OF_KINDS: dict[str, set[str]] = {
    "general": {"look", "change", "file_read", "file_write", "shell_exec", "web_fetch"},
    "explore": {"look", "file_read", "web_fetch"},
    "plan": {"look", "file_read", "web_fetch"},
    "code": {"look", "change", "file_read", "file_write", "shell_exec", "web_fetch"},
    "research": {"file_read", "file_write", "web_fetch"},
}


@pytest.mark.parametrize("kind", OF_KINDS)
async def test_it_has_neither_task_nor_questions_and_of_the_rest_what_its_kind_has(kind: str) -> None:
    box = looking()
    reading, writing = ("file_read", "web_fetch"), ("change", "file_write", "shell_exec")
    for name, reads in [*((name, True) for name in reading), *((name, False) for name in writing)]:
        box.add(name, lambda *_: asyncio.sleep(0, Done(success=True, output="")), read_only=reads)
    stage, model = Stage(), Acting(hand_on("it", kind=kind), look_and_tell)
    await play(stage, model, box)
    assert {tool.name for tool in model.of("it")[0].tools} == OF_KINDS[kind]
    assert "task" in {tool.name for tool in model.of(None)[0].tools}


async def test_a_call_by_the_names_of_before_is_the_same_one() -> None:
    given = {"title": "Look", "task": "look at it", "kind": "explore"}

    def main(number: int) -> list[Any]:
        return [call("task", **given), CALLS] if number == 0 else [TextPart("Done."), STOP]

    stage, model = Stage(), Acting(main, look_and_tell)
    session, _ = await play(stage, model)
    (started,) = stage.payloads(session, SubagentStarted)
    assert (started.kind, started.task) == ("explore", "look at it")


async def test_a_stop_ends_it_and_closes_what_it_has_at_work_before_the_call_it_works_on() -> None:
    stage = Stage()
    session = await stage.open_session(title="named")
    at_work = asyncio.Event()

    async def hang() -> None:
        at_work.set()
        await asyncio.Event().wait()

    box = looking(read_only=False, before=hang)
    async with working(worker_for(stage, Acting(hand_on("it"), look_and_tell), Tools(box))):
        run = await stage.say(session, "go")
        await asyncio.wait_for(at_work.wait(), 10)
        await stage.stop(session)
        end = await stage.until_finished(run)
    assert end.status == "stopped"
    assert box.cancelled == ["look"]
    ended = stage.payloads(session, ToolFinished)
    assert [(one.agent_id is None, one.cancelled) for one in ended] == [(False, True), (True, True)]
    assert {one.call_id for one in ended} == {one.call_id for one in stage.payloads(session, ToolCalled)}
    (started,) = stage.payloads(session, SubagentStarted)
    (finished,) = stage.payloads(session, SubagentFinished)
    assert finished.subagent_id == started.subagent_id
    assert (finished.usage.input, finished.tool_count, "topped" in finished.summary) == (10, 1, True)


async def test_a_stop_that_another_worker_hears_ends_what_the_first_one_began() -> None:
    store = MemoryStore()
    ledger = DiesAfter(store, 10_000)
    stage = Stage(store, ledger=ledger)
    session = await stage.open_session(title="named")

    async def die() -> None:
        ledger.has_died.set()
        await asyncio.Event().wait()

    model = Acting(hand_on("it"), look_and_tell)
    async with working(worker_for(stage, model, Tools(looking(read_only=False, before=die)))):
        run = await stage.say(session, "go")
        await asyncio.wait_for(ledger.has_died.wait(), 10)
        await stage.stop(session)
        stage.lapse(run)
        async with working(worker_for(stage, model, Tools(looking()), name="worker_2")):
            assert (await stage.until_finished(run)).status == "stopped"
    (finished,) = stage.payloads(session, SubagentFinished)
    assert [finished.subagent_id] == [one.subagent_id for one in stage.payloads(session, SubagentStarted)]
    assert (finished.usage.input, finished.tool_count) == (10, 1)


async def test_a_model_that_fails_for_it_is_the_result_of_the_call() -> None:
    stage, model = Stage(), Acting(hand_on("it"), lambda task, number: [ModelRequestError("No.")])
    session, end = await play(stage, model)
    assert end.status == "completed"
    (result,) = stage.payloads(session, ToolFinished)
    assert not result.success
    assert "No." in result.preview


async def test_one_that_takes_too_long_is_ended_with_what_it_has_at_work() -> None:
    stage = Stage()

    async def hang() -> None:
        await asyncio.Event().wait()

    box = looking(read_only=False, before=hang)
    tools = Tools(box)
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, Acting(hand_on("it"), look_and_tell), Hasty(tools))):
        end = await stage.until_finished(await stage.say(session, "go"))
    assert end.status == "completed"
    assert box.cancelled == ["look"]
    ended = stage.payloads(session, ToolFinished)
    assert [(one.agent_id is None, one.success) for one in ended] == [(False, False), (True, False)]
    assert "did not finish within" in ended[-1].preview


class Hasty:
    """The same tools with a second for another agent, which has to have come to its call by then."""

    def __init__(self, inner: Tools) -> None:
        self._inner = inner

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        return [replace(tool, run_call=partial(self._run, tool)) for tool in await self._inner.tools(setup)]

    async def _run(self, tool: Tool, call: ToolCall) -> Done | Waits:
        delegate = call.delegate

        async def soon(call: ToolCall, assignment: Assignment) -> Done | Waits:
            assert delegate is not None
            return await delegate(call, replace(assignment, within_s=1.0))

        call.delegate = soon
        return await tool.run_call(call)


@pytest.mark.parametrize("first", [0, *(pytest.param(one, marks=pytest.mark.thorough) for one in range(1, 4))])
async def test_a_run_taken_over_goes_on_inside_it_with_the_same_bytes_wherever_it_was_cut(first: int) -> None:
    stage, whole = Stage(), Acting(hand_on("one", "two"), look_and_tell)
    session, _ = await play(stage, whole)
    inside = [
        event.seq or 0
        for event in stage.events(session)
        if agent_of(event.payload) is not None or isinstance(event.payload, ToolCalled)
    ]
    expected = {task: asked(whole, task)[-1] for task in (None, "one", "two")}
    for cut_at in inside[first::4]:
        model = Acting(hand_on("one", "two"), look_and_tell)
        store = MemoryStore()
        ledger = DiesAfter(store, cut_at)
        stage = Stage(store, ledger=ledger)
        session = await stage.open_session(title="named")
        async with working(worker_for(stage, model, Tools(looking()))):
            run = await stage.say(session, "go")
            async with asyncio.timeout(10):
                await ledger.has_died.wait()
            stage.lapse(run)
            async with working(worker_for(stage, model, Tools(looking()), name="worker_2")):
                assert (await stage.until_finished(run)).status == "completed"
        check(stage, session, run, model, expected)


def check(stage: Stage, session: SessionId, run: RunId, model: Acting, expected: dict[str | None, list[Turn]]) -> None:
    for task, turns in expected.items():
        said = asked(model, task)
        assert said[-1] == turns
        assert all(turns[: len(one)] == one for one in said)
        assert len({(request.system, repr(request.tools)) for request in model.of(task)}) == 1
    assert len(stage.payloads(session, SubagentStarted)) == 2
    assert len(stage.payloads(session, ContextOpened)) == 3
    assert len(stage.payloads(session, ToolCalled)) == len(stage.payloads(session, ToolFinished)) == 6
    texts = [said.text for said in stage.payloads(session, MessageCompleted)]
    assert len(texts) == len(set(texts)) == 7


async def test_what_it_may_have_done_before_it_was_cut_is_not_done_again() -> None:
    store = MemoryStore()
    ledger = DiesAfter(store, 10_000)
    stage = Stage(store, ledger=ledger)
    session = await stage.open_session(title="named")

    async def die() -> None:
        ledger.has_died.set()
        await asyncio.Event().wait()

    model, box, after = Acting(hand_on("it"), look_and_tell), looking(False, die), looking(read_only=False)
    async with working(worker_for(stage, model, Tools(box))):
        run = await stage.say(session, "go")
        await asyncio.wait_for(ledger.has_died.wait(), 10)
        stage.lapse(run)
        async with working(worker_for(stage, model, Tools(after), name="worker_2")):
            assert (await stage.until_finished(run)).status == "completed"
    assert [arguments["what"] for _, arguments in box.started + after.started] == ["it 0", "it 1"]
    assert "may have happened" in repr(model.of("it")[-1].turns)


async def test_a_run_that_is_given_back_goes_on_inside_it() -> None:
    stage = Stage()
    session = await stage.open_session(title="named")
    draining = asyncio.Event()

    async def drain() -> None:
        draining.set()
        await asyncio.sleep(0.05)

    model = Acting(hand_on("it"), look_and_tell)
    first = worker_for(stage, model, Tools(looking(False, drain)))
    async with working(first) as task:
        run = await stage.say(session, "go")
        await asyncio.wait_for(draining.wait(), 10)
        task.cancel()
        await asyncio.wait({task}, timeout=10)
    async with working(worker_for(stage, model, Tools(looking(False)), name="worker_2")):
        await until(lambda: stage.run(run).status.is_end)
    assert stage.run(run).attempt == 2
    assert len(stage.payloads(session, SubagentStarted)) == 1
    assert stage.run(run).status.value == "completed"


def test_only_the_main_agent_is_told_nothing_of_its_part() -> None:
    table = capabilities()
    prompts = {kind: Capabilities(table, replace(ANY, kind=kind)).system_prompt() for kind in ("main", *OF_KINDS)}
    assert "Your part" not in prompts["main"]
    assert all("Your part" in prompts[kind] for kind in OF_KINDS)
    said = {"explore": "look and report", "code": "its tests", "plan": "numbered steps", "research": "its source"}
    for kind, words in said.items():
        assert [one for one, prompt in prompts.items() if words in prompt] == [kind]
