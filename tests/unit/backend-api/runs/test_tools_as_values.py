"""Tools as values: asked for each agent, judged before each call, what they tell stored with their result."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from backend_api.agent.capability import Setup
from backend_api.agent.events import Notice, ToolCalled, ToolFinished
from backend_api.agent.model import FinishPart, TextPart, ToolCallPart, ToolRequest
from backend_api.agent.tool import Done, Effect, Tool, ToolCall, ToolSpec
from support.scripted import HandlerBox, OnOutput, ScriptedModel
from support.stage import USER, Stage, until, worker_for, working

SAID = [TextPart("Well."), FinishPart("stop")]


def asks_for(name: str) -> list[Any]:
    return [ToolCallPart(ToolRequest(call_id="x", name=name, arguments={})), FinishPart("tool_calls")]


class Source:
    """One tool whose name follows the session's options, and what it does."""

    def __init__(self, effect: Effect = "writes", *, is_slow: bool = False) -> None:
        self.setups: list[Setup] = []
        self.effect: Effect = effect
        self.is_slow = is_slow
        self.holds = asyncio.Event()
        self.calls = 0

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        self.setups.append(setup)
        name = f"up_to_{setup.options.max_turns}"
        return [
            Tool(
                spec=ToolSpec(name=name, description="", parameters={}, phrase="", effect=self.effect),
                run_call=self.run,
            )
        ]

    async def run(self, call: ToolCall) -> Done:
        self.calls += 1
        if self.calls == 1 and self.is_slow:
            await self.holds.wait()
        return Done(success=True, output="ok", events=[Notice(text=f"told by {call.name}")])


async def test_a_source_is_asked_with_the_options_of_the_opening() -> None:
    stage, source = Stage(), Source()
    model = ScriptedModel(asks_for("up_to_7"), SAID)
    async with working(worker_for(stage, model, source)):
        session = await stage.open_session(max_turns=7)
        await stage.until_finished(await stage.say(session, "go"))
    assert [tool.name for tool in model.requests[0].tools] == ["up_to_7"]
    finished, told = [event for event in stage.events(session) if isinstance(event.payload, ToolFinished | Notice)]
    assert (finished.seq or 0) + 1 == told.seq
    assert told.payload == Notice(text="told by up_to_7")


@pytest.mark.parametrize(("effect", "calls", "success"), [("reads", 2, True), ("writes", 1, False)])
async def test_a_call_found_open_is_run_again_or_reported_as_its_tool_says(
    effect: Effect, calls: int, success: bool
) -> None:
    stage, source = Stage(), Source(effect, is_slow=True)
    model = ScriptedModel(asks_for("up_to_50"), SAID)
    async with working(worker_for(stage, model, source, name="first")) as task:
        session = await stage.open_session()
        run_id = await stage.say(session, "go")
        await until(lambda: source.calls == 1)
        task.cancel()
    async with working(worker_for(stage, model, source, name="second")):
        await stage.until_finished(run_id)
    assert source.calls == calls
    assert [one.success for one in stage.payloads(session, ToolFinished)] == [success]


async def test_a_tool_that_the_session_switched_off_is_not_run_and_the_model_reads_why() -> None:
    stage, box = Stage(), HandlerBox()

    async def write(call: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        return Done(success=True, output="written")

    box.add("write", write)
    model = ScriptedModel(asks_for("write"), SAID, asks_for("write"), SAID)
    async with working(worker_for(stage, model, box)):
        session = await stage.open_session(denied_tools=["write"])
        await stage.until_finished(await stage.say(session, "go"))
        assert not box.started
        await stage.sessions.update(session, USER, {"options": {"denied_tools": None}})
        await stage.until_finished(await stage.say(session, "and now"))
    denied, done = stage.payloads(session, ToolFinished)
    assert denied.preview.startswith("Nothing was run: The person switched write off")
    assert (done.success, done.preview, len(box.started)) == (True, "written", 1)
    assert len(stage.payloads(session, ToolCalled)) == 2
