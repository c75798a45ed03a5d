"""An agent that works for another one asks on the page, and what is approved happens once, whoever is killed."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.async_api import expect

from support.api_client import ApiClient
from support.model_server import Answer, Call, ModelServer
from support.page import PHONE, WIDE, chromium, say, transcript
from support.scripted_stack import tools_of
from support.stack import Stack, run_stack

PATIENT_MS = 60_000
ASKS = "The sub-agent at work on “write it” asks before it does this"
ASKED = "The sub-agent at work on “write it” asked first"
COMMAND = "echo once >> seen.txt"


def respond(request: dict[str, Any]) -> Answer:
    """What each agent's model says, by what it has heard: one writes, one looks, and the main one hands both on."""
    said = sum(message["role"] == "assistant" for message in request["messages"])
    task = next(str(message["content"]) for message in request["messages"] if message["role"] == "user")
    is_main = "task" in tools_of(request)
    if is_main and said == 0:
        tasks = [{"description": title, "prompt": f"{title} now"} for title in ("write it", "look at it")]
        calls = [Call(name="task", arguments=json.dumps(one), id=one["description"]) for one in tasks]
        return Answer(texts=(), calls=tuple(calls))
    if not is_main and said == 0:
        command = json.dumps({"command": COMMAND})
        writes = Call(name="shell_exec", arguments=command) if "write it now" in task else Call(name="utc_now")
        return Answer(texts=(), calls=(writes,))
    return Answer(texts=("All done." if is_main else "It is done.",))


async def until_back(api: ApiClient) -> None:
    async with asyncio.timeout(PATIENT_MS / 1000):
        while True:
            with suppress(httpx.HTTPError):
                if (await api.http.get("/sessions")).status_code == 200:
                    return
            await asyncio.sleep(0.2)


async def content(api: ApiClient, session: str) -> str:
    answer = await api.http.get(f"/sessions/{session}/files/content", params={"path": "seen.txt"})
    return str(answer.json()["content"]) if answer.status_code == 200 else ""


def of(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] == kind]


async def approved_on_the_page(own: Stack, api: ApiClient) -> None:
    """Everything is killed while it waits; the page shows the card again, and answers it."""
    session = await api.new_session(options={"enable_approval": True})
    async with chromium() as browser:
        page = await (await browser.new_context(viewport=WIDE, locale="en")).new_page()
        await page.goto(f"{own.base_url}/s/{session}")
        await say(page, "go")
        inner = transcript(page).get_by_role("list", name="What the sub-agent does")
        card = inner.get_by_role("group", name=ASKS)
        await expect(card.get_by_text(COMMAND).last).to_be_visible(timeout=PATIENT_MS)
        await expect(transcript(page).get_by_text("It is done.")).to_be_visible()
        assert (await api.json("GET", f"/sessions/{session}"))["status"] == "waiting"
        other = await (await browser.new_context(viewport=PHONE, locale="en")).new_page()
        await other.goto(page.url)
        await expect(transcript(other).get_by_role("group", name=ASKS)).to_be_visible(timeout=PATIENT_MS)
        await asyncio.gather(own.kill("mongod"), own.kill("gateway"))
        await until_back(api)
        await page.reload()
        await expect(card).to_be_visible(timeout=PATIENT_MS)
        await card.get_by_role("button", name="Approve", exact=True).click()
        for one in (page, other):
            await expect(transcript(one).get_by_role("group", name=ASKED)).to_be_visible(timeout=PATIENT_MS)
        await expect(transcript(page).get_by_text("All done.")).to_be_visible(timeout=PATIENT_MS)
    assert await content(api, session) == "once\n"
    events = await api.stored_events(session)
    # Both begin at once, in either order.
    looks, writes = sorted(of(events, "subagent.started"), key=lambda one: str(one["task"]))
    (asked,) = of(events, "approval.requested")
    assert asked["agent_id"] == writes["subagent_id"]
    assert [one["name"] for one in of(events, "tool.called") if one.get("agent_id") == looks["subagent_id"]] == [
        "utc_now"
    ]


async def killed_as_it_is_approved(own: Stack, api: ApiClient) -> None:
    """One kill for three approvals, each at another point of its way."""
    asked = dict[str, str]()
    for _ in range(3):
        session = await api.new_session(options={"enable_approval": True})
        await api.send(session, "go")
        approval = (await api.until(session, "approval.requested", timeout_s=60))[-1]["approval_id"]
        asked[session] = f"/sessions/{session}/approvals/{approval}"

    async def approved(path: str, before_s: float) -> None:
        await asyncio.sleep(0.3 - before_s)
        with suppress(httpx.HTTPError):
            await api.http.post(path, json={"decision": "approve"})

    async def killed() -> None:
        await asyncio.sleep(0.3)
        await own.kill("gateway")

    await asyncio.gather(killed(), *map(approved, asked.values(), (0.0, 0.05, 0.3)))
    await until_back(api)
    for session, path in asked.items():
        await happened_once(api, session, path)


async def happened_once(api: ApiClient, session: str, path: str) -> None:
    assert (await api.http.post(path, json={"decision": "approve"})).status_code in (200, 409)
    await api.until(session, "run.finished", timeout_s=60)
    stored, written = await api.stored_events(session), await content(api, session)
    assert written == "once\n" or "may have happened" in str(of(stored, "tool.finished")), written
    assert written in ("", "once\n")
    assert len(of(stored, "subagent.started")) == len(of(stored, "subagent.finished")) == 2
    results = [one["call_id"] for one in of(stored, "tool.finished")]
    assert sorted(results) == sorted(one["call_id"] for one in of(stored, "tool.called"))
    assert len(of(stored, "approval.resolved")) == len(of(stored, "run.finished")) == 1


@pytest.mark.timeout(400)
async def test_another_agent_asks_where_its_work_stands_and_what_is_approved_happens_once(tmp_path: Path) -> None:
    async with ModelServer(respond=respond) as model:
        settings = {
            "LLM_PROVIDER": "openai",
            "OPENAI_API_KEY": "sk-scripted",
            "OPENAI_BASE_URL": model.openai_url,
            "MODEL": "scripted",
        }
        with run_stack(tmp_path / "stack", SANDBOX_DESKTOP="false", **settings) as own:
            async with ApiClient(own.base_url) as api:
                await approved_on_the_page(own, api)
                await killed_as_it_is_approved(own, api)
