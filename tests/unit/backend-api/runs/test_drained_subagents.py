"""A worker that leaves while several agents of one run are at work: each ends its step, and none is cut."""

from __future__ import annotations

import asyncio
from typing import Any

from backend_api.agent.approvals import Decision
from backend_api.agent.capabilities.approval import approval
from backend_api.agent.events import ApprovalRequested, RunStarted, SubagentStarted, ToolCalled, ToolFinished
from backend_api.agent.model import TextPart
from backend_api.agent.tool import Done, ToolCall
from backend_api.conversations.application.answer_wait import AnswerWait
from backend_api.conversations.domain.entity import RunStatus
from support.acting import CALLS, STOP, USED, Acting, Tools, call, hand_on
from support.memory.run_waits import MemoryWaits
from support.scripted import HandlerBox, OnOutput
from support.stage import USER, Stage, until, worker_for, working
from support.tables import having


class Steps:
    """Two agents of one run, each with one call: `quick` ends once both are at work, `slow` when it is told to."""

    def __init__(self) -> None:
        self.box = HandlerBox()
        self.both, self.go_on = asyncio.Event(), asyncio.Event()
        self.box.add("quick", self._quick, read_only=True)
        self.box.add("slow", self._slow)
        self.model = Acting(hand_on("quick", "slow"), self._act)

    def _act(self, task: str, number: int) -> list[Any]:
        return [USED, call(task, what=task), CALLS] if number == 0 else [USED, TextPart(f"{task}: done."), STOP]

    async def _quick(self, context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        await self.both.wait()
        return Done(success=True, output="quick")

    async def _slow(self, context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        await on_output("begun")
        self.both.set()
        await self.go_on.wait()
        return Done(success=True, output="slow")


def ended(stage: Stage, session: Any) -> dict[str, str]:
    names = {called.call_id: called.name for called in stage.payloads(session, ToolCalled)}
    return {names[one.call_id]: one.preview for one in stage.payloads(session, ToolFinished) if one.agent_id}


async def test_an_agent_that_gets_to_its_next_step_first_cuts_no_other_one() -> None:
    stage, steps = Stage(), Steps()
    first = worker_for(stage, steps.model, Tools(steps.box))
    async with working(first) as task:
        session = await stage.open_session(title="named")
        run = await stage.say(session, "go")
        await asyncio.wait_for(steps.both.wait(), 10)
        first.drain()
        await until(lambda: "quick" in ended(stage, session))
        for _ in range(50):
            await asyncio.sleep(0)
        steps.go_on.set()
        await asyncio.wait_for(task, 10)
        assert ended(stage, session) == {"quick": "quick", "slow": "slow"}
        async with working(worker_for(stage, steps.model, Tools(steps.box), name="worker_2")):
            assert (await stage.until_finished(run)).status == "completed"
    assert sorted(name for name, _ in steps.box.started) == ["quick", "slow"]
    assert "may have happened" not in repr(stage.payloads(session, ToolFinished))
    assert len(stage.payloads(session, SubagentStarted)) == 2
    assert [started.worker for started in stage.payloads(session, RunStarted)] == ["worker_1", "worker_2"]
    tasks = [one.preview for one in stage.payloads(session, ToolFinished) if one.agent_id is None]
    assert sorted(tasks) == ["quick: done.", "slow: done."]


async def test_a_drained_run_one_of_whose_agents_asks_waits_and_goes_on_inside_each() -> None:
    stage, asks = Stage(), asyncio.Event()
    session = await stage.open_session(title="named", enable_approval=True)

    def act(task: str, number: int) -> list[Any]:
        if number == 1:
            return [USED, TextPart(f"{task}: done."), STOP]
        return [USED, *([asks.wait] if task == "write" else []), call(task, what=task), CALLS]

    async def quick(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        first.drain()
        return Done(success=True, output="quick")

    async def write(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        return Done(success=True, output="written")

    box = HandlerBox()
    box.add("quick", quick, read_only=True)
    box.add("write", write)
    model = Acting(hand_on("quick", "write"), act)
    table = having(approval(expires_s=300.0))
    first = worker_for(stage, model, Tools(box), table=table)
    async with working(first) as task:
        run = await stage.say(session, "go")
        await until(lambda: "quick" in ended(stage, session))
        for _ in range(50):
            await asyncio.sleep(0)
        asks.set()
        await asyncio.wait_for(task, 10)
    assert stage.run(run).status == RunStatus.WAITING
    (asked,) = stage.payloads(session, ApprovalRequested)
    assert ended(stage, session) == {"quick": "quick"}
    answer = AnswerWait(MemoryWaits(stage.store), stage.stream, stage.notifier)
    async with working(worker_for(stage, model, Tools(box), name="worker_2", table=table)):
        await answer(session, USER, asked.approval_id, Decision(decision="approve"))
        assert (await stage.until_finished(run)).status == "completed"
    assert sorted(name for name, _ in box.started) == ["quick", "write"]
    tasks = [one.preview for one in stage.payloads(session, ToolFinished) if one.agent_id is None]
    assert sorted(tasks) == ["quick: done.", "write: done."]
