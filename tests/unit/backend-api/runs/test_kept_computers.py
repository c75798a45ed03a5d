"""A run keeps the computer it has called for while it is at work: its model may think for longer than a computer may
be unused."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from backend_api.agent.capabilities.approval import approval
from backend_api.agent.model import FinishPart, TextPart, ToolCallPart, ToolRequest
from backend_api.agent.tool import Done
from backend_api.conversations.domain.entity import RunStatus
from backend_api.kit.ids import SessionId
from backend_api.sandboxes.domain.errors import SandboxUnavailableError
from support.scripted import HandlerBox, ScriptedModel
from support.stage import Stage, until, worker_for, working
from support.tables import having

SAID = [TextPart("Well."), FinishPart("stop")]


def call(name: str) -> list[Any]:
    return [ToolCallPart(ToolRequest(call_id="x", name=name, arguments={})), FinishPart("tool_calls")]


class Kept:
    """Counts how often a session's computer was told to be in use; every second time that fails."""

    def __init__(self) -> None:
        self.times: list[SessionId] = []
        self.box = HandlerBox()

        async def run(*_: Any) -> Done:
            return Done(success=True, output="done")

        self.box.add("shell", run, needs_sandbox=True)
        self.box.add("think", run)

    async def keep(self, session_id: SessionId) -> None:
        self.times.append(session_id)
        if len(self.times) % 2:
            raise SandboxUnavailableError("away")

    def further(self, times: int) -> Callable[[], Awaitable[None]]:
        """Think until it was told so often more."""

        async def think() -> None:
            wanted = len(self.times) + times
            await until(lambda: len(self.times) >= wanted)

        return think


async def is_let_go(kept: Kept) -> bool:
    """Whether it is told no more, soon: what was under way when the run ended comes to its end."""
    for _ in range(20):
        times = len(kept.times)
        await asyncio.sleep(0.1)
        if len(kept.times) == times:
            return True
    return False


async def test_it_is_kept_between_two_calls_and_let_go_with_the_end_of_the_run() -> None:
    stage, kept = Stage(), Kept()
    model = ScriptedModel(call("shell"), [kept.further(5), *SAID])
    async with working(worker_for(stage, model, kept.box, keep_sandbox=kept.keep)):
        session = await stage.open_session(title="named")
        assert (await stage.until_finished(await stage.say(session, "go"))).status == "completed"
        assert set(kept.times) == {session}
        assert await is_let_go(kept)


async def test_it_is_let_go_while_the_run_waits_for_a_person() -> None:
    stage, kept = Stage(), Kept()
    model = ScriptedModel(call("shell"), [kept.further(2), *call("think")], SAID)
    table = having(approval(expires_s=300.0))
    async with working(worker_for(stage, model, kept.box, keep_sandbox=kept.keep, table=table)):
        session = await stage.open_session(asked_tools=["think"])
        run_id = await stage.say(session, "go")
        await until(lambda: stage.run(run_id).status == RunStatus.WAITING)
        await asyncio.sleep(0.05)
        assert await is_let_go(kept)


async def test_a_run_that_called_for_none_keeps_none() -> None:
    stage, kept = Stage(), Kept()

    async def think() -> None:
        await asyncio.sleep(0.1)

    model = ScriptedModel(call("think"), [think, *SAID])
    async with working(worker_for(stage, model, kept.box, keep_sandbox=kept.keep)):
        session = await stage.open_session(title="named")
        await stage.until_finished(await stage.say(session, "go"))
    assert kept.times == []
