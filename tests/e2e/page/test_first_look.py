"""The computer in a fresh conversation, watched from the first second on."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Page, Route, expect

from support.api_client import ApiClient
from support.page import WIDE, chromium, composer, say, show_desktop
from support.stack import Stack, run_stack

SHOWN_MS = 1_000
"""From the event that says ready to the first picture."""
CALM_MS = 150
"""A first list of the computer's files takes no longer where nothing else runs. A computer has a tenth of the server's
share of the processor: where other work leaves it little, both this and the desktop take longer."""
CONVERSATIONS = 4
STARTED_MS = 60_000
LATE_MS = 12_000
"""The next look at the computer comes after 20 s only."""
MARKS = """
(() => {
  let ready = 0, shown = 0, slowest = 0
  const parse = JSON.parse
  JSON.parse = (...given) => {
    const told = parse(...given)
    if (!ready && told?.type === 'sandbox.updated' && told.status === 'ready') {
      ready = performance.now()
      void ask()
      look()
    }
    return told
  }
  /** What the page asks of the computer beside it, one after the other. */
  async function ask() {
    while (!shown) {
      const began = performance.now()
      await fetch(`/api${location.pathname.replace('/s/', '/sessions/')}/files`)
      slowest = Math.max(slowest, performance.now() - began)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    document.documentElement.dataset.firstLook = JSON.stringify([shown - ready, slowest])
  }
  function look() {
    const picture = document.querySelector('[role=application] canvas')
    if (picture?.checkVisibility({ visibilityProperty: true })) shown = performance.now()
    else requestAnimationFrame(look)
  }
})()
"""
"""Marks on the page how long the picture took, and the slowest question to the computer meanwhile, in milliseconds."""


async def watching(page: Page, desktop_stack: Stack, api: ApiClient) -> str:
    """A fresh conversation with the computer beside it."""
    session = await api.new_session()
    await page.goto(f"{desktop_stack.base_url}/s/{session}")
    await expect(composer(page)).to_be_visible()
    await page.get_by_role("button", name="Show computer").click()
    await expect(page.get_by_text("No computer yet")).to_be_visible()
    return session


async def until_ready(api: ApiClient, session: str) -> None:
    async with asyncio.timeout(60), contextlib.aclosing(api.events(session)) as events:  # type: ignore[type-var]
        async for event in events:
            if event["type"] == "sandbox.updated" and event["status"] == "ready":
                return


def holding_back(ready: asyncio.Event, held: list[str]) -> Callable[[Route], Awaitable[None]]:
    """What was seen of the computer before it was ready arrives after the page has been told that it is."""

    async def hold(route: Route) -> None:
        answer = await route.fetch()
        status = (await answer.json())["status"]
        if status != "ready":
            held.append(status)
            await ready.wait()
        await route.fulfill(response=answer)

    return hold


@pytest.mark.timeout(120)
async def test_the_desktop_shows_at_once_also_where_a_look_from_before_comes_in_late(desktop_stack: Stack) -> None:
    async with chromium() as browser, ApiClient(desktop_stack.base_url) as api:
        page = await browser.new_page(viewport=WIDE, locale="en")
        session = await watching(page, desktop_stack, api)
        ready, held = asyncio.Event(), list[str]()
        await page.route(f"**/api/sessions/{session}/sandbox", holding_back(ready, held))
        await page.reload()
        await expect(composer(page)).to_be_visible()
        await expect(page.get_by_text("No computer yet")).to_be_visible()  # a reload keeps the panel
        await page.get_by_role("tab", name="Desktop").click()
        await say(page, "run echo hello")
        await until_ready(api, session)
        await expect(page.get_by_role("application", name="Watching live")).to_be_visible(timeout=LATE_MS)
        async with page.expect_response(f"**/api/sessions/{session}/sandbox"):
            ready.set()
        assert held
        await page.wait_for_timeout(300)  # long enough for what should not be to show
        await expect(page.get_by_role("application", name="Watching live")).to_be_visible(timeout=300)


async def look_at_first(page: Page, stack: Stack, api: ApiClient) -> None:
    """A fresh conversation from its first message to the picture of its computer, which is in time."""
    await page.goto(stack.base_url)
    await say(page, "run echo hello")
    await page.wait_for_url("**/s/*")
    await show_desktop(page)
    await expect(page.get_by_role("application", name="Watching live")).to_be_visible(timeout=STARTED_MS)
    await expect(page.locator("html[data-first-look]")).to_be_attached(timeout=STARTED_MS)
    shown_ms, asked_ms = json.loads(await page.locator("html").get_attribute("data-first-look") or "")
    assert shown_ms <= SHOWN_MS * max(1.0, asked_ms / CALM_MS), (shown_ms, asked_ms)
    await api.json("DELETE", f"/sessions/{page.url.rpartition('/')[2]}", expect=204)


def manager_of(stack: Stack) -> httpx.AsyncClient:
    port = json.loads((stack.data_dir / "ports.json").read_text())["manager"]
    token = json.loads((stack.data_dir / "secrets.json").read_text())["manager_token"]
    return httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {token}"})


async def until_warm(manager: httpx.AsyncClient) -> None:
    async with asyncio.timeout(60):
        while not (await manager.get("/stats")).raise_for_status().json()["by_status"].get("warm"):
            await asyncio.sleep(0.1)


@pytest.mark.quiet
@pytest.mark.timeout(240)
async def test_the_desktop_shows_within_a_second_of_ready_in_every_fresh_conversation(desktop_stack: Stack) -> None:
    async with chromium() as browser, ApiClient(desktop_stack.base_url) as api:
        page = await browser.new_page(viewport=WIDE, locale="en")
        await watching(page, desktop_stack, api)
        await page.add_init_script(MARKS)
        for _ in range(CONVERSATIONS):
            await look_at_first(page, desktop_stack, api)


@pytest.mark.quiet
@pytest.mark.timeout(240)
async def test_the_desktop_of_a_computer_that_stood_ready_shows_as_soon(tmp_path: Path) -> None:
    with run_stack(tmp_path / "stack", SANDBOX_POOL_SIZE="1") as stack:
        async with chromium() as browser, ApiClient(stack.base_url) as api, manager_of(stack) as manager:
            page = await browser.new_page(viewport=WIDE, locale="en")
            await watching(page, stack, api)
            await page.add_init_script(MARKS)
            for _ in range(CONVERSATIONS):
                await until_warm(manager)
                await look_at_first(page, stack, api)
