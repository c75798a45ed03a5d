"""A conversation that is opened again is laid out from the beginning as it will be once it is there."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Page, Route, expect

from support.api_client import ApiClient
from support.page import PHONE, WIDE, chromium, composer, say, transcript
from support.stack import Stack

PATIENT_MS = 60_000
PARTS = """() => ['main', 'aside', 'textarea', '[role=tablist]'].map((name) => {
    const box = document.querySelector(name)?.getBoundingClientRect()
    return box && [name, box.x, box.y, box.width]
})"""


async def hold(page: Page) -> asyncio.Event:
    """Hold back what was said until the event is set; the list of conversations comes at once."""
    may_go = asyncio.Event()

    async def wait(route: Route) -> None:
        await may_go.wait()
        await route.continue_()

    await page.route("**/api/sessions/*/state*", wait)
    await page.route("**/api/sessions/*/events?*format=json*", wait)
    return may_go


@pytest.mark.timeout(180)
async def test_a_reload_in_a_run_moves_nothing_and_may_stop_it_at_once(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session = await api.new_session()
        page = await (await browser.new_context(viewport=WIDE, locale="en")).new_page()
        await page.goto(f"{stack.base_url}/s/{session}")
        await say(page, "run sleep 60")
        await expect(page.get_by_role("tab", name="Terminal")).to_be_visible(timeout=PATIENT_MS)
        await expect(transcript(page).locator("[data-kind=tool]")).to_be_visible(timeout=PATIENT_MS)
        # The computer is there, and known to have no desktop: until then its tab is offered.
        await expect(page.get_by_role("tab", name="Desktop")).to_be_hidden(timeout=PATIENT_MS)
        await page.locator("aside").evaluate("(side) => Promise.all(side.getAnimations().map((one) => one.finished))")
        before = await page.evaluate(PARTS)
        may_go = await hold(page)
        await page.reload()
        await expect(page.locator("[data-panel-awaited]")).to_be_visible()
        stop = page.get_by_role("button", name="Stop", exact=True)
        await expect(stop).to_be_visible()
        await expect(composer(page)).to_have_attribute("placeholder", "Type to interrupt the agent…")
        assert [part for part in await page.evaluate(PARTS) if part and part[0] != "[role=tablist]"] == before[:3]
        await stop.click()
        may_go.set()
        await expect(page.get_by_role("tab", name="Terminal")).to_be_visible()
        assert await page.evaluate(PARTS) == before
        await api.until(session, "run.finished", timeout_s=30)
        stored = await api.stored_events(session)
        assert next(one["status"] for one in stored if one["type"] == "run.finished") == "stopped"


@pytest.mark.timeout(180)
async def test_on_a_phone_the_ways_between_conversation_and_computer_stay(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session = await api.new_session()
        page = await (await browser.new_context(viewport=PHONE, locale="en")).new_page()
        await page.goto(f"{stack.base_url}/s/{session}")
        await say(page, "run echo here")
        await expect(transcript(page).locator("[data-kind=end]")).to_be_attached(timeout=PATIENT_MS)
        await page.get_by_role("tab", name="Computer").click()
        await page.get_by_role("tab", name="Files").click()
        await expect(page).to_have_url(f"{stack.base_url}/s/{session}?panel=files")
        may_go = await hold(page)
        # As in a browser that has not been here: the address names the panel.
        await page.evaluate("localStorage.removeItem('computers')")
        await page.reload()
        await expect(page.locator("[data-panel-awaited]")).to_be_visible()
        await expect(page.get_by_role("tab", name="Computer")).to_have_attribute("aria-selected", "true")
        may_go.set()
        await expect(page.get_by_role("tab", name="Files")).to_have_attribute("aria-selected", "true")
        await expect(page).to_have_url(f"{stack.base_url}/s/{session}?panel=files")
