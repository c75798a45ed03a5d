"""A conversation of 10,000 events is there at once, never heavy, and all of it can be reached."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Route, ViewportSize, expect

from support.api_client import ApiClient
from support.long_talk import LAST_WORDS, asked, fill_talk
from support.page import PHONE, WIDE, chromium, opened, transcript
from support.stack import Stack
from support.stream_load import fresh_sessions, mongo_uri_of

EVENTS = 10_000
PATIENT_MS = 60_000
MOST_ELEMENTS = 6_000
PAINTED_MS = 30_000
"""It is there in less than one second on a machine that does nothing else, and took eleven before it was paged."""
_PLACE = """() => {
  const box = document.querySelector('[data-conversation]');
  const middle = box.getBoundingClientRect().top + box.clientHeight / 2;
  const rows = [...document.querySelectorAll('[data-key]')];
  const row = rows.find((one) => one.getBoundingClientRect().bottom > middle);
  return { key: row.dataset.key, top: row.getBoundingClientRect().top };
}"""
_HEIGHT = "() => document.querySelector('[data-conversation]').scrollHeight"
_TOP_OF = "(key) => document.querySelector(`[data-key='${key}']`)?.getBoundingClientRect().top ?? null"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def long_talk(stack: Stack) -> AsyncIterator[str]:
    (session,) = await fresh_sessions(stack.base_url, 1)
    await fill_talk(mongo_uri_of(stack.data_dir), "agent", session, EVENTS)
    yield session


async def page_of(browser: Browser, size: dict[str, int] = WIDE) -> Page:
    viewport = ViewportSize(width=size["width"], height=size["height"])
    return await (await browser.new_context(viewport=viewport, locale="en")).new_page()


async def picture(page: Page, name: str) -> None:
    """For looking at, where SCREENSHOTS names a folder."""
    if folder := os.environ.get("SCREENSHOTS"):
        await page.screenshot(path=Path(folder) / f"{name}.png")


async def elements(page: Page) -> int:
    return await page.evaluate("() => document.getElementsByTagName('*').length")


@pytest.mark.timeout(240)
async def test_it_is_opened_at_its_end_and_read_to_its_beginning(stack: Stack, long_talk: str) -> None:
    async with chromium() as browser:
        page = await page_of(browser)
        pages: list[str] = []
        page.on("request", lambda one: pages.append(one.url) if "format=json" in one.url else None)
        await opened(page, stack, long_talk)
        last = transcript(page).get_by_text(LAST_WORDS)
        await expect(last).to_be_in_viewport(timeout=PATIENT_MS)
        painted = await page.evaluate("() => performance.now()")
        assert painted < PAINTED_MS
        assert len(pages) <= 2
        assert await elements(page) < MOST_ELEMENTS
        await picture(page, "long-end")
        await page.locator("[data-conversation]").hover()
        for _ in range(40):
            await page.mouse.wheel(0, -1500)
            await page.wait_for_timeout(60)
            assert await elements(page) < MOST_ELEMENTS
        assert len(pages) > 2
        await picture(page, "long-up")
        await page.get_by_role("group", name="The conversation").press("End")
        await expect(last).to_be_in_viewport(timeout=PATIENT_MS)


@pytest.mark.timeout(240)
async def test_what_is_read_stays_where_it_is_when_older_ones_come(stack: Stack, long_talk: str) -> None:
    async with chromium() as browser:
        page = await page_of(browser)
        await opened(page, stack, long_talk)
        await expect(transcript(page).get_by_text(LAST_WORDS)).to_be_in_viewport(timeout=PATIENT_MS)
        held, released = asyncio.Event(), asyncio.Event()

        async def hold(route: Route) -> None:
            held.set()
            await released.wait()
            await route.continue_()

        await page.route("**/events?format=json**", hold)
        await page.locator("[data-conversation]").hover()
        while not held.is_set():
            await page.mouse.wheel(0, -900)
            await page.wait_for_timeout(80)
        await page.wait_for_timeout(700)
        place, height = await page.evaluate(_PLACE), await page.evaluate(_HEIGHT)
        released.set()
        await page.wait_for_function(f"(before) => ({_HEIGHT})() > before + 5000", arg=height, timeout=PATIENT_MS)
        await page.wait_for_timeout(500)
        await page.unroute_all(behavior="ignoreErrors")
        top = await page.evaluate(_TOP_OF, place["key"])
        assert top is not None
        assert abs(top - place["top"]) < 3


@pytest.mark.timeout(240)
async def test_what_is_not_loaded_is_found(stack: Stack, long_talk: str) -> None:
    async with chromium() as browser:
        page = await page_of(browser, PHONE)
        await opened(page, stack, long_talk)
        await expect(transcript(page).get_by_text(LAST_WORDS)).to_be_in_viewport(timeout=PATIENT_MS)
        await page.keyboard.press("Control+f")
        field = page.get_by_role("searchbox", name="Find in this conversation")
        await expect(field).to_be_focused()
        await field.fill("question 3: what")
        found = transcript(page).get_by_text(asked(3).strip())
        await expect(found).to_be_in_viewport(timeout=PATIENT_MS)
        await expect(page.get_by_text("1 of 1")).to_be_visible()
        await picture(page, "long-found")
        assert await elements(page) < MOST_ELEMENTS
        await field.press("Escape")
        await expect(field).to_have_count(0)


@pytest.mark.timeout(240)
async def test_a_link_leads_to_a_message_that_is_not_loaded(stack: Stack, long_talk: str) -> None:
    async with ApiClient(stack.base_url) as api, chromium() as browser:
        first = await api.json("GET", f"/sessions/{long_talk}/events", params={"format": "json", "limit": 40})
        said = [one for one in first["items"] if one["type"] == "message.user"][1]
        page = await page_of(browser)
        await page.goto(f"{stack.base_url}/s/{long_talk}#m-{said['message_id']}")
        await expect(transcript(page).get_by_text(asked(2).strip())).to_be_in_viewport(timeout=PATIENT_MS)


@pytest.mark.timeout(240)
async def test_what_was_opened_is_open_when_one_comes_back_to_it(stack: Stack, long_talk: str) -> None:
    async with chromium() as browser:
        page = await page_of(browser)
        await opened(page, stack, long_talk)
        await expect(transcript(page).get_by_text(LAST_WORDS)).to_be_in_viewport(timeout=PATIENT_MS)
        box = page.locator("[data-conversation]")
        await box.hover()
        for _ in range(8):
            await page.mouse.wheel(0, -1200)
            await page.wait_for_timeout(80)
        await page.wait_for_timeout(500)
        cards = page.locator("[data-kind=tool] button[aria-expanded=false]")
        await cards.nth(await cards.count() // 2).click()
        card = page.locator("[data-kind=tool]:has(button[aria-expanded=true])")
        await expect(card).to_have_count(1)
        await box.press("End")
        await expect(transcript(page).get_by_text(LAST_WORDS)).to_be_in_viewport(timeout=PATIENT_MS)
        await expect(card).to_have_count(1)
