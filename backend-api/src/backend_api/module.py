"""A bounded context as the gateway sees it: one value, listed in `main/modules.py`."""

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
"""Work beside the requests that goes on until it is cancelled."""
Middleware = Callable[..., ASGIApp]
"""Builds the middleware from the application it wraps, and `options`, those of the edge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts of an open module: `ports` for its own routes and later modules, the `tools` of agents, their
    `capabilities`, `tasks` by name, which run in every gateway and worker, `gateway_tasks`, which only run in gateways,
    and `closings`, called when a gateway begins to end."""

    ports: Mapping[str, object] = field(default_factory=dict[str, object])
    tools: Sequence[ToolSource] = ()
    capabilities: Sequence[Capability] = ()
    tasks: Mapping[str, Task] = field(default_factory=dict[str, Task])
    gateway_tasks: Mapping[str, Task] = field(default_factory=dict[str, Task])
    closings: Sequence[Callable[[], None]] = ()

    def port(self, name: str, default: T) -> T:
        """The port of this name, or the default if no module has it: for a feature that the gateway may lack."""
        return cast("T", self.ports.get(name, default))

    def required(self, name: str, kind: type[T]) -> T:
        """The port of this name, typed as `kind`, which is not checked. Raises `UnknownPortError`."""
        return _required(self.ports, name, kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """The parts made from settings before anything is open: `ports` for modules opened later, and `secrets`, which must
    not appear in stored data."""

    ports: Mapping[str, object] = field(default_factory=dict[str, object])
    secrets: Sequence[str] = ()

    def port(self, name: str, default: T) -> T:
        """Like `Parts.port`."""
        return cast("T", self.ports.get(name, default))

    def required(self, name: str, kind: type[T]) -> T:
        """Like `Parts.required`."""
        return _required(self.ports, name, kind)


def _required(ports: Mapping[str, object], name: str, kind: type[T]) -> T:
    del kind
    if name not in ports:
        raise UnknownPortError(f"No module has a port {name}.")
    return cast("T", ports[name])


def _nothing_planned() -> Planned:
    return Planned()


class NoSettings(BaseSettings):
    """The settings of a module that has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A bounded context. Its fields are what is needed before anything is open: the `settings` it reads from the
    environment, the `documents` it stores, its `routes`, the API document's text for the tag of its name
    (`description`) and for other tags (`tags`), the `middleware` around all routes, and the `tools` that presets and
    kinds of agents may name. `is_busy` routes are matched before those of others, as they are called most.

    `plan` checks its settings, and the files they name, so that wrong ones prevent the start before anything is opened:
    it raises `ValueError`. `open` makes the rest. Both are called with keyword arguments: their parameters name the
    ports they need, of the gateway and of earlier modules in the list, and `settings` are its own. A parameter with a
    default is an optional port.
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
    """A module needs a port that no module before it has."""


class TooLateError(Exception):
    """A module that is opened after the agent has tools or capabilities, which the agent would lack."""


def plan_modules(
    modules: Sequence[Module], settings: Mapping[str, BaseSettings], ports: Mapping[str, object]
) -> Planned:
    """Plans all modules in order; `module_tools` are the tools that modules declare. Raises `ValueError` and
    `UnknownPortError`."""
    known: dict[str, object] = {**ports, "module_tools": [tool for module in modules for tool in module.tools]}
    secrets: list[str] = []
    for module in modules:
        planned = module.plan(**_arguments(module, module.plan, known | {"settings": settings[module.name]}))
        known |= planned.ports
        secrets += planned.secrets
    made = {name: port for name, port in known.items() if name not in (*ports, "module_tools")}
    return Planned(ports=made, secrets=secrets)


@asynccontextmanager
async def open_modules(
    modules: Sequence[Module], settings: Mapping[str, BaseSettings], ports: Mapping[str, object]
) -> AsyncGenerator[Parts]:
    """Opens modules in order, and closes them in reverse. `settings` are by module name; the result has the ports of
    all modules together with those given. `tool_sources` and `module_capabilities` are those of earlier modules. Raises
    `UnknownPortError` and `TooLateError`."""
    known: dict[str, object] = {**ports}
    tools: list[ToolSource] = []
    capabilities: list[Capability] = []
    tasks: dict[str, Task] = {}
    gateway_tasks: dict[str, Task] = {}
    closings: list[Callable[[], None]] = []
    taken_by = ""
    async with AsyncExitStack() as stack:
        for module in modules:
            before = {"tool_sources": (*tools,), "module_capabilities": (*capabilities,)}
            wanted = _arguments(module, module.open, known | before | {"settings": settings[module.name]})
            parts = await stack.enter_async_context(module.open(**wanted))
            if taken_by and (parts.tools or parts.capabilities):
                raise TooLateError(
                    f"List the module {module.name} before {taken_by}, which takes tools and capabilities."
                )
            taken_by = taken_by or (module.name if "tool_sources" in wanted else "")
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
