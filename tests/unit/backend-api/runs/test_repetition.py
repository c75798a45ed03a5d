"""An agent that goes round in circles is told so once, and ended when it goes on."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from backend_api.agent.events import ContextNote, ErrorEvent
from backend_api.agent.model import FinishPart, TextPart, ToolCallPart, ToolRequest
from backend_api.agent.tool import Done, ToolCall
from support.scripted import HandlerBox, OnOutput, Script, ScriptedModel
from support.stage import Stage, worker_for, working

STOP, CALLS = FinishPart("stop"), FinishPart("tool_calls")


def calling(name: str, **arguments: Any) -> Script:
    return [ToolCallPart(ToolRequest(call_id="c", name=name, arguments=arguments)), CALLS]


def box(*names: str, waits: bool = False, counts: bool = False) -> HandlerBox:
    made = HandlerBox()
    ran = 0

    async def run(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        nonlocal ran
        ran += 1
        return Done(success=True, output=f"{context.name} {arguments} {ran if counts else 0}")

    for name in names:
        made.add(name, run, waits=waits)
    return made


async def ended(model: ScriptedModel, tools: HandlerBox) -> tuple[Stage, str, str | None]:
    stage = Stage()
    async with working(worker_for(stage, model, tools)):
        session = await stage.open_session(title="named")
        end = await stage.until_finished(await stage.say(session, "go"))
    errors = stage.payloads(session, ErrorEvent)
    return stage, end.status, errors[0].code if errors else None


def notes(stage: Stage) -> list[str]:
    found = [row.payload for rows in stage.store.sessions.values() for row in rows.events]
    return [one.text for one in found if isinstance(one, ContextNote) and one.kind == "repetition"]


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
async def test_the_same_calls_three_times_over_are_pointed_out_and_then_end_the_run(length: int) -> None:
    cycle = [calling("look", at=at) for at in range(length)]
    model = ScriptedModel(*cycle * 20)
    stage, status, code = await ended(model, box("look"))
    assert (status, code) == ("failed", "repetition")
    assert len(model.requests) == length * 3 + 1, "one answer after it was told"
    assert len(notes(stage)) == 1
    assert "You made the same calls 3 times in a row" in str(model.requests[-1].turns[-1])


async def test_who_does_something_else_after_it_was_told_goes_on() -> None:
    model = ScriptedModel(*[calling("look")] * 3, calling("other"), [TextPart("Found it."), STOP])
    stage, status, code = await ended(model, box("look", "other"))
    assert (status, code, len(notes(stage))) == ("completed", None, 1)


async def test_it_is_no_circle_where_results_differ_or_the_tool_waits_for_something() -> None:
    for tools in (box("look", counts=True), box("look", waits=True)):
        model = ScriptedModel(*[calling("look")] * 12, [TextPart("Done."), STOP])
        stage, status, code = await ended(model, tools)
        assert (status, code, notes(stage)) == ("completed", None, [])


async def test_what_a_person_asks_for_again_is_done_again() -> None:
    stage, model = Stage(), ScriptedModel(*[calling("look"), [TextPart("Done."), STOP]] * 5)
    async with working(worker_for(stage, model, box("look"))):
        session = await stage.open_session(title="named")
        for _ in range(5):
            assert (await stage.until_finished(await stage.say(session, "look"))).status == "completed"
    assert not notes(stage)


async def test_another_worker_ends_what_the_first_one_pointed_out() -> None:
    stage, model = Stage(), ScriptedModel(*[calling("look")] * 20)
    tools = box("look")
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, model, tools, name="first")):
        run = await stage.say(session, "go")
        async with asyncio.timeout(10):
            while not notes(stage):
                await asyncio.sleep(0)
    async with working(worker_for(stage, model, tools, name="second")):
        end = await stage.until_finished(run)
    assert (end.status, len(notes(stage))) == ("failed", 1)
