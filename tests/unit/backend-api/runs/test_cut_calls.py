"""A call that was cut at the length limit does not run, whatever stands there of it."""

from __future__ import annotations

from typing import Any

from backend_api.domain.agent.events import ToolFinished
from backend_api.domain.agent.model import FinishPart, TextPart, ToolCallPart, ToolRequest
from backend_api.domain.agent.tools import Done, ToolCall
from support.scripted import HandlerBox, OnOutput, ScriptedModel
from support.stage import Stage, worker_for, working


async def test_a_call_cut_before_its_first_argument_is_not_run_and_the_one_before_it_is() -> None:
    ran: list[dict[str, Any]] = []

    async def note(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        ran.append(arguments)
        return Done(success=True, output="Noted.")

    tools = HandlerBox()
    tools.add("note", note)
    given: list[tuple[str, dict[str, Any]]] = [("whole", {"text": "hi"}), ("cut", {})]
    calls = [ToolCallPart(ToolRequest(call_id=name, name="note", arguments=each)) for name, each in given]
    model = ScriptedModel([*calls, FinishPart("length")], [TextPart("Well."), FinishPart("stop")])
    stage = Stage()
    async with working(worker_for(stage, model, tools)):
        session = await stage.open_session(title="named")
        end = await stage.until_finished(await stage.say(session, "go"))
    assert (end.status, ran) == ("completed", [{"text": "hi"}])
    results = [(one.success, one.preview) for one in stage.payloads(session, ToolFinished)]
    assert (True, "Noted.") in results
    assert any(not success and "Nothing was run" in preview for success, preview in results)
