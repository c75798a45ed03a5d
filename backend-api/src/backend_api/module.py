"""What a bounded context is to the gateway: one value, which is a line in the list of modules and nothing else."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from inspect import Parameter, signature
from typing import Any

from beanie import Document
from fastapi import APIRouter
from pydantic_settings import BaseSettings

from backend_api.agent.capability import Capability, ToolSource
from backend_api.agent.tool import Tool

Task = Callable[[], Coroutine[None, None, None]]
"""Work beside the requests, that goes on until it is cancelled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What an open module gives: `ports`, by which its own routes and the modules after it know it, the `tools` of
    agents, their `capabilities`, and `tasks` by name, which run in every gateway and worker."""

    ports: Mapping[str, object] = field(default_factory=dict[str, object])
    tools: Sequence[ToolSource] = ()
    capabilities: Sequence[Capability] = ()
    tasks: Mapping[str, Task] = field(default_factory=dict[str, Task])


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A bounded context. What is needed before anything is open stands here: the `settings` it reads from the
    environment, the `documents` it stores, its `routes` and what is said of them in the API document, and the `tools`
    that may be named in presets and kinds of agents.

    `open` makes the rest. It is called with keyword arguments: its parameters name the ports that it stands on, those
    of the gateway and those of modules before it in the list, and `settings` are its own. A parameter with a default is
    a port that it can do without.
    """

    name: str
    description: str
    settings: type[BaseSettings]
    documents: Sequence[type[Document]] = ()
    routes: Sequence[APIRouter] = ()
    tools: Sequence[Tool] = ()
    open: Callable[..., AbstractAsyncContextManager[Parts]]


class UnknownPortError(Exception):
    """A module names a port that no module before it has."""


@asynccontextmanager
async def open_modules(
    modules: Sequence[Module], settings: Mapping[str, BaseSettings], ports: Mapping[str, object]
) -> AsyncGenerator[Parts]:
    """Open modules in their order, and close them in the reverse one. `settings` are by the name of the module; the
    ports of all, with those given, are the answer's. Raises `UnknownPortError`."""
    known: dict[str, object] = {**ports}
    tools: list[ToolSource] = []
    capabilities: list[Capability] = []
    tasks: dict[str, Task] = {}
    async with AsyncExitStack() as stack:
        for module in modules:
            wanted = _arguments(module, known | {"settings": settings[module.name]})
            parts = await stack.enter_async_context(module.open(**wanted))
            known |= parts.ports
            tools += parts.tools
            capabilities += parts.capabilities
            tasks |= parts.tasks
        yield Parts(ports=known, tools=tools, capabilities=capabilities, tasks=tasks)


def _arguments(module: Module, known: Mapping[str, object]) -> dict[str, Any]:
    wanted = signature(module.open).parameters.values()
    if missing := [one.name for one in wanted if one.name not in known and one.default is Parameter.empty]:
        raise UnknownPortError(f"The module {module.name} stands on {', '.join(missing)}, which none before it has.")
    return {one.name: known[one.name] for one in wanted if one.name in known}
