"""An agent's own working list in its runs: in order, once, its own, and there for whoever goes on with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from backend_api.agent.capabilities.denied_tools import DENIED_TOOLS
from backend_api.agent.capabilities.plan_mode import PLAN_MODE
from backend_api.agent.capability import Setup
from backend_api.agent.events import (
    ContextCompacted,
    Todo,
    TodosUpdated,
    ToolFinished,
    Usage,
    agent_of,
)
from backend_api.agent.model import (
    FinishPart,
    NoteTurn,
    TextPart,
    ToolCallPart,
    ToolRequest,
    ToolTurn,
    UsagePart,
)
from backend_api.agent.tool import Tool
from backend_api.agent.tools.task import TaskTool
from backend_api.agent.tools.todos import todo_tools
from backend_api.kit.ids import SessionId
from support.acting import Acting, call, hand_on, looking, taken_over_at
from support.scripted import SCRIPTED, HandlerBox, Script, ScriptedModel
from support.stage import Stage, worker_for, working
from support.tables import having

STOP, CALLS = FinishPart("stop"), FinishPart("tool_calls")
DONE: Script = [TextPart("Done."), STOP]
NAMES = {"todo_write", "todo_add", "todo_complete", "todo_list"}
DIG, PLANT = Todo(content="Dig", status="pending"), Todo(content="Plant", status="pending")


class Box(HandlerBox):
    """Those of the list, `task`, and one that looks."""

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        own = [*todo_tools(), *await TaskTool().tools(setup)]
        return [*own, *await looking().tools(setup), *await super().tools(setup)]


def calls(*wanted: tuple[str, dict[str, Any]], used: int = 0) -> Script:
    usage = [UsagePart(Usage(input=used, output=1))] if used else []
    requests = [ToolRequest(call_id=f"x{at}", name=name, arguments=given) for at, (name, given) in enumerate(wanted)]
    return [*usage, *map(ToolCallPart, requests), CALLS]


def add(content: str, **given: Any) -> tuple[str, dict[str, Any]]:
    return "todo_add", {"content": content, **given}


LIST: tuple[str, dict[str, Any]] = ("todo_list", {})


def lists(stage: Stage, session: SessionId) -> list[list[Todo]]:
    return [told.todos for told in stage.payloads(session, TodosUpdated) if told.agent_id is None]


def results(model: ScriptedModel) -> list[str]:
    return [turn.output for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)]


async def test_calls_of_one_answer_each_go_on_from_the_one_before() -> None:
    stage = Stage()
    completes = ("todo_complete", {"number": 1})
    model = ScriptedModel(calls(add("Dig"), add("Plant"), completes, LIST), DONE)
    async with working(worker_for(stage, model, Box())):
        session = await stage.open_session(title="named")
        await stage.until_finished(await stage.say(session, "plant a tree"))
    dug = replace(DIG, status="completed")
    assert lists(stage, session) == [[DIG], [DIG, PLANT], [dug, PLANT]]
    assert results(model)[-1] == "The todos are:\n1. [completed] Dig\n2. [pending] Plant"


async def test_a_second_one_in_progress_is_told_as_its_result_and_the_list_stays() -> None:
    stage = Stage()
    model = ScriptedModel(calls(add("Dig", status="in_progress"), add("Plant", status="in_progress"), LIST), DONE)
    async with working(worker_for(stage, model, Box())):
        session = await stage.open_session(title="named")
        assert (await stage.until_finished(await stage.say(session, "go"))).status == "completed"
    assert [len(todos) for todos in lists(stage, session)] == [1]
    _, refused, listed = results(model)
    assert "only one todo may be in progress, and 1 and 2 would be" in refused
    assert listed == "The todos are:\n1. [in_progress] Dig"


async def test_it_is_there_in_the_next_run_of_another_worker() -> None:
    stage = Stage()
    model = ScriptedModel(calls(add("Dig")), DONE, calls(LIST), DONE)
    async with working(worker_for(stage, model, Box(), name="first")):
        session = await stage.open_session(title="named")
        await stage.until_finished(await stage.say(session, "go"))
    async with working(worker_for(stage, model, Box(), name="second")):
        await stage.until_finished(await stage.say(session, "what is left?"))
    assert results(model)[-1] == "The todos are:\n1. [pending] Dig"


async def test_whoever_takes_the_run_over_after_any_event_comes_to_the_same_list() -> None:
    script = [calls(add("Dig"), add("Plant")), calls(("todo_complete", {"number": 1})), DONE]
    stage, model = Stage(), ScriptedModel(*script)
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, model, Box())):
        await stage.until_finished(await stage.say(session, "go"))
    whole = lists(stage, session)
    last = max(event.seq or 0 for event in stage.events(session) if isinstance(event.payload, TodosUpdated))
    for cut_at in range(3, last + 1):
        other, session = await taken_over_at(cut_at, script, Box())
        assert lists(other, session) == whole, f"each change once, cut at {cut_at}"


async def test_it_stands_in_the_summary_by_its_numbers_and_is_gone_on_with_after_it() -> None:
    summary: Script = [UsagePart(Usage(input=720, output=10)), TextPart("They want a tree."), STOP]
    write = ("todo_write", {"todos": [{"content": "Dig", "status": "completed"}, {"content": "Plant"}]})
    look = ("look", {"what": "it"})
    model = ScriptedModel(
        calls(write, used=300),
        calls(look, used=3_500),
        summary,
        calls(("todo_complete", {"number": 2}), used=300),
        DONE,
    )
    stage = Stage()
    session = await stage.open_session(title="named")
    info = replace(SCRIPTED, context_window=5_000)
    async with working(worker_for(stage, model, Box(), info=info)):
        await stage.until_finished(await stage.say(session, "plant a tree"))
    after = model.requests[3].turns[0]
    assert isinstance(after, NoteTurn)
    assert after.text.endswith("They want a tree.\n\nThe todos are:\n1. [completed] Dig\n2. [pending] Plant")
    (compacted,) = stage.payloads(session, ContextCompacted)
    assert "2. [pending] Plant" in compacted.summary, "so that every worker reads the same"
    assert [todo.status for todo in lists(stage, session)[-1]] == ["completed", "completed"]


async def test_that_of_an_agent_below_is_its_own() -> None:
    def child(task: str, number: int) -> list[Any]:
        if number == 0:
            return [call("todo_add", content=f"part of {task}"), CALLS]
        return [call("todo_list"), CALLS] if number == 1 else [TextPart("Found."), STOP]

    def main(number: int) -> list[Any]:
        if number == 0:
            return [call("todo_add", content="my own"), CALLS]
        return hand_on("one", "two", kind="explore")(0) if number == 1 else last(number)

    def last(number: int) -> list[Any]:
        return [call("todo_list"), CALLS] if number == 2 else [TextPart("Done."), STOP]

    stage, model = Stage(), Acting(main, child)
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, model, Box())):
        await stage.until_finished(await stage.say(session, "go"))
    for task, own in ((None, "my own"), ("one", "part of one"), ("two", "part of two")):
        assert {tool.name for tool in model.of(task)[0].tools} >= NAMES
        read = [turn.output for turn in model.of(task)[-1].turns if isinstance(turn, ToolTurn)]
        assert read[-1] == f"The todos are:\n1. [pending] {own}"
    assert lists(stage, session) == [[Todo(content="my own", status="pending")]]
    assert len({agent_of(told) for told in stage.payloads(session, TodosUpdated)}) == 3


async def test_nobody_is_asked_about_it_and_a_plan_may_be_made_with_it() -> None:
    stage, model = Stage(), ScriptedModel(calls(add("Dig")), DONE)
    async with working(worker_for(stage, model, Box(), table=having(PLAN_MODE))):
        session = await stage.open_session(title="named", enable_approval=True, enable_plan_mode=True)
        assert (await stage.until_finished(await stage.say(session, "go"))).status == "completed"
    assert {tool.name for tool in model.requests[0].tools} >= NAMES
    assert [finished.success for finished in stage.payloads(session, ToolFinished)] == [True]
    assert lists(stage, session) == [[DIG]]


async def test_a_rule_of_the_session_holds_for_it_as_for_any_tool() -> None:
    stage, model = Stage(), ScriptedModel(calls(add("Dig")), DONE)
    async with working(worker_for(stage, model, Box(), table=having(DENIED_TOOLS))):
        session = await stage.open_session(title="named", denied_tools=["todo_*"])
        await stage.until_finished(await stage.say(session, "go"))
    assert lists(stage, session) == []
