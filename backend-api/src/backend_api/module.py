"""What a bounded context is to the gateway: one value, which is a line in the list of modules and nothing else."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from inspect import Parameter, signature
from typing import Any, TypeVar, cast

from beanie import Document
from fastapi import APIRouter
from pydantic_settings import BaseSettings
from starlette.types import ASGIApp

from backend_api.agent.capability import Capability, ToolSource
from backend_api.agent.tool import Tool

T = TypeVar("T")
Task = Callable[[], Coroutine[None, None, None]]
"""Work beside the requests, that goes on until it is cancelled."""
Middleware = Callable[..., ASGIApp]
"""Made of the application around which it stands, and of `options`, those of the edge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What an open module gives: `ports`, by which its own routes and the modules after it know it, the `tools` of
    agents, their `capabilities`, `tasks` by name, which run in every gateway and worker, `gateway_tasks`, which run in
    gateways alone, and `closings`, called as a gateway begins to end."""

    ports: Mapping[str, object] = field(default_factory=dict[str, object])
    tools: Sequence[ToolSource] = ()
    capabilities: Sequence[Capability] = ()
    tasks: Mapping[str, Task] = field(default_factory=dict[str, Task])
    gateway_tasks: Mapping[str, Task] = field(default_factory=dict[str, Task])
    closings: Sequence[Callable[[], None]] = ()

    def port(self, name: str, default: T) -> T:
        """The port of this name, or the default where no module has it: what the gateway itself would like to know of
        a feature that it may be without."""
        return cast("T", self.ports.get(name, default))

    def required(self, name: str, kind: type[T]) -> T:
        """The port of this name, which is of this kind. Raises `UnknownPortError`."""
        return _required(self.ports, name, kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What was made of settings before anything is open: `ports` for what is opened later, and `secrets`, which must
    not be read in anything that is kept."""

    ports: Mapping[str, object] = field(default_factory=dict[str, object])
    secrets: Sequence[str] = ()

    def port(self, name: str, default: T) -> T:
        """As that of `Parts`."""
        return cast("T", self.ports.get(name, default))

    def required(self, name: str, kind: type[T]) -> T:
        """As that of `Parts`."""
        return _required(self.ports, name, kind)


def _required(ports: Mapping[str, object], name: str, kind: type[T]) -> T:
    del kind
    if name not in ports:
        raise UnknownPortError(f"No module has a port {name}.")
    return cast("T", ports[name])


def _nothing_planned() -> Planned:
    return Planned()


class NoSettings(BaseSettings):
    """Of a module that has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A bounded context. What is needed before anything is open stands here: the `settings` it reads from the
    environment, the `documents` it stores, its `routes`, what the API document says of the tag of its name
    (`description`) and of others (`tags`), the `middleware` around all routes, and the `tools` that may be named in
    presets and kinds of agents. `is_busy` are routes that are matched before those of others, as they are called most.

    `plan` looks at its settings, and at what they name, so that a start with wrong ones is refused before anything is
    opened: it raises `ValueError`. `open` makes the rest. Both are called with keyword arguments: their parameters name
    the ports that they stand on, those of the gateway and those of modules before it in the list, and `settings` are
    its own. A parameter with a default is a port that may be missing.
    """

    name: str
    description: str
    settings: type[BaseSettings] = NoSettings
    documents: Sequence[type[Document]] = ()
    routes: Sequence[APIRouter] = ()
    is_busy: bool = False
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    middleware: Sequence[Middleware] = ()
    tools: Sequence[Tool] = ()
    plan: Callable[..., Planned] = _nothing_planned
    open: Callable[..., AbstractAsyncContextManager[Parts]]


class UnknownPortError(Exception):
    """A module names a port that no module before it has."""


def plan_modules(
    modules: Sequence[Module], settings: Mapping[str, BaseSettings], ports: Mapping[str, object]
) -> Planned:
    """What all of them make of their settings, in their order. Raises `ValueError` and `UnknownPortError`."""
    known: dict[str, object] = {**ports}
    secrets: list[str] = []
    for module in modules:
        planned = module.plan(**_arguments(module, module.plan, known | {"settings": settings[module.name]}))
        known |= planned.ports
        secrets += planned.secrets
    return Planned(ports={name: port for name, port in known.items() if name not in ports}, secrets=secrets)


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
    gateway_tasks: dict[str, Task] = {}
    closings: list[Callable[[], None]] = []
    async with AsyncExitStack() as stack:
        for module in modules:
            wanted = _arguments(module, module.open, known | {"settings": settings[module.name]})
            parts = await stack.enter_async_context(module.open(**wanted))
            known |= parts.ports
            tools += parts.tools
            capabilities += parts.capabilities
            tasks |= parts.tasks
            gateway_tasks |= parts.gateway_tasks
            closings += parts.closings
        yield Parts(
            ports=known,
            tools=tools,
            capabilities=capabilities,
            tasks=tasks,
            gateway_tasks=gateway_tasks,
            closings=closings,
        )


def _arguments(module: Module, made_by: Callable[..., object], known: Mapping[str, object]) -> dict[str, Any]:
    wanted = signature(made_by).parameters
    if missing := [name for name, one in wanted.items() if name not in known and one.default is Parameter.empty]:
        raise UnknownPortError(f"The module {module.name} stands on {', '.join(missing)}, which none before it has.")
    return {name: known[name] for name in wanted if name in known}
