"""Modules are opened in order, each on what those before it have."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import pytest
from fastapi import APIRouter
from pydantic_settings import BaseSettings

from backend_api.agent.capability import Capability, ToolSource
from backend_api.agent.tool import Tool
from backend_api.agent.tools.local import LocalTools
from backend_api.agent.tools.think import THINK
from backend_api.kit.http.ports import WebOptions
from backend_api.main.app import describe_app
from backend_api.main.modules import MODULES
from backend_api.module import Module, Parts, Planned, TooLateError, UnknownPortError, open_modules, plan_modules
from backend_api.runs.capabilities import capabilities
from support.modules import known_tools
from support.route_rules import routes_of

closed: list[str] = []


async def nothing() -> None:
    pass


class Plain(BaseSettings):
    size: int = 3


@asynccontextmanager
async def open_first(settings: Plain) -> AsyncGenerator[Parts]:
    yield Parts(ports={"first": settings.size})
    closed.append("first")


@asynccontextmanager
async def open_second(first: int, given: str) -> AsyncGenerator[Parts]:
    yield Parts(ports={"second": f"{given} {first}"})
    closed.append("second")


quiet, busy = APIRouter(), APIRouter()
quiet.get("/quiet")(nothing)
busy.get("/busy")(nothing)
FIRST = Module(name="one", description="", settings=Plain, routes=[quiet], open=open_first)
BUSY = Module(name="busy", description="", routes=[busy], is_busy=True, open=open_first)
SECOND = Module(name="two", description="", settings=Plain, open=open_second)
SETTINGS = {"one": Plain(size=7), "two": Plain()}


async def test_each_has_what_is_given_its_settings_and_the_ports_of_those_before_it() -> None:
    closed.clear()
    async with open_modules([FIRST, SECOND], SETTINGS, {"given": "at"}) as parts:
        assert parts.ports == {"given": "at", "first": 7, "second": "at 7"}
    assert closed == ["second", "first"]


async def test_tasks_and_closings_of_all_are_known_together() -> None:
    ended: list[str] = []

    def made(name: str) -> Module:
        async def task() -> None:
            ended.append(f"task of {name}")

        @asynccontextmanager
        async def open_made() -> AsyncGenerator[Parts]:
            yield Parts(tasks={name: task}, closings=[lambda: ended.append(name)])

        return Module(name=name, description="", open=open_made)

    modules = [made("one"), made("two")]
    async with open_modules(modules, {module.name: module.settings() for module in modules}, {}) as parts:
        for end in parts.closings:
            end()
        await parts.tasks["two"]()
    assert ended == ["one", "two", "task of two"]


async def test_the_last_ones_have_the_tools_and_capabilities_of_those_before_them() -> None:
    first, seen = Capability(name="of one"), list[Sequence[object]]()

    @asynccontextmanager
    async def open_one() -> AsyncGenerator[Parts]:
        yield Parts(tools=[LocalTools([])], capabilities=[first], gateway_tasks={"of one": nothing})

    @asynccontextmanager
    async def open_agent(
        tool_sources: Sequence[ToolSource], module_capabilities: Sequence[Capability]
    ) -> AsyncGenerator[Parts]:
        seen.extend([tool_sources, module_capabilities])
        yield Parts()

    modules = [
        Module(name=name, description="", open=opened) for name, opened in (("one", open_one), ("agent", open_agent))
    ]
    async with open_modules(modules, {module.name: module.settings() for module in modules}, {}) as parts:
        assert [len(one) for one in seen] == [1, 1]
        assert seen[1] == (first,)
        assert (list(parts.tasks), list(parts.gateway_tasks)) == ([], ["of one"])


async def test_a_port_that_must_be_there_is_named_where_it_is_not() -> None:
    assert Parts(ports={"first": 3}).required("first", int) == 3
    with pytest.raises(UnknownPortError, match="No module has a port second"):
        Parts(ports={"first": 3}).required("second", int)


def test_routes_of_busy_modules_are_matched_first() -> None:
    paths = [route.partition(" ")[2] for route in routes_of(describe_app(WebOptions(), [FIRST, BUSY]))]
    assert paths[:2] == ["/busy", "/quiet"]


async def test_one_that_stands_on_what_is_not_there_is_named() -> None:
    with pytest.raises(UnknownPortError, match="The module two stands on first, which none before it has"):
        async with open_modules([SECOND, FIRST], SETTINGS, {"given": "at"}):
            pass


async def test_what_it_can_be_without_is_asked_for_by_a_parameter_with_a_default() -> None:
    @asynccontextmanager
    async def open_third(first: int = 0) -> AsyncGenerator[Parts]:
        yield Parts(ports={"third": first})

    third = Module(name="three", description="", open=open_third)
    settings = {**SETTINGS, "three": third.settings()}
    async with open_modules([third], settings, {}) as alone, open_modules([FIRST, third], settings, {}) as both:
        assert (alone.port("third", -1), both.port("third", -1)) == (0, 7)
        assert alone.port("first", -1) == -1


def test_what_it_makes_of_its_settings_is_there_before_anything_is_open() -> None:
    def plan_first(settings: Plain, given: str, module_tools: Sequence[Tool]) -> Planned:
        assert [tool.spec.name for tool in module_tools] == ["think"]
        if settings.size > 7:
            raise ValueError("SIZE is too large")
        return Planned(ports={"planned": f"{given} {settings.size}"}, secrets=["of first"])

    def plan_second(planned: str) -> Planned:
        return Planned(ports={"then": planned}, secrets=["of second"])

    first = Module(name="one", description="", settings=Plain, plan=plan_first, open=open_first)
    second = Module(name="two", description="", tools=[THINK], plan=plan_second, open=open_second)
    planned = plan_modules([first, second], SETTINGS, {"given": "at"})
    assert planned == Planned(ports={"planned": "at 7", "then": "at 7"}, secrets=["of first", "of second"])
    with pytest.raises(ValueError, match="SIZE is too large"):
        plan_modules([first, second], {**SETTINGS, "one": Plain(size=8)}, {"given": "at"})


def test_a_capability_stands_behind_the_one_it_names_or_behind_all_that_tell_of_something() -> None:
    ours = [
        Capability(name="of one", after="sandbox"),
        Capability(name="of another"),
        Capability(name="last", after="?"),
    ]
    names = [one.name for one in capabilities(of_modules=ours)]
    assert names[names.index("sandbox") + 1] == "of one"
    behind = names.index("of another")
    assert names[behind - 1 : behind + 3] == ["folder instructions", "of another", "last", "denied tools"]


WITH_TOOLS = [module for module in MODULES if module.tools]


@pytest.mark.parametrize("module", WITH_TOOLS, ids=lambda module: module.name)
def test_without_it_its_tools_are_not_known_and_all_others_are(module: Module) -> None:
    left = known_tools([one for one in MODULES if one is not module])
    own = {tool.spec.name for tool in module.tools}
    assert {tool.name for tool in left} == {tool.name for tool in known_tools()} - own


async def test_tools_of_a_module_opened_after_the_agent_are_refused() -> None:
    @asynccontextmanager
    async def open_agent(tool_sources: Sequence[ToolSource]) -> AsyncGenerator[Parts]:
        yield Parts(ports={"agent": len(tool_sources)})

    @asynccontextmanager
    async def open_late() -> AsyncGenerator[Parts]:
        yield Parts(tools=[LocalTools([THINK])])

    agent = Module(name="agent", description="", open=open_agent)
    late = Module(name="late", description="", open=open_late)
    settings = {"agent": agent.settings(), "late": late.settings()}
    async with open_modules([late, agent], settings, {}) as parts:
        assert parts.ports == {"agent": 1}
    with pytest.raises(TooLateError, match="List the module late before agent"):
        async with open_modules([agent, late], settings, {}):
            pass
