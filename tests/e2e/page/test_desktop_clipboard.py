"""What is copied on the desktop is in the clipboard here, and what is too large for it is refused in words."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from playwright.async_api import Page, expect

from support.api_client import ApiClient
from support.page import WIDE, chromium, show_desktop
from support.stack import Stack

PATIENT_MS = 60_000
WRITE, READ = "(text) => navigator.clipboard.writeText(text)", "() => navigator.clipboard.readText()"


async def written_there(page: Page) -> None:
    """The line of addresses of the browser over there is marked."""
    await page.keyboard.press("Control+l")
    await page.wait_for_timeout(300)


async def copied_there(page: Page, wanted: str) -> None:
    """What stands in the line of addresses over there is copied there, and comes to be the clipboard here."""
    found = ""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(60):
            while found != wanted:
                await page.keyboard.press("Control+a")
                await page.keyboard.press("Control+c")
                await page.wait_for_timeout(500)
                found = await page.evaluate(READ)
    assert found == wanted


@pytest.mark.timeout(300)
async def test_what_is_copied_there_is_in_the_clipboard_here(desktop_stack: Stack) -> None:
    async with chromium() as browser, ApiClient(desktop_stack.base_url) as api:
        session = await api.new_session()
        await api.json("POST", f"/sessions/{session}/sandbox")
        context = await browser.new_context(
            viewport=WIDE, locale="en", permissions=["clipboard-read", "clipboard-write"]
        )
        await context.add_init_script("localStorage.setItem('panel', 'open')")
        page = await context.new_page()
        await page.goto(f"{desktop_stack.base_url}/s/{session}")
        await show_desktop(page)
        await page.get_by_role("button", name="Take control").click(timeout=PATIENT_MS)
        await expect(page.get_by_role("application", name="You have control")).to_be_visible(timeout=PATIENT_MS)
        canvas = page.locator("section[aria-label=Desktop] canvas").first
        await expect(canvas).to_be_focused(timeout=PATIENT_MS)

        await written_there(page)
        await page.keyboard.type("green tea")
        await copied_there(page, "green tea")

        await page.evaluate(WRITE, "x" * 10_000_000)
        await page.keyboard.press("Control+v")
        await expect(page.get_by_text("the clipboard takes")).to_be_visible()
