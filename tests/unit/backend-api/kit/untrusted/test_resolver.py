"""Name servers that do not answer keep nobody waiting but whoever asked them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator

import httpx
import httpx2
import pytest

from backend_api.agent.tools.local import LocalTools
from backend_api.kit.untrusted.errors import FetchFailedError
from backend_api.kit.untrusted.guarded_client import Fetched, FetchLimits
from backend_api.kit.untrusted.resolver import AT_ONCE_OF_OWNER, SystemResolver, lookups_of, owner_of_lookups
from backend_api.kit.untrusted.rules import FetchRules
from backend_api.mcp.client.guarded_transport import GuardedTransport, Refusals
from backend_api.skills.library.downloads import FetchedSkills
from backend_api.web.fetch.page_text import PageReader
from backend_api.web.tools.web_fetch import web_fetch
from support.scripted import call_tool


class Names:
    """`silent.example` is looked up until `answer` is set."""

    def __init__(self) -> None:
        self.answer = threading.Event()
        self.asked = 0

    def __call__(self, host: str, port: int) -> list[str]:
        self.asked += 1
        if host == "silent.example":
            self.answer.wait(10)
        return ["8.8.8.8"]


@pytest.fixture
def names() -> Names:
    return Names()


@pytest.fixture
async def resolver(names: Names) -> AsyncGenerator[SystemResolver]:
    made = SystemResolver(names, wait_s=0.1)
    try:
        yield made
    finally:
        names.answer.set()
        made.close()


class Asked:
    """Whatever is fetched, it keeps for whom."""

    def __init__(self) -> None:
        self.owner = ""

    async def get(self, url: str, limits: FetchLimits, *, accept: str) -> Fetched:
        self.owner = owner_of_lookups()
        raise FetchFailedError("nothing")

    async def handle(self, request: httpx.Request) -> httpx.Response:
        self.owner = owner_of_lookups()
        raise FetchFailedError("Four names are looked up.")


async def test_what_an_agent_fetches_is_looked_up_for_its_user() -> None:
    asked = Asked()
    await call_tool(LocalTools([web_fetch(asked, PageReader())]), "web_fetch", {"url": "https://a.example"})
    assert asked.owner == "u"
    with pytest.raises(FetchFailedError):
        await FetchedSkills(asked).get("ben", "https://a.example")
    assert asked.owner == "ben"


async def test_a_server_of_a_user_is_looked_up_for_that_user_and_why_it_is_not_is_said() -> None:
    asked, refusals = Asked(), Refusals()
    transport = GuardedTransport(httpx.MockTransport(asked.handle), FetchRules(), refusals, "anna")
    with pytest.raises(httpx2.ConnectError):
        await transport.handle_async_request(httpx2.Request("POST", "https://a.example", content=b"{}"))
    assert (asked.owner, refusals.said) == ("anna", "Four names are looked up.")


async def look_up(resolver: SystemResolver, owner: str, host: str) -> list[str]:
    with lookups_of(owner):
        return list(await resolver(host, 80))


async def test_names_that_nobody_answers_for_stop_their_own_user_alone(resolver: SystemResolver, names: Names) -> None:
    asked = [asyncio.create_task(look_up(resolver, "anna", "silent.example")) for _ in range(40)]
    done, waiting = await asyncio.wait(asked, timeout=2, return_when=asyncio.FIRST_EXCEPTION)
    done |= (await asyncio.wait(waiting, timeout=0.5))[0]
    assert len(done) == 40 - AT_ONCE_OF_OWNER
    assert all("still being looked up" in str(one.exception()) for one in done)
    assert await asyncio.wait_for(look_up(resolver, "ben", "example.org"), 2) == ["8.8.8.8"]
    names.answer.set()
    answered, _ = await asyncio.wait(set(asked) - done, timeout=2)
    assert [one.result() for one in answered] == [["8.8.8.8"]] * AT_ONCE_OF_OWNER


async def test_a_look_up_that_nobody_waits_for_counts_until_it_ends(resolver: SystemResolver, names: Names) -> None:
    asked = [asyncio.create_task(look_up(resolver, "anna", "silent.example")) for _ in range(AT_ONCE_OF_OWNER)]
    await asyncio.wait(asked, timeout=0.1)
    for one in asked:
        one.cancel()
    await asyncio.wait(asked, timeout=1)
    with pytest.raises(FetchFailedError):
        await look_up(resolver, "anna", "example.org")
    names.answer.set()
    assert await asyncio.wait_for(look_up(resolver, "anna", "example.org"), 2) == ["8.8.8.8"]
