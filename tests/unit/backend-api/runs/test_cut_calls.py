"""A call that was cut at the length limit is none: it is not run and not recorded, and the model makes it smaller."""

from __future__ import annotations

from typing import Any

import pytest

from backend_api.agent.events import MessageCompleted, Notice, ToolCalled, ToolFinished
from backend_api.agent.model import FinishPart, NoteTurn, TextPart, ToolCallPart, ToolRequest
from backend_api.agent.tool import Done, ToolCall
from support.scripted import HandlerBox, OnOutput, ScriptedModel
from support.stage import Stage, worker_for, working

STOP, CALLS, LENGTH = FinishPart("stop"), FinishPart("tool_calls"), FinishPart("length")


def note_call(arguments: dict[str, Any] | None) -> ToolCallPart:
    return ToolCallPart(ToolRequest(call_id="c", name="note", arguments=arguments))


def notebook(ran: list[dict[str, Any]]) -> HandlerBox:
    async def note(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        ran.append(arguments)
        return Done(success=True, output="Noted.")

    tools = HandlerBox()
    tools.add("note", note)
    return tools


@pytest.mark.parametrize("cut", [None, {}, {"text": "looks whole"}])
async def test_it_is_asked_for_again_smaller_and_what_was_said_stays(cut: dict[str, Any] | None) -> None:
    ran: list[dict[str, Any]] = []
    model = ScriptedModel(
        [TextPart("I note it. "), note_call({"text": "before"}), note_call(cut), LENGTH],
        [note_call({"text": "short"}), CALLS],
        [TextPart("Well."), STOP],
    )
    stage = Stage()
    async with working(worker_for(stage, model, notebook(ran))):
        session = await stage.open_session(title="named")
        end = await stage.until_finished(await stage.say(session, "go"))
    assert (end.status, ran) == ("completed", [{"text": "short"}])
    assert len(stage.payloads(session, ToolCalled)) == len(stage.payloads(session, ToolFinished)) == 1
    told = model.requests[1].turns[-1]
    assert isinstance(told, NoteTurn)
    assert "in the middle of a call of note" in told.text
    assert model.requests[2].turns[1 : 1 + 3] == [*model.requests[1].turns[1:3], model.requests[2].turns[3]]
    assert "I note it." in stage.said(session)


async def test_it_is_asked_for_three_times_in_a_run_also_by_those_who_take_it_over() -> None:
    ran: list[dict[str, Any]] = []
    model = ScriptedModel([note_call(None), LENGTH])
    stage = Stage()
    async with working(worker_for(stage, model, notebook(ran))):
        session = await stage.open_session(title="named")
        end = await stage.until_finished(await stage.say(session, "go"))
    assert (end.status, ran, len(model.requests)) == ("completed", [], 4)
    assert [len(said.continuations) for said in stage.payloads(session, MessageCompleted)] == [3]
    assert [notice.code for notice in stage.payloads(session, Notice)] == ["length"]
