"""The desktop takes the size of its panel, at any width of the page, and keeps the one in which the agent saw it."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Browser, Page, expect

from support.api_client import ApiClient
from support.page import PHONE, chromium, show_desktop
from support.stack import Stack

PATIENT_MS = 60_000
FILLS = 0.85
TEXT_PX, READABLE_PX = 16, 11
"""Of the text of a page over there, and of what is seen of it here at least."""
MEASURE = """
() => {
    const section = document.querySelector('section[aria-label=Desktop]')
    const canvas = section.querySelector('[role=application] canvas')
    const panel = section.firstElementChild.getBoundingClientRect()
    const box = canvas.getBoundingClientRect()
    return {
        share: (box.width * box.height) / (panel.width * panel.height),
        scale: box.width / canvas.width,
        size: [canvas.width, canvas.height],
    }
}
"""


async def shown(browser: Browser, stack: Stack, session: str, width: int, height: int, ratio: float = 1) -> Page:
    context = await browser.new_context(
        viewport={"width": width, "height": height}, locale="en", device_scale_factor=ratio
    )
    await context.add_init_script("localStorage.setItem('panel', 'open')")
    page = await context.new_page()
    await page.goto(f"{stack.base_url}/s/{session}")
    if width == PHONE["width"]:
        await page.get_by_role("tab", name="Computer").click()
    await show_desktop(page)
    await expect(page.get_by_role("application", name="Watching live")).to_be_visible(timeout=PATIENT_MS)
    return page


async def until_filled(page: Page) -> None:
    """The picture fills the panel with text that can be read: the bar below it comes once it is live."""
    seen: dict[str, float] = {"share": 0, "scale": 0}
    try:
        async with asyncio.timeout(20):
            while seen["share"] < FILLS or seen["scale"] * TEXT_PX < READABLE_PX:
                seen = await page.evaluate(MEASURE)
                await asyncio.sleep(0.05)
    except TimeoutError:
        pytest.fail(f"{page.viewport_size}: {seen}")


@pytest.mark.timeout(300)
async def test_the_desktop_fills_its_panel_with_text_that_can_be_read(desktop_stack: Stack) -> None:
    async with chromium() as browser, ApiClient(desktop_stack.base_url) as api:
        session = await api.new_session()
        await api.json("POST", f"/sessions/{session}/sandbox")
        for width, height, ratio in ((1440, 900, 1), (1024, 768, 1), (1920, 1080, 2), (PHONE["width"], 844, 3)):
            page = await shown(browser, desktop_stack, session, width, height, ratio)
            await until_filled(page)
            await page.context.close()


@pytest.mark.timeout(300)
async def test_the_desktop_keeps_the_size_in_which_the_agent_saw_it(desktop_stack: Stack) -> None:
    async with chromium() as browser, ApiClient(desktop_stack.base_url) as api:
        session = await api.new_session()
        events = await api.ask(session, "take a screenshot")
        assert any(one["type"] == "tool.finished" and one["success"] for one in events)
        page = await shown(browser, desktop_stack, session, 1440, 900)
        await page.wait_for_timeout(1_000)  # long enough for what should not be to show
        assert (await page.evaluate(MEASURE))["size"] == [1280, 800]
