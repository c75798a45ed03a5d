"""Whoever uses the keyboard alone gets to the conversation at once, and reads it from the message box."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from support.api_client import ApiClient
from support.page import WIDE, chromium, composer, opened, say, transcript
from support.stack import Stack

PATIENT_MS = 60_000


@pytest.mark.timeout(180)
async def test_the_conversation_is_the_first_stop_and_scrolls_from_the_message_box(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session = await api.new_session()
        page = await browser.new_page(viewport={**WIDE, "height": 500}, locale="en")
        await opened(page, stack, session)
        long = "\n".join(f"line {number}" for number in range(30))
        await say(page, long)
        await api.until(session, "run.finished", timeout_s=60)
        box = page.get_by_role("group", name="The conversation", exact=True)
        await expect(transcript(page).get_by_text("line 29")).to_be_visible(timeout=PATIENT_MS)

        async def top() -> float:
            return await box.evaluate("element => element.scrollTop")

        end = await top()
        assert end > 0
        await composer(page).press("PageUp")
        up = await top()
        assert up < end
        await composer(page).press("PageDown")
        assert await top() > up

        await page.reload()
        await expect(transcript(page).get_by_text("line 29")).to_be_visible(timeout=PATIENT_MS)
        # As whoever comes from the bars of the browser.
        await page.evaluate("document.body.tabIndex = -1; document.body.focus()")
        await page.keyboard.press("Tab")
        skip = page.get_by_role("link", name="Skip to the conversation")
        await expect(skip).to_be_focused()
        await expect(skip).to_be_in_viewport()
        await page.keyboard.press("Enter")
        await expect(box).to_be_focused()
        assert page.url.endswith(f"/s/{session}")
