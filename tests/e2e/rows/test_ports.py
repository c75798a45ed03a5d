"""An app that the agent starts in a real sandbox, as the person's browser reaches it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import httpx
import pytest

from support.api_client import ApiClient
from support.model_server import Answer
from support.scripted_stack import Scripted, call, calls, results
from support.tls import NO_TLS

pytestmark = pytest.mark.asyncio(loop_scope="session")
SAID = Answer(texts=("Look under Ports.",))
SERVE = "echo '<h1>Shop</h1>' > index.html; python3 -m http.server --bind 127.0.0.1 4310"


@asynccontextmanager
async def opened(api: ApiClient, session: str) -> AsyncGenerator[tuple[httpx.AsyncClient, str]]:
    """A browser that went to the port's address, and the port's id."""
    [port] = (await api.json("GET", f"/sessions/{session}/ports"))["ports"]
    issued = await api.json("POST", f"/sessions/{session}/ports/{port['id']}/address")
    url = urlsplit(str(issued["url"]))
    # Where names below localhost lead elsewhere or nowhere, as resolvers differ.
    headers = {"Host": url.netloc}
    async with httpx.AsyncClient(
        base_url=api.base_url, headers=headers, timeout=60, trust_env=False, verify=NO_TLS
    ) as browser:
        entered = await browser.get(f"/?{url.query}")
        assert (entered.status_code, entered.headers["location"]) == (303, f"http://{url.netloc}/")
        yield browser, str(port["id"])


async def test_the_person_reaches_an_app_that_the_agent_opened_until_it_is_closed(
    scripted: Scripted, api: ApiClient
) -> None:
    session = await api.new_session(title="named")
    scripted.answer(
        calls(call("background_run", command=SERVE)),
        calls(call("expose_port", port=4310, label="Shop")),
        SAID,
    )
    events = await api.ask(session, "a shop, please")
    [told] = [event for event in events if event["type"] == "port.opened"]
    assert (told["port"], told["label"], told["opened_by"]) == (4310, "Shop", "agent")
    [whole] = [event for event in events if event["type"] == "resources.updated"]
    assert whole["resources"] == (await api.json("GET", f"/sessions/{session}/state"))["resources"]
    assert [one["id"] for one in whole["resources"]] == [told["port_id"]]
    assert 'under "Ports"' in (await results(api, session, events))[1]

    async with opened(api, session) as (browser, port_id), asyncio.timeout(30):
        while (answer := await browser.get("/")).status_code == 502:
            await asyncio.sleep(0.1)
        assert (answer.status_code, answer.text) == (200, "<h1>Shop</h1>\n")
        scripted.answer(calls(call("close_port", port=4310)), SAID)
        told_of = [e for e in await api.ask(session, "enough") if e["type"] in ("port.closed", "resources.updated")]
        assert [e["type"] for e in told_of] == ["port.closed", "resources.updated"]
        assert (told_of[0]["port_id"], told_of[1]["resources"]) == (port_id, [])
        assert (await browser.get("/")).status_code == 404


async def test_an_app_ends_with_its_computer_which_is_not_started_for_a_browser(
    scripted: Scripted, api: ApiClient
) -> None:
    session = await api.new_session(title="named")
    await api.json("POST", f"/sessions/{session}/ports", json={"port": 4310}, expect=201)
    async with opened(api, session) as (browser, _):
        answer = await browser.get("/")
        assert answer.status_code == 409
        assert "The computer is not running" in answer.text
        assert (await api.json("GET", f"/sessions/{session}/sandbox"))["status"] == "none"
        await api.json("POST", f"/sessions/{session}/sandbox")
        assert (await browser.get("/")).status_code == 502
