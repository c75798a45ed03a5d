"""While a person controls the computer no call of the agent starts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from backend_api.agent.events import ControlReturned, ControlTaken, ToolCalled, ToolFinished
from backend_api.agent.model import FinishPart, NoteTurn, TextPart, ToolCallPart, ToolRequest, ToolTurn
from backend_api.agent.tool import Done, ToolCall
from backend_api.conversations.domain.entity import RunStatus
from backend_api.kit.ids import SessionId
from support.scripted import HandlerBox, ScriptedModel
from support.stage import Stage, until, worker_for, working

SAID = [TextPart("Well."), FinishPart("stop")]
TAKEN, NOTE = ControlTaken(holder="Anna", client="window-1"), "I signed in."


def calling(name: str) -> list[Any]:
    return [ToolCallPart(ToolRequest(call_id="x", name=name, arguments={})), FinishPart("tool_calls")]


def box(on_call: Callable[[], Awaitable[None]] | None = None) -> HandlerBox:
    tools = HandlerBox()

    async def work(call: ToolCall, arguments: dict[str, Any], on_output: Any) -> Done:
        del call, arguments, on_output
        if on_call is not None:
            await on_call()
        return Done(success=True, output="done")

    tools.add("click", work, needs_sandbox=True)
    tools.add("look", work, needs_sandbox=True, read_only=True)
    tools.add("search", work)
    return tools


async def tell(stage: Stage, session: SessionId, payload: Any) -> None:
    await stage.stream.append(session, await stage.log.append(session, [payload]))


@pytest.mark.parametrize(("name", "runs"), [("click", False), ("look", True), ("search", True)])
async def test_a_call_waits_until_it_is_handed_back_and_the_note_is_read_next(name: str, runs: bool) -> None:
    stage, model, tools = Stage(), ScriptedModel(calling(name), SAID), box()
    session = await stage.open_session()
    await tell(stage, session, TAKEN)
    async with working(worker_for(stage, model, tools)):
        run_id = await stage.say(session, "go")
        await until(lambda: bool(stage.payloads(session, ToolCalled)))
        # As long as it takes to look twice.
        await asyncio.sleep(0.6)
        assert (tools.started, stage.payloads(session, ToolFinished)) == ([], [])
        await tell(stage, session, ControlReturned(by="user", note=NOTE))
        assert (await stage.until_finished(run_id)).status == "completed"
    assert [started for started, _ in tools.started] == ([name] if runs else [])
    *_, result, note = model.requests[-1].turns
    assert isinstance(result, ToolTurn)
    assert isinstance(note, NoteTurn)
    assert (result.success, "Nothing was run" in result.output) == (runs, not runs)
    assert note.text.endswith(NOTE)


async def test_of_two_calls_the_second_waits_where_control_is_taken_in_the_first() -> None:
    stage = Stage()
    session = await stage.open_session()

    async def take() -> None:
        await tell(stage, session, TAKEN)

    two = [*calling("click")[:1], *calling("click")]
    model, tools = ScriptedModel(two, SAID), box(take)
    async with working(worker_for(stage, model, tools)):
        run_id = await stage.say(session, "go")
        await until(lambda: len(stage.payloads(session, ToolFinished)) == 1)
        await asyncio.sleep(0.6)
        assert len(tools.started) == 1
        await tell(stage, session, ControlReturned(by="timeout"))
        await stage.until_finished(run_id)
    assert len(tools.started) == 1
    assert [done.success for done in stage.payloads(session, ToolFinished)] == [True, False]


async def test_a_stop_ends_a_run_that_waits_for_control() -> None:
    stage, model, tools = Stage(), ScriptedModel(calling("click"), SAID), box()
    session = await stage.open_session()
    await tell(stage, session, TAKEN)
    async with working(worker_for(stage, model, tools)):
        run_id = await stage.say(session, "go")
        await until(lambda: bool(stage.payloads(session, ToolCalled)))
        await stage.stop(session)
        assert (await stage.until_finished(run_id, within_s=10)).status == "stopped"
    assert tools.started == []


async def test_a_worker_that_ends_gives_a_run_back_that_waits_for_control() -> None:
    stage, model, tools = Stage(), ScriptedModel(calling("look"), SAID), box()
    session = await stage.open_session()
    await tell(stage, session, TAKEN)
    async with working(worker_for(stage, model, tools, name="first")):
        run_id = await stage.say(session, "go")
        await until(lambda: bool(stage.payloads(session, ToolCalled)))
    assert stage.run(run_id).status != RunStatus.RUNNING or not tools.started
    async with working(worker_for(stage, model, tools, name="second")):
        await tell(stage, session, ControlReturned(by="user"))
        assert (await stage.until_finished(run_id)).status == "completed"
    assert [started for started, _ in tools.started] == ["look"]


async def test_a_note_without_a_run_is_read_by_the_next_one() -> None:
    stage, model = Stage(), ScriptedModel(SAID, SAID)
    session = await stage.open_session()
    async with working(worker_for(stage, model, box())):
        await stage.until_finished(await stage.say(session, "one"))
        for payload in (TAKEN, ControlReturned(by="user", note=NOTE)):
            await tell(stage, session, payload)
        await stage.until_finished(await stage.say(session, "two"))
    assert [turn.text.endswith(NOTE) for turn in model.requests[-1].turns if isinstance(turn, NoteTurn)][-1:] == [True]
