"""Tools that an agent is not told from the start: loaded by families, called by a pair, recorded as they are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from backend_api.agent.approvals import Decision
from backend_api.agent.capabilities.plan_mode import PLAN_MODE
from backend_api.agent.capability import Setup
from backend_api.agent.events import (
    ApprovalRequested,
    ContextCompacted,
    ContextNote,
    ContextOpened,
    ToolCalled,
    ToolFinished,
    Usage,
)
from backend_api.agent.model import (
    AssistantTurn,
    FinishPart,
    NoteTurn,
    TextPart,
    ToolCallPart,
    ToolRequest,
    ToolTurn,
    UsagePart,
)
from backend_api.agent.thread import Thread
from backend_api.agent.tool import Done, Tool, ToolCall
from backend_api.agent.tools.local import Arguments, local_tool
from backend_api.agent.tools.plan_mode import plan_mode_tools
from backend_api.agent.tools.tool_families import LOAD_TOOLS, USE_TOOL_OF_FAMILY
from backend_api.conversations.application.answer_wait import AnswerWait
from backend_api.conversations.domain.entity import RunStatus
from backend_api.kit.ids import SessionId
from support.acting import taken_over_at
from support.memory.run_waits import MemoryWaits
from support.scripted import SCRIPTED, HandlerBox, Script, ScriptedModel
from support.stage import USER, Stage, until, worker_for, working
from support.tables import having

STOP, CALLS = FinishPart("stop"), FinishPart("tool_calls")
DONE: Script = [TextPart("Done."), STOP]


class Keys(Arguments):
    keys: str


class Box(HandlerBox):
    """More tools than are told: the pair, those of two families and an MCP server, and many of no family."""

    def __init__(self) -> None:
        super().__init__()

        async def run(*_: Any) -> Done:
            return Done(success=True, output="done")

        for number in range(25):
            self.add(f"plain_{number}", run, read_only=True)
        for name in ("desktop_mouse", "desktop_screenshot"):
            self.add(name, run, read_only=name == "desktop_screenshot")
        for number in range(90):
            self.add(f"mcp__shop__order_{number}", run)
        self.add("mcp__shop__refund", run)

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        own = plan_mode_tools() if setup.kind == "main" else []
        return [LOAD_TOOLS, USE_TOOL_OF_FAMILY, *own, self._keyboard(), *await super().tools(setup)]

    def _keyboard(self) -> Tool:
        async def press(call: ToolCall, arguments: Keys) -> Done:
            self.started.append((call.name, call.arguments))
            return Done(success=True, output=f"pressed {arguments.keys}")

        return local_tool(
            name="desktop_keyboard",
            description="Press keys.",
            arguments=Keys,
            phrase="Pressing {keys}",
            run_call=press,
            effect="writes",
        )


def call(tool: str, used: int = 0, **arguments: Any) -> Script:
    usage = [UsagePart(Usage(input=used, output=1))] if used else []
    return [*usage, ToolCallPart(ToolRequest(call_id="c", name=tool, arguments=arguments)), CALLS]


def use(tool: str, **arguments: Any) -> Script:
    return call("use_tool", name=tool, arguments=arguments)


def results(model: ScriptedModel) -> list[ToolTurn]:
    return [turn for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)]


async def said(*scripts: Script, text: str = "go", **options: Any) -> tuple[Stage, SessionId, ScriptedModel, Box]:
    stage, model, box = Stage(), ScriptedModel(*scripts), Box()
    bounds = options.pop("bounds", {})
    async with working(worker_for(stage, model, box, **bounds)):
        session = await stage.open_session(title="named", **options)
        assert (await stage.until_finished(await stage.say(session, text))).status == "completed"
    return stage, session, model, box


async def test_a_family_is_loaded_as_a_result_and_nothing_sent_before_changes() -> None:
    stage, session, model, _ = await said(call("load_tools", family="desktop"), DONE)
    (loaded,) = results(model)
    for name in ("desktop_mouse", "desktop_screenshot", "desktop_keyboard", '"keys"'):
        assert name in loaded.output
    assert [one.name for one in model.requests[0].tools] == [one.name for one in model.requests[1].tools]
    assert model.requests[0].system == model.requests[1].system
    assert len(stage.payloads(session, ContextOpened)) == 1
    assert "desktop_mouse" not in {one.name for one in model.requests[0].tools}
    (called,) = stage.payloads(session, ToolCalled)
    assert called.phrase == "Loading the tools of desktop"
    assert called.read_only


async def test_a_call_through_the_pair_is_recorded_as_the_tools_own_and_sent_as_it_was_said() -> None:
    stage, session, model, box = await said(use("desktop_keyboard", keys="ctrl+s"), DONE)
    (called,) = stage.payloads(session, ToolCalled)
    assert (called.name, called.arguments, called.via, called.said) == (
        *("desktop_keyboard", {"keys": "ctrl+s"}),
        *("use_tool", None),
    )
    assert (called.phrase, called.read_only) == ("Pressing ctrl+s", False)
    assert box.started == [("desktop_keyboard", {"keys": "ctrl+s"})]
    (turn,) = [turn for turn in model.requests[1].turns if isinstance(turn, AssistantTurn)]
    (again,) = turn.calls
    assert again.name == "use_tool"
    assert again.arguments_json == json.dumps({"name": "desktop_keyboard", "arguments": {"keys": "ctrl+s"}})
    assert results(model)[0].output == "pressed ctrl+s"


@pytest.mark.parametrize(
    "given",
    [
        {"arguments": {"keys": "a"}, "name": "desktop_keyboard"},
        {"name": "desktop_keyboard", "arguments": '{"keys": "a"}'},
        {"name": "desktop_keyboard", "arguments": {"keys": "a"}, "why": "as it is shorter"},
    ],
)
async def test_whatever_form_it_was_said_in_is_the_one_it_is_sent_in(given: dict[str, Any]) -> None:
    _, _, model, box = await said(call("use_tool", **given), DONE)
    assert box.started == [("desktop_keyboard", {"keys": "a"})]
    (turn,) = [turn for turn in model.requests[1].turns if isinstance(turn, AssistantTurn)]
    assert turn.calls[0].arguments_json == json.dumps(given)


async def test_a_tool_that_was_not_loaded_may_be_called_by_its_own_name() -> None:
    stage, session, model, box = await said(call("desktop_keyboard", keys="a"), DONE)
    assert box.started == [("desktop_keyboard", {"keys": "a"})]
    (called,) = stage.payloads(session, ToolCalled)
    assert called.via is None
    assert results(model)[0].success


async def test_arguments_that_do_not_fit_are_told_with_the_definition() -> None:
    for script in (use("desktop_keyboard"), use("desktop_keyboard", text="a"), call("desktop_keyboard", keys=5)):
        _, _, model, box = await said(script, use("desktop_keyboard", keys="a"), DONE)
        first, second = results(model)
        assert not first.success
        assert first.output.startswith("Nothing was run: the arguments do not fit desktop_keyboard.")
        assert '"parameters":{"type":"object","properties":{"keys"' in first.output
        assert second.output == "pressed a"
        assert len(box.started) == 1


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"name": "use_tool", "arguments": {"name": "desktop_mouse"}}, "can't be called by itself"),
        ({"arguments": {}}, "takes `name`"),
        ({"name": "desktop_mouse", "arguments": [1]}, "takes `name`"),
        ({"name": "desktop_mouse", "arguments": "{"}, "takes `name`"),
        ({"name": "no_such_tool", "arguments": {}}, "There is no tool named 'no_such_tool'"),
    ],
)
async def test_what_means_no_tool_is_told_and_goes_back_as_it_was_said(given: dict[str, Any], told: str) -> None:
    stage, session, model, box = await said(call("use_tool", **given), DONE)
    assert told in results(model)[0].output
    assert box.started == []
    (called,) = stage.payloads(session, ToolCalled)
    assert (called.name, called.arguments) == ("use_tool", given)
    (turn,) = [turn for turn in model.requests[1].turns if isinstance(turn, AssistantTurn)]
    assert (turn.calls[0].name, turn.calls[0].arguments) == ("use_tool", given)


async def test_a_tool_that_is_told_can_be_used_through_the_pair_as_well() -> None:
    _, _, _, box = await said(use("plain_1", what="x"), use("load_tools", family="desktop"), DONE)
    assert box.started == [("plain_1", {"what": "x"})]


async def test_of_a_large_family_the_names_are_told_and_what_is_looked_for_whole() -> None:
    class Wordy(Box):
        async def tools(self, setup: Setup) -> Sequence[Tool]:
            found = await super().tools(setup)
            return [replace(one, spec=replace(one.spec, description="Orders things. " * 20)) for one in found]

    stage, box = Stage(), Wordy()
    model = ScriptedModel(
        call("load_tools", family="mcp__shop"),
        call("load_tools", family="mcp__shop", find="Refund"),
        call("load_tools", family="mcp__shop__order_7"),
        call("load_tools", family="mcp__shop", find="nowhere"),
        call("load_tools", family="nowhere"),
        DONE,
    )
    async with working(worker_for(stage, model, box)):
        await stage.until_finished(await stage.say(await stage.open_session(title="named"), "go"))
    names, refund, seventh, none, unknown = results(model)
    assert "has 91 tools" in names.output
    assert "- mcp__shop__order_89:" not in names.output or len(names.output) < 13_000
    assert '"name":"mcp__shop__refund"' in refund.output
    assert "order_" not in refund.output
    assert '"name":"mcp__shop__order_7"' in seventh.output
    assert (none.success, unknown.success) == (False, False)
    assert "Families: desktop, mcp__shop." in unknown.output


async def test_a_family_that_the_person_names_is_loaded_before_the_model_answers() -> None:
    for text in ("Click on it @desktop please", "用桌面打开它", "What is on the desktop?"):
        stage, session, model, _ = await said([TextPart("First."), STOP], DONE, text=text)
        (note,) = [one for one in stage.payloads(session, ContextNote) if one.kind == "tools"]
        assert note.about == "desktop"
        told = [turn.text for turn in model.requests[0].turns if isinstance(turn, NoteTurn)]
        assert any('"name":"desktop_mouse"' in text for text in told)
        assert any("Its name occurs in the message" in text for text in told)
    stage, session, _, _ = await said(DONE, text="Order one by @shop, desktops don't matter")
    assert [one.about for one in stage.payloads(session, ContextNote) if one.kind == "tools"] == ["mcp__shop"]


async def test_an_approval_asks_for_the_tool_itself_and_runs_it_once() -> None:
    stage, box, model = Stage(), Box(), ScriptedModel(use("desktop_keyboard", keys="a"), DONE)
    async with working(worker_for(stage, model, box)):
        session = await stage.open_session(title="named", enable_approval=True)
        run_id = await stage.say(session, "go")
        await until(lambda: stage.run(run_id).status == RunStatus.WAITING)
        (asked,) = stage.payloads(session, ApprovalRequested)
        (one,) = asked.calls
        assert (one.name, one.arguments) == ("desktop_keyboard", {"keys": "a"})
        assert box.started == []
        answer = AnswerWait(MemoryWaits(stage.store), stage.stream, stage.notifier)
        await answer(session, USER, asked.approval_id, Decision(decision="approve"))
        await stage.until_finished(run_id)
    assert [name for name, _ in box.started] == ["desktop_keyboard"]


async def test_rules_and_plan_mode_judge_the_tool_itself() -> None:
    _, _, model, box = await said(use("desktop_keyboard", keys="a"), DONE, denied_tools=["desktop_*"])
    assert "The person switched desktop_keyboard off" in results(model)[0].output
    assert box.started == []
    stage, model, box = (
        Stage(),
        ScriptedModel(use("desktop_keyboard", keys="a"), use("desktop_screenshot"), DONE),
        Box(),
    )
    async with working(worker_for(stage, model, box, table=having(PLAN_MODE))):
        session = await stage.open_session(title="named", enable_plan_mode=True)
        await stage.until_finished(await stage.say(session, "go"))
    denied, seen = results(model)
    assert "in plan mode only tools that read are run" in denied.output
    assert seen.success
    assert [name for name, _ in box.started] == ["desktop_screenshot"]


async def test_what_is_loaded_stands_beside_a_summary_and_is_never_left_out_as_an_old_result() -> None:
    summary: Script = [UsagePart(Usage(input=720, output=10)), TextPart("They want it done."), STOP]
    scripts = [call("load_tools", 300, family="desktop"), call("plain_1", 9_500), summary, DONE]
    small = replace(SCRIPTED, context_window=12_000)
    stage, session, model, _ = await said(*scripts, bounds={"info": small})
    (compacted,) = stage.payloads(session, ContextCompacted)
    assert '"name":"desktop_keyboard"' in compacted.summary
    assert any(
        '"name":"desktop_keyboard"' in turn.text for turn in model.requests[-1].turns if isinstance(turn, NoteTurn)
    )

    works = [call("load_tools", family="desktop"), *[call("plain_1", at=at, what="x" * 300) for at in range(6)]]
    _, _, model, _ = await said(*works, DONE, bounds={"micro_compact_min_tokens": 1})
    assert '"name":"desktop_keyboard"' in results(model)[0].output


async def test_whoever_takes_the_run_over_after_any_event_knows_what_is_loaded() -> None:
    script = [call("load_tools", family="desktop"), use("desktop_screenshot"), DONE]
    stage, session, _, _ = await said(*script)
    end = max(event.seq or 0 for event in stage.events(session) if isinstance(event.payload, ToolFinished))
    for cut_at in range(3, end):
        other, its = await taken_over_at(cut_at, script, Box())
        thread = Thread()
        for event in other.events(its):
            thread.apply(event)
        assert thread.loaded == [("desktop", "")], f"cut at {cut_at}"
        calls = [one.calls for one in thread.conversation("r").turns if isinstance(one, AssistantTurn) and one.calls]
        assert [one.name for (one,) in calls] == ["load_tools", "use_tool"]
