"""A call that waits for its computer has not begun: nobody is told that it may have happened."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest

from backend_api.agent.events import ToolFinished
from backend_api.agent.model import FinishPart, TextPart, ToolCallPart, ToolRequest, ToolTurn
from backend_api.agent.tool import Done, ToolSpec
from backend_api.sandboxes.domain.entity import Sandbox, Scope
from backend_api.sandboxes.domain.errors import SandboxLimitError, SandboxUnavailableError
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from backend_api.sandboxes.tool_api.sandbox_tools import ToolApiSandboxTools
from backend_api.sandboxes.tools import SandboxToolSource
from contracts.sandboxes import EndpointToken
from support.memory.sandboxes import MemorySandboxes
from support.scripted import ScriptedModel
from support.stage import Stage, worker_for, working

WRITE = ToolSpec(name="write", description="", parameters={}, phrase="")
CALL = [ToolCallPart(ToolRequest(call_id="x", name="write", arguments={})), FinishPart("tool_calls")]
SAID = [TextPart("Well."), FinishPart("stop")]


class Sandboxes(MemorySandboxes):
    """They fail, or never come."""

    def __init__(self, fault: Exception | None = None) -> None:
        super().__init__()
        self.refusal = fault
        self.asked = asyncio.Event()

    async def ensure(self, session_id: str, user_id: str, *, queue_s: float | None = None) -> Sandbox:
        self.asked.set()
        if self.refusal is not None:
            raise self.refusal
        return await asyncio.get_running_loop().create_future()


class Unused:
    """No call ever comes here, or the endpoint is closed."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.fault = fault

    async def call(self, *_: Any) -> Done:
        assert self.fault is not None
        raise self.fault


@pytest.mark.parametrize(
    "fault",
    [
        SandboxLimitError("You have as many computers as you may.", retry_after_s=60),
        SandboxUnavailableError("The engine is full."),
    ],
)
async def test_a_computer_that_cannot_be_had_never_ran_the_call(fault: SandboxUnavailableError) -> None:
    stage, model = Stage(), ScriptedModel(CALL, SAID)
    async with working(worker_for(stage, model, SandboxToolSource([WRITE], Sandboxes(fault), Unused()))):
        session = await stage.open_session()
        finished = await stage.until_finished(await stage.say(session, "go"))
        await stage.until_finished(await stage.say(session, "and now?"))
    assert (finished.status, finished.reason) == ("failed", fault.detail)
    (result,) = stage.payloads(session, ToolFinished)
    assert result.preview == f"Not begun. Not finished: {fault.detail}"
    (told,) = [turn for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)]
    assert told.output == result.preview


async def test_a_closed_endpoint_never_ran_the_call() -> None:
    stage = Stage()
    box = SandboxToolSource([WRITE], MemorySandboxes(), Unused(SandboxUnavailableError("Gone.")), rebuilt_within_s=0)
    async with working(worker_for(stage, ScriptedModel(CALL, SAID), box)):
        session = await stage.open_session()
        await stage.until_finished(await stage.say(session, "go"))
    assert stage.payloads(session, ToolFinished)[0].preview == "Not begun. Not finished: Gone."


async def test_a_call_stopped_before_its_computer_came_never_ran() -> None:
    stage, sandboxes = Stage(), Sandboxes()
    async with working(worker_for(stage, ScriptedModel(CALL, SAID), SandboxToolSource([WRITE], sandboxes, Unused()))):
        session = await stage.open_session()
        run_id = await stage.say(session, "go")
        await asyncio.wait_for(sandboxes.asked.wait(), 5)
        await stage.stop(session)
        await stage.until_finished(run_id)
    (result,) = stage.payloads(session, ToolFinished)
    assert (result.preview.startswith("Not begun."), result.has_begun) == (True, False)


async def test_a_call_whose_computer_did_not_come_in_time_never_ran() -> None:
    stage = Stage()
    hasty = ToolSpec(name="write", description="", parameters={}, phrase="", deadline_ms=-2_950)
    box = SandboxToolSource([hasty], Sandboxes(), Unused())
    async with working(worker_for(stage, ScriptedModel(CALL, SAID), box)):
        session = await stage.open_session()
        finished = await stage.until_finished(await stage.say(session, "go"))
    assert finished.status == "completed"
    assert stage.payloads(session, ToolFinished)[0].preview.startswith("Nothing was run:")


class WaitingTokens:
    """They never come."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def token(self, sandbox: Sandbox, scopes: Iterable[Scope]) -> EndpointToken:
        del sandbox, scopes
        self.asked.set()
        return await asyncio.get_running_loop().create_future()

    def forget(self, sandbox: Sandbox) -> None:
        raise AssertionError(sandbox)


async def test_a_call_stopped_before_its_token_came_never_ran() -> None:
    stage, tokens = Stage(), WaitingTokens()
    async with Endpoints(tokens) as endpoints:
        box = SandboxToolSource([WRITE], MemorySandboxes(), ToolApiSandboxTools(endpoints))
        async with working(worker_for(stage, ScriptedModel(CALL, SAID), box)):
            session = await stage.open_session()
            run_id = await stage.say(session, "go")
            await asyncio.wait_for(tokens.asked.wait(), 5)
            await stage.stop(session)
            await stage.until_finished(run_id)
    (result,) = stage.payloads(session, ToolFinished)
    assert (result.preview.startswith("Not begun."), result.has_begun) == (True, False)
