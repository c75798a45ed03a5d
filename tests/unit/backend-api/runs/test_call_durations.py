"""How long a call took is its own time: what it runs in is awaited apart."""

from __future__ import annotations

import asyncio
from typing import Any

from backend_api.agent.events import ToolFinished
from backend_api.agent.model import FinishPart, TextPart, ToolCallPart, ToolRequest
from backend_api.agent.tool import Done, ToolSpec
from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.sandboxes.tools import SandboxToolSource
from support.memory.sandboxes import MemorySandboxes
from support.scripted import ScriptedModel
from support.stage import Stage, worker_for, working

START_S = 3.0
TOOL_S = 0.1
WRITE = ToolSpec(name="write", description="", parameters={}, phrase="")
CALL = [ToolCallPart(ToolRequest(call_id="x", name="write", arguments={})), FinishPart("tool_calls")]
SAID = [TextPart("Well."), FinishPart("stop")]


class Slow(MemorySandboxes):
    async def ensure(self, session_id: str, user_id: str, *, queue_s: float | None = None) -> Sandbox:
        await asyncio.sleep(START_S)
        return await super().ensure(session_id, user_id)


class Works:
    async def call(self, *_: Any) -> Done:
        await asyncio.sleep(TOOL_S)
        return Done(success=True, output="done")


async def test_the_start_of_the_computer_is_no_time_of_the_call() -> None:
    stage = Stage()
    async with working(worker_for(stage, ScriptedModel(CALL, SAID), SandboxToolSource([WRITE], Slow(), Works()))):
        session = await stage.open_session()
        await stage.until_finished(await stage.say(session, "go"))
    (result,) = stage.payloads(session, ToolFinished)
    assert TOOL_S * 1000 <= result.duration_ms < START_S * 1000
