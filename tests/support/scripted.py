"""A model that says what it is told to, and tools that remember how they were called."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from backend_api.domain.agent.catalogue import ChosenModel
from backend_api.domain.agent.model import ChatModel, ModelInfo, ModelRequest, Part, UnknownModelError
from backend_api.domain.agent.tools import CallContext, OnOutput, Tool, ToolOutcome

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
    """A catalogue of one model."""

    chat: ChatModel
    info: ModelInfo = SCRIPTED

    def models(self) -> Sequence[ModelInfo]:
        return [self.info]

    def default(self) -> ModelInfo:
        return self.info

    def choose(self, model_id: str | None) -> ChosenModel:
        if model_id not in (None, self.info.id):
            raise UnknownModelError(f"There is no model {model_id}.", field="model")
        return ChosenModel(info=self.info, chat=self.chat)


Handler = Callable[[CallContext, dict[str, Any], OnOutput], Awaitable[ToolOutcome]]


class HandlerBox:
    """Tools given as functions; remembers the calls in the order they started."""

    def __init__(self) -> None:
        self._tools: dict[str, tuple[Tool, Handler]] = {}
        self.started: list[tuple[str, dict[str, Any]]] = []
        self.cancelled: list[str] = []

    def add(self, name: str, handler: Handler, *, read_only: bool = False, deadline_ms: int = 60_000) -> None:
        tool = Tool(
            name=name,
            description=name,
            parameters={"type": "object"},
            phrase=f"{name} {{what}}",
            read_only=read_only,
            deadline_ms=deadline_ms,
        )
        self._tools[name] = (tool, handler)

    def tools(self) -> Sequence[Tool]:
        return [tool for tool, _ in self._tools.values()]

    async def call(
        self, context: CallContext, name: str, arguments: dict[str, Any], on_output: OnOutput
    ) -> ToolOutcome:
        self.started.append((name, arguments))
        try:
            return await self._tools[name][1](context, arguments, on_output)
        except asyncio.CancelledError:
            self.cancelled.append(name)
            raise
