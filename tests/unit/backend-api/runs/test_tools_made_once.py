"""Tools are made once for all agents, and each call is its own agent's: many sessions at once, agents below each."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import AsyncGenerator, Sequence

from backend_api.agent.capability import Setup
from backend_api.agent.model import ModelRequest, Part, TextPart, ToolTurn, UserTurn
from backend_api.agent.tool import Tool
from backend_api.agent.tools.task import TaskTool
from backend_api.agent.tools.tasks import task_tools
from backend_api.agent.tools.todos import todo_tools
from support.acting import CALLS, STOP, answers, call, task_of
from support.scripted import HandlerBox
from support.stage import Stage, worker_for, working

SESSIONS, BELOW = 8, 3


class ToolsMadeOnce(HandlerBox):
    def __init__(self) -> None:
        super().__init__()
        self._made = [*todo_tools(), *task_tools()]
        self._task = TaskTool()

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        return [*self._made, *await self._task.tools(setup), *await super().tools(setup)]


class Writing:
    """`ChatModel` of agents that note who they are, and then look at what is noted."""

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []
        self._random = random.Random(5)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        self.requests.append(request)
        who = agent_of(request)
        noted = [call("todo_add", content=f"{who} todo"), call("task_create", subject=f"{who} task"), CALLS]
        looks = [call("todo_list"), call("task_list"), CALLS]
        hands_on = [
            call("task", description="d", prompt=f"{who}/{number}", agent_type="general") for number in range(BELOW)
        ]
        steps = [noted, [*hands_on, CALLS], looks] if task_of(request) is None else [noted, looks]
        turn = answers(request)
        for part in steps[turn] if turn < len(steps) else [TextPart("Done."), STOP]:
            await asyncio.sleep(self._random.random() * 0.005)
            yield part


def agent_of(request: ModelRequest) -> str:
    return next(turn.text for turn in request.turns if isinstance(turn, UserTurn))


async def test_no_agent_sees_what_another_notes_and_no_session_what_is_of_another() -> None:
    stage, model = Stage(), Writing()
    async with working(worker_for(stage, model, ToolsMadeOnce())):

        async def talk(name: str) -> None:
            await stage.until_finished(await stage.say(await stage.open_session(title="named"), name))

        await asyncio.gather(*(talk(f"session{number}") for number in range(SESSIONS)))
    lists = 0
    for request in model.requests:
        who = agent_of(request)
        of_session = {f"{who} task", *(f"{who}/{number} task" for number in range(BELOW))}
        for turn in request.turns:
            if isinstance(turn, ToolTurn) and turn.name == "todo_list":
                lists += 1
                assert turn.output.splitlines()[1:] == [f"1. [pending] {who} todo"]
            elif isinstance(turn, ToolTurn) and turn.name == "task_list" and task_of(request) is None:
                assert set(re.findall(r"\] (.*)", turn.output)) == of_session
    assert lists >= SESSIONS * (1 + BELOW)
