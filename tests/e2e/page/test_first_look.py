"""The computer in a fresh conversation, watched from the first second on."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import pytest
from playwright.async_api import Page, Route, expect

from support.api_client import ApiClient
from support.page import WIDE, chromium, composer, say
from support.stack import Stack

SHOWN_MS = 12_000
"""The picture needs a fraction of it; the next look at the computer comes after 20 s only."""


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
        await page.get_by_role("button", name="Show computer").click()
        await say(page, "run echo hello")
        await until_ready(api, session)
        await expect(page.get_by_role("application", name="Watching live")).to_be_visible(timeout=SHOWN_MS)
        async with page.expect_response(f"**/api/sessions/{session}/sandbox"):
            ready.set()
        assert held
        await page.wait_for_timeout(300)  # long enough for what should not be to show
        await expect(page.get_by_role("application", name="Watching live")).to_be_visible(timeout=300)


@pytest.mark.timeout(180)
async def test_the_desktop_shows_within_moments_in_every_fresh_conversation(desktop_stack: Stack) -> None:
    async with chromium() as browser, ApiClient(desktop_stack.base_url) as api:
        page = await browser.new_page(viewport=WIDE, locale="en")
        await watching(page, desktop_stack, api)
        for _ in range(2):
            await page.goto(desktop_stack.base_url)
            await say(page, "run echo hello")
            await page.wait_for_url("**/s/*")
            session = page.url.rpartition("/")[2]
            await until_ready(api, session)
            await expect(page.get_by_role("application", name="Watching live")).to_be_visible(timeout=SHOWN_MS)
            await api.json("DELETE", f"/sessions/{session}", expect=204)
