"""A lead and its teammates, played in memory: what their models say by how often each was asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import Any, cast

from backend_api.agent.capability import Setup
from backend_api.agent.model import ModelRequest, NoteTurn, Part, TextPart
from backend_api.agent.tool import Tool
from backend_api.agent.tools.tasks import task_tools
from backend_api.agent.tools.team import TeamTools
from support.acting import CALLS, STOP, USED, answers, call
from support.scripted import HandlerBox

LEAD = "lead"


class TeamBox:
    """`ToolSource` of a team's tools, the session's tasks, and those of a box."""

    def __init__(self, box: HandlerBox | None = None, most: int = 5) -> None:
        self._box = box or HandlerBox()
        self._team = TeamTools(most)

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        own = await self._box.tools(setup)
        return [*await self._team.tools(setup), *task_tools(), *own]


class Played:
    """Says what its agent's script has for the number of answers it gave so far; then it is done."""

    def __init__(self, **scripts: Sequence[Sequence[Any]]) -> None:
        self._scripts: Mapping[str, Sequence[Sequence[Any]]] = scripts
        self.requests: list[tuple[str, ModelRequest]] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        name = who(request)
        self.requests.append((name, request))
        script, number = self._scripts.get(name, ()), answers(request)
        for item in script[number] if number < len(script) else says("Nothing more."):
            if callable(item):
                if (made := cast("Callable[[], Awaitable[None] | None]", item)()) is not None:
                    await made
            elif isinstance(item, BaseException):
                raise item
            else:
                yield item

    def of(self, name: str) -> list[ModelRequest]:
        return [request for agent, request in self.requests if agent == name]

    def notes(self, name: str) -> str:
        """What it was told beside what the person said."""
        return "\n".join(turn.text for turn in self.of(name)[-1].turns if isinstance(turn, NoteTurn))


def who(request: ModelRequest) -> str:
    """Told by the prompt it began with, which is `name: ...`."""
    if any(tool.name == "submit_plan" for tool in request.tools):
        return getattr(request.turns[0], "text", "").partition(":")[0]
    return LEAD


def does(name: str, /, **arguments: Any) -> list[Any]:
    return [USED, call(name, **arguments), CALLS]


def says(text: str) -> list[Any]:
    return [USED, TextPart(text), STOP]


def spawns(*names: str) -> list[Any]:
    return [USED, *(call("spawn_teammate", name=name, role="helps", prompt=f"{name}: go") for name in names), CALLS]
