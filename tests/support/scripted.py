"""A model that says what it is told to, and tools that remember how they were called."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from backend_api.agent.capability import Setup, ToolSource
from backend_api.agent.catalogue import ResolvedModel, Role
from backend_api.agent.events import Todo
from backend_api.agent.model import ChatModel, ModelInfo, ModelRequest, Part, UnknownModelError
from backend_api.agent.tool import Done, Tool, ToolCall, ToolSpec

Script = Sequence[Part | BaseException | Callable[[], Awaitable[Any]]]


class ScriptedModel:
    """Answers with one script a call: parts are yielded, errors raised, functions awaited (to hold or to look).

    After the last script the last one is repeated.
    """

    def __init__(self, *scripts: Script) -> None:
        self._scripts = list(scripts)
        self.requests: list[ModelRequest] = []

    def go_on_with(self, *scripts: Script) -> None:
        """What it answers from the next call on."""
        self._scripts[len(self.requests) :] = scripts

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        script = self._scripts[min(len(self.requests), len(self._scripts) - 1)]
        self.requests.append(request)
        for item in script:
            if isinstance(item, BaseException):
                raise item
            if callable(item):
                await item()
            else:
                yield item


SCRIPTED = ModelInfo(id="scripted", label="Scripted", provider="test")


@dataclass(kw_only=True)
class OneModel:
    """A catalogue of one model, and of those of `roles`."""

    chat: ChatModel
    info: ModelInfo = SCRIPTED
    roles: Mapping[Role, ResolvedModel] = field(default_factory=dict[Role, ResolvedModel])

    def models(self) -> Sequence[ModelInfo]:
        return [self.info]

    def default(self) -> ModelInfo:
        return self.info

    def choose(self, model_id: str | None) -> ResolvedModel:
        if model_id not in (None, self.info.id):
            raise UnknownModelError(f"There is no model {model_id}.", field="model")
        return ResolvedModel(info=self.info, chat=self.chat)

    def role(self, role: Role) -> ResolvedModel | None:
        return self.roles.get(role)


OnOutput = Callable[[str], Awaitable[None]]
Handler = Callable[[ToolCall, dict[str, Any], OnOutput], Awaitable[Done]]
ANY = Setup(now=lambda: datetime(2026, 1, 1, tzinfo=UTC))


async def call_tool(
    source: ToolSource,
    name: str,
    arguments: dict[str, Any],
    *,
    agent_id: str | None = None,
    todos: Callable[[], Sequence[Todo]] = tuple,
) -> Done:
    """Call one tool of a source as a run of the session `s` of user `u` does."""
    tool = next(tool for tool in await source.tools(ANY) if tool.spec.name == name)
    call = ToolCall(
        session_id="s",
        user_id="u",
        run_id="r",
        call_id="c",
        name=name,
        arguments=arguments,
        agent_id=agent_id,
        todos=todos,
    )
    done = await tool.run_call(call)
    assert isinstance(done, Done), done
    return done


class HandlerBox:
    """`ToolSource` of tools given as functions; remembers the calls in the order they started."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}
        self.started: list[tuple[str, dict[str, Any]]] = []
        self.cancelled: list[str] = []

    def add(
        self,
        name: str,
        handler: Handler,
        *,
        read_only: bool = False,
        waits: bool = False,
        needs_sandbox: bool = False,
        deadline_ms: int = 60_000,
    ) -> None:
        async def run(call: ToolCall) -> Done:
            self.started.append((name, call.arguments))
            try:
                return await handler(call, call.arguments, call.on_output)
            except asyncio.CancelledError:
                self.cancelled.append(name)
                raise

        spec = ToolSpec(
            name=name,
            description=name,
            parameters={"type": "object"},
            phrase=f"{name} {{what}}",
            effect="reads" if read_only else "writes",
            waits=waits,
            needs_sandbox=needs_sandbox,
            deadline_ms=deadline_ms,
        )
        self._tools[name] = Tool(spec=spec, run_call=run)

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        del setup
        return list(self._tools.values())
