"""Actions of one call: each is run once the one before it succeeded, and asked for with it."""

from __future__ import annotations

from typing import Any

import pytest

from backend_api.agent.approvals import Decision
from backend_api.agent.chained_calls import NOT_REACHED
from backend_api.agent.events import ApprovalRequested, SafetyCheck, ToolCalled
from backend_api.agent.model import FinishPart, TextPart, ToolCallPart, ToolRequest, ToolTurn
from backend_api.agent.tool import Done
from backend_api.conversations.application.answer_wait import AnswerWait
from backend_api.conversations.domain.entity import RunStatus
from support.memory.run_waits import MemoryWaits
from support.scripted import HandlerBox, ScriptedModel
from support.stage import USER, Stage, until, worker_for, working

SAID = [TextPart("Well."), FinishPart("stop")]
CHECK = SafetyCheck(code="risk", message="Well?")


def acting(*names: str, checks: tuple[SafetyCheck, ...] = ()) -> list[Any]:
    """One call with these actions."""
    calls = [
        ToolRequest(call_id="x", name=name, arguments={}, safety_checks=checks, is_next_action=at > 0)
        for at, name in enumerate(names)
    ]
    return [*map(ToolCallPart, calls), FinishPart("tool_calls")]


def box() -> HandlerBox:
    tools = HandlerBox()

    async def run(call: Any, *_: Any) -> Done:
        return Done(success="fail" not in call.name, output=f"{call.name}.")

    for name in ("write", "other", "fail"):
        tools.add(name, run)
    for name in ("read", "fail_to_read"):
        tools.add(name, run, read_only=True)
    return tools


async def run_of(answer: list[Any], decision: str = "", **options: Any) -> tuple[Stage, list[str], list[str]]:
    """The stage, what was started, and what the model reads."""
    stage, model, tools = Stage(), ScriptedModel(answer, SAID), box()
    session = await stage.open_session(**options)
    async with working(worker_for(stage, model, tools)):
        run_id = await stage.say(session, "go")
        if decision:
            await until(lambda: stage.run(run_id).status == RunStatus.WAITING)
            (requested,) = stage.payloads(session, ApprovalRequested)
            answer_wait = AnswerWait(MemoryWaits(stage.store), stage.stream, stage.notifier)
            said: Any = decision
            await answer_wait(session, USER, requested.approval_id, Decision(decision=said))
        assert (await stage.until_finished(run_id)).status == "completed"
    results = [turn.output for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)]
    stage_calls = stage.payloads(session, ToolCalled)
    assert [one.after for one in stage_calls] == [None, *(one.call_id for one in stage_calls[:-1])]
    return stage, [name for name, _ in tools.started], results


async def test_nothing_is_run_after_an_action_that_failed() -> None:
    for first in ("fail", "gone"):
        _, started, results = await run_of(acting(first, "write", "read"))
        assert "write" not in started
        assert results[1:] == [NOT_REACHED] * 2


async def test_an_action_that_reads_waits_for_one_that_reads_too() -> None:
    _, started, results = await run_of(acting("fail_to_read", "read"))
    assert (started, results[1:]) == (["fail_to_read"], [NOT_REACHED])


async def test_nobody_is_asked_for_an_action_after_one_that_failed() -> None:
    _, started, results = await run_of(acting("fail", "write", "other"), asked_tools=["write", "other"])
    assert (started, results[1:]) == (["fail"], [NOT_REACHED] * 2)


@pytest.mark.parametrize("decision", ["approve", "deny"])
async def test_what_comes_after_an_action_that_asks_is_asked_for_with_it_and_run_in_order(decision: str) -> None:
    _, started, results = await run_of(acting("read", "write", "other", "read"), decision, asked_tools=["write"])
    assert started == ["read", *(["write", "other", "read"] if decision == "approve" else [])]
    assert len(results) == 4


async def test_what_a_provider_holds_back_asks_though_it_reads_and_all_is_allowed() -> None:
    _, started, _ = await run_of(acting("read", checks=(CHECK,)), "approve_all", allowed_tools=["*"])
    assert started == ["read"]
