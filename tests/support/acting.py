"""Agents that work for another one, played in memory: what their models say, and workers that die."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, cast

from backend_api.agent.capability import Setup, ToolSource
from backend_api.agent.events import Event, ToolCalled, Usage
from backend_api.agent.model import (
    AssistantTurn,
    FinishPart,
    ModelRequest,
    Part,
    TextPart,
    ToolCallPart,
    ToolRequest,
    ToolTurn,
    Turn,
    UsagePart,
)
from backend_api.agent.new_events import NewEvent
from backend_api.agent.tool import Done, Tool, ToolCall
from backend_api.agent.tools.task import TaskTool
from backend_api.conversations.domain.entity import InboxMessage, Lease, RunId
from backend_api.kit.ids import SessionId
from support.memory.run_ledger import MemoryRunLedger
from support.memory.store import MemoryStore
from support.scripted import HandlerBox, OnOutput, Script, ScriptedModel
from support.stage import Stage, worker_for, working

STOP, CALLS = FinishPart("stop"), FinishPart("tool_calls")
USED = UsagePart(Usage(input=10, output=1))


class Tools:
    """`ToolSource` of `task` beside those of a box."""

    def __init__(self, box: HandlerBox) -> None:
        self._box = box

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        return [*await TaskTool().tools(setup), *await self._box.tools(setup)]


def call(name: str, /, **arguments: Any) -> ToolCallPart:
    return ToolCallPart(ToolRequest(call_id="x", name=name, arguments=arguments))


def task_of(request: ModelRequest) -> str | None:
    """The task of the agent that asks; None for the main one."""
    # Told by what it may do: what its prompt says is another matter.
    is_main = any(tool.name == "task" for tool in request.tools)
    return None if is_main else getattr(request.turns[0], "text", "")


def answers(request: ModelRequest) -> int:
    return sum(isinstance(turn, AssistantTurn) for turn in request.turns)


class Acting:
    """A model that says what its conversation asks for, whoever asks and however often: `main` and `child` answer the
    parts of an answer by how many there were before."""

    def __init__(
        self,
        main: Callable[[int], list[Any]],
        child: Callable[[str, int], list[Any]],
    ) -> None:
        self._main, self._child = main, child
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        self.requests.append(request)
        task, number = task_of(request), answers(request)
        for item in self._main(number) if task is None else self._child(task, number):
            if callable(item):
                await cast("Callable[[], Awaitable[None]]", item)()
            elif isinstance(item, BaseException):
                raise item
            else:
                yield item

    def of(self, task: str | None) -> list[ModelRequest]:
        return [request for request in self.requests if task_of(request) == task]


def hand_on(*tasks: str, kind: str = "general") -> Callable[[int], list[Any]]:
    calls = [call("task", description=task, prompt=task, agent_type=kind) for task in tasks]
    return lambda number: [USED, *calls, CALLS] if number == 0 else [USED, TextPart("All done."), STOP]


def look_and_tell(task: str, number: int) -> list[Any]:
    if number < 2:
        return [USED, TextPart(f"{task}: step {number}. "), call("look", what=f"{task} {number}"), CALLS]
    return [USED, TextPart(f"{task}: found."), STOP]


def looking(read_only: bool = True, before: Callable[[], Awaitable[None]] | None = None) -> HandlerBox:
    box = HandlerBox()

    async def look(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        await on_output("looking")
        if before is not None:
            await before()
        return Done(success=True, output=f"saw {arguments['what']}")

    box.add("look", look, read_only=read_only)
    return box


def asked(model: Acting, task: str | None) -> list[list[Turn]]:
    """What the model was sent for an agent, with its calls by their order in place of their ids."""
    requests: list[list[Turn]] = []
    for request in model.of(task):
        ids: dict[str, str] = {}
        turns: list[Turn] = []
        for turn in request.turns:
            if isinstance(turn, AssistantTurn):
                ids |= {one.call_id: f"call {len(ids) + index}" for index, one in enumerate(turn.calls)}
                named = tuple(replace(one, call_id=ids[one.call_id]) for one in turn.calls)
                turns.append(replace(turn, calls=named))
            elif isinstance(turn, ToolTurn):
                turns.append(replace(turn, call_id=ids[turn.call_id]))
            else:
                turns.append(turn)
        requests.append(turns)
    return requests


class DiesAfter(MemoryRunLedger):
    """The first worker is killed right after the event of this number is stored: it hears and does nothing more."""

    def __init__(self, store: MemoryStore, number: int) -> None:
        super().__init__(store)
        self._store_, self._number = store, number
        self.has_died = asyncio.Event()

    async def renew(self, lease: Lease, *, lease_s: float) -> Sequence[InboxMessage]:
        if lease.worker == "worker_1" and self.has_died.is_set():
            await asyncio.Event().wait()
        return await super().renew(lease, lease_s=lease_s)

    async def claim(self, worker: str, *, lease_s: float, model: str, run_id: RunId | None = None) -> Lease | None:
        if worker == "worker_1" and self.has_died.is_set():
            await asyncio.Event().wait()
        return await super().claim(worker, lease_s=lease_s, model=model, run_id=run_id)

    async def record(self, lease: Lease, items: Sequence[NewEvent], *, handled: int = 0) -> list[Event]:
        if lease.worker == "worker_1" and self.has_died.is_set():
            await asyncio.Event().wait()
        events = await super().record(lease, items, handled=handled)
        if lease.worker == "worker_1" and len(self._store_.sessions[lease.run.session_id].events) >= self._number:
            self.has_died.set()
            await asyncio.Event().wait()
        return events


async def taken_over_at(cut_at: int, script: Sequence[Script], box: ToolSource) -> tuple[Stage, SessionId]:
    """A run that answers by the script, whose worker dies after that many events, and which another one ends."""
    store = MemoryStore()
    ledger = DiesAfter(store, cut_at)
    stage = Stage(store, ledger=ledger)
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, ScriptedModel(*script), box)):
        run = await stage.say(session, "go")
        async with asyncio.timeout(10):
            await ledger.has_died.wait()
        stage.lapse(run)
        left = script[len({told.turn for told in stage.payloads(session, ToolCalled)}) :]
        async with working(worker_for(stage, ScriptedModel(*left), box, name="worker_2")):
            assert (await stage.until_finished(run)).status == "completed"
    return stage, session
