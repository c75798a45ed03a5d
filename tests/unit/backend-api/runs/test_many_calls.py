"""However many calls a model asks for at once, so many of them are at work, and the rest in their order."""

from __future__ import annotations

import asyncio
from typing import Any

from backend_api.agent.events import ToolCalled, ToolFinished
from backend_api.agent.model import FinishPart, TextPart, ToolCallPart, ToolRequest, ToolTurn
from backend_api.agent.tool import Done, ToolCall
from backend_api.agent.tool_runner import MAX_TOGETHER
from support.scripted import HandlerBox, OnOutput, ScriptedModel
from support.stage import Stage, worker_for, working

CALLS = 50


def asked() -> list[ToolCallPart | FinishPart]:
    calls = [ToolCallPart(ToolRequest(call_id="x", name="read", arguments={"number": n})) for n in range(CALLS)]
    return [*calls, FinishPart("tool_calls")]


class Busy:
    """A reading tool that counts how many of its calls are at work."""

    def __init__(self, *, lets_go: bool = True) -> None:
        self.at_work = self.most = 0
        self.begun: list[int] = []
        self.is_full = asyncio.Event()
        self.go = asyncio.Event()
        if lets_go:
            self.go.set()

    async def __call__(self, context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        await on_output("begun")
        self.begun.append(arguments["number"])
        self.at_work += 1
        self.most = max(self.most, self.at_work)
        if self.at_work == MAX_TOGETHER:
            self.is_full.set()
        try:
            for _ in range(20):
                await asyncio.sleep(0)
            await self.go.wait()
        finally:
            self.at_work -= 1
        return Done(success=True, output=f"read {arguments['number']}")


async def test_a_handful_is_at_work_and_the_rest_waits_its_turn() -> None:
    stage, box, busy = Stage(), HandlerBox(), Busy()
    box.add("read", busy, read_only=True)
    model = ScriptedModel(asked(), [TextPart("Done."), FinishPart("stop")])
    async with working(worker_for(stage, model, box)):
        session = await stage.open_session()
        end = await stage.until_finished(await stage.say(session, "go"))
    assert end.status == "completed"
    assert busy.most == MAX_TOGETHER
    assert busy.begun == list(range(CALLS))
    results = [turn.output for turn in model.requests[1].turns if isinstance(turn, ToolTurn)]
    assert results == [f"read {number}" for number in range(CALLS)]


async def test_a_stop_ends_those_at_work_and_says_of_the_rest_that_they_never_began() -> None:
    stage, box, busy = Stage(), HandlerBox(), Busy(lets_go=False)
    box.add("read", busy, read_only=True)
    async with working(worker_for(stage, ScriptedModel(asked()), box)):
        session = await stage.open_session(title="named")
        run = await stage.say(session, "go")
        await asyncio.wait_for(busy.is_full.wait(), 10)
        await stage.stop(session)
        end = await stage.until_finished(run)
    assert end.status == "stopped"
    assert busy.begun == list(range(MAX_TOGETHER))
    ended = stage.payloads(session, ToolFinished)
    assert [one.call_id for one in ended] == [one.call_id for one in stage.payloads(session, ToolCalled)]
    begun = ["Not begun." not in one.preview for one in ended]
    assert begun == [True] * MAX_TOGETHER + [False] * (CALLS - MAX_TOGETHER)
