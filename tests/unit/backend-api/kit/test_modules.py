"""Modules are opened in order, each on what those before it have."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from pydantic_settings import BaseSettings

from backend_api.main.agent import known_tools
from backend_api.main.modules import MODULES
from backend_api.module import Module, Parts, UnknownPortError, open_modules

closed: list[str] = []


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


FIRST = Module(name="one", description="", settings=Plain, open=open_first)
SECOND = Module(name="two", description="", settings=Plain, open=open_second)
SETTINGS = {"one": Plain(size=7), "two": Plain()}


async def test_each_has_what_is_given_its_settings_and_the_ports_of_those_before_it() -> None:
    closed.clear()
    async with open_modules([FIRST, SECOND], SETTINGS, {"given": "at"}) as parts:
        assert parts.ports == {"given": "at", "first": 7, "second": "at 7"}
    assert closed == ["second", "first"]


async def test_one_that_stands_on_what_is_not_there_is_named() -> None:
    with pytest.raises(UnknownPortError, match="The module two stands on first, which none before it has"):
        async with open_modules([SECOND, FIRST], SETTINGS, {"given": "at"}):
            pass


WITH_TOOLS = [module for module in MODULES if module.tools]


@pytest.mark.parametrize("module", WITH_TOOLS, ids=lambda module: module.name)
def test_without_it_its_tools_are_not_known_and_all_others_are(module: Module) -> None:
    left = known_tools([one for one in MODULES if one is not module])
    own = {tool.spec.name for tool in module.tools}
    assert {tool.name for tool in left} == {tool.name for tool in known_tools()} - own
