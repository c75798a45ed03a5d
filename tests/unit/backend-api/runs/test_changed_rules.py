"""Rules and approvals that a person changes while a run is at work: a call is judged by what holds when it starts."""

from __future__ import annotations

from typing import Any

import pytest

from backend_api.agent.approvals import Decision
from backend_api.agent.events import ApprovalRequested, ToolFinished, ToolStarted
from backend_api.agent.model import FinishPart, TextPart, ToolCallPart, ToolRequest, ToolTurn
from backend_api.agent.options import Options
from backend_api.agent.tool import Done
from backend_api.agent.tools.task import TaskTool
from backend_api.conversations.application.answer_wait import AnswerWait
from backend_api.conversations.domain.entity import RunStatus
from backend_api.kit.ids import SessionId
from support.memory.run_waits import MemoryWaits
from support.scripted import HandlerBox, ScriptedModel
from support.stage import USER, Stage, until, worker_for, working

SAID = [TextPart("Well."), FinishPart("stop")]
TASK = {"task": "write", "description": "writes", "kind": "general"}


class Changing:
    """A session whose options `change` while its model answers, or while its tool `change` is at work."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.stage, self.box = Stage(), HandlerBox()
        self.session = SessionId("")
        self.options = options

        async def run(*_: Any) -> Done:
            return Done(success=True, output="done")

        async def change(*_: Any) -> Done:
            await self.change()
            return Done(success=True, output="changed")

        self.box.add("write", run)
        self.box.add("read", run, read_only=True)
        self.box.add("change", change)

    async def change(self) -> None:
        changed = await self.stage.sessions.change(self.session, USER, {"options": self.options})
        await self.stage.stream.append(self.session, changed.events)

    @property
    def started(self) -> list[str]:
        return [name for name, _ in self.box.started]

    async def approve(self) -> None:
        (*_, asked) = self.stage.payloads(self.session, ApprovalRequested)
        answer = AnswerWait(MemoryWaits(self.stage.store), self.stage.stream, self.stage.notifier)
        await answer(self.session, USER, asked.approval_id, Decision(decision="approve"))


def calling(*names: str) -> list[Any]:
    calls = [ToolRequest(call_id=f"x{at}", name=name, arguments={}) for at, name in enumerate(names)]
    return [*map(ToolCallPart, calls), FinishPart("tool_calls")]


DENYING = [{"denied_tools": ["read", "write"]}]
ASKING = [{"enable_approval": True}, {"asked_tools": ["write"]}]


@pytest.mark.parametrize("options", DENYING)
async def test_what_is_denied_while_the_model_answers_is_not_run(options: dict[str, Any]) -> None:
    one = Changing(options)
    model = ScriptedModel([one.change, *calling("read", "write")], SAID)
    async with working(worker_for(one.stage, model, one.box)):
        one.session = await one.stage.open_session()
        await one.stage.until_finished(await one.stage.say(one.session, "go"))
    assert one.started == []
    results = [turn.output for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)]
    assert len(results) == 2
    assert [finished.success for finished in one.stage.payloads(one.session, ToolFinished)] == [False, False]
    assert all("switched" in output for output in results)


@pytest.mark.parametrize("options", DENYING)
async def test_what_is_denied_while_a_call_before_it_is_at_work_is_not_run(options: dict[str, Any]) -> None:
    one = Changing(options)
    model = ScriptedModel(calling("write", "read", "change", "read", "write"), calling("write"), SAID)
    async with working(worker_for(one.stage, model, one.box)):
        one.session = await one.stage.open_session()
        await one.stage.until_finished(await one.stage.say(one.session, "go"))
    assert one.started == ["write", "read", "change"]
    ended = [finished.success for finished in one.stage.payloads(one.session, ToolFinished)]
    assert ended == [True, True, True, False, False, False]


@pytest.mark.parametrize("options", ASKING)
@pytest.mark.parametrize("is_early", [True, False], ids=["while it answers", "while a call is at work"])
async def test_what_is_to_be_asked_for_by_then_waits_and_runs_once_when_it_is_approved(
    options: dict[str, Any], is_early: bool
) -> None:
    one = Changing(options)
    first = [one.change, *calling("read", "write")] if is_early else calling("change", "read", "write")
    model = ScriptedModel(first, SAID)
    async with working(worker_for(one.stage, model, one.box, name="first")):
        one.session = await one.stage.open_session()
        run_id = await one.stage.say(one.session, "go")
        await until(lambda: one.stage.run(run_id).status == RunStatus.WAITING)
    before = one.started
    assert before == (["read"] if is_early else ["change", "read"])
    (asked,) = one.stage.payloads(one.session, ApprovalRequested)
    assert [call.name for call in asked.calls] == ["write"]
    await one.approve()
    async with working(worker_for(one.stage, model, one.box, name="second")):
        assert (await one.stage.until_finished(run_id)).status == "completed"
    assert one.started == [*before, "write"]
    assert [started.call_id for started in one.stage.payloads(one.session, ToolStarted)] == [asked.calls[0].call_id]
    assert [finished.success for finished in one.stage.payloads(one.session, ToolFinished)] == [True] * len(one.started)


async def test_what_is_lifted_acts_at_the_next_answer() -> None:
    one = Changing({"denied_tools": None, "enable_approval": False})
    model = ScriptedModel([one.change, *calling("write")], calling("read", "write"), SAID)
    async with working(worker_for(one.stage, model, one.box)):
        one.session = await one.stage.open_session(denied_tools=["write"], enable_approval=True)
        await one.stage.until_finished(await one.stage.say(one.session, "go"))
    assert one.started == ["read", "write"]


async def test_what_holds_below_the_session_holds_when_it_changes_something_else() -> None:
    one = Changing({"max_turns": 9, "asked_tools": ["read"]})
    model = ScriptedModel([one.change, *calling("write")], SAID)
    defaults = Options(denied_tools=frozenset({"write"}))
    async with working(worker_for(one.stage, model, one.box, defaults=defaults)):
        one.session = await one.stage.open_session()
        await one.stage.until_finished(await one.stage.say(one.session, "go"))
    assert one.started == []


async def test_agents_that_work_for_another_one_keep_to_it_too() -> None:
    one = Changing({"denied_tools": ["write"]})
    box = Delegating(one.box)
    task = [ToolCallPart(ToolRequest(call_id="t", name="task", arguments=TASK)), FinishPart("tool_calls")]
    model = ScriptedModel(task, [one.change, *calling("write")], SAID, SAID)
    async with working(worker_for(one.stage, model, box)):
        one.session = await one.stage.open_session()
        await one.stage.until_finished(await one.stage.say(one.session, "go"))
    assert one.started == []
    assert any("switched" in finished.preview for finished in one.stage.payloads(one.session, ToolFinished))


class Delegating(HandlerBox):
    """The tools of a box, and the one that hands work on."""

    def __init__(self, box: HandlerBox) -> None:
        super().__init__()
        self._box = box

    async def tools(self, setup: Any) -> Any:
        return [*await self._box.tools(setup), *await TaskTool().tools(setup)]
