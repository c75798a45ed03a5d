"""One clipboard for the desktop and the person who drives it, and texts of an input method."""

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
        async with asyncio.timeout(40):
            while found != wanted:
                await page.keyboard.press("Control+a")
                await page.keyboard.press("Control+c")
                await page.wait_for_timeout(500)
                found = await page.evaluate(READ)
    assert found == wanted


@pytest.mark.timeout(300)
async def test_what_is_copied_pasted_and_composed_arrives(desktop_stack: Stack) -> None:
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

        await page.evaluate(WRITE, "乌龙 tea")
        await page.keyboard.press("Control+a")
        await page.keyboard.press("Control+v")
        # What is pasted is asked for over the connection: a copy meanwhile would come in between.
        await page.wait_for_timeout(3_000)
        await page.evaluate(WRITE, "")
        await copied_there(page, "乌龙 tea")

        method = page.get_by_role("button", name="Type with an input method")
        await method.click()
        keys = await context.new_cdp_session(page)
        for letters in ("n", "ni", "nih", "nihao"):
            at = {"selectionStart": len(letters), "selectionEnd": len(letters)}
            await keys.send("Input.imeSetComposition", {"text": letters, **at})
        await keys.send("Input.insertText", {"text": "你好"})
        await canvas.focus()
        await copied_there(page, "你好")
