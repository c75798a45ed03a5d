"""How the agent works in one conversation, chosen where one writes."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from support.api_client import ApiClient
from support.page import WIDE, chromium, composer, say, transcript
from support.stack import Stack

CHOSEN = {"enable_thinking": True, "thinking_effort": "high", "max_turns": 9}


@pytest.mark.timeout(180)
async def test_thinking_is_switched_on_before_the_first_message_and_off_later(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        page = await (await browser.new_context(viewport=WIDE, locale="en")).new_page()
        await page.goto(stack.base_url)
        await expect(composer(page)).to_be_visible()
        menu = page.get_by_role("button", name="How the agent works here")
        await menu.click()
        await page.get_by_text("On", exact=True).click()
        await page.get_by_role("textbox", name="Step limit of an answer").fill("9")
        await page.keyboard.press("Enter")
        await page.keyboard.press("Escape")
        await say(page, "stream 3")
        await page.wait_for_url("**/s/*")
        session = page.url.rpartition("/")[2]
        first = await api.until(session, "run.finished", timeout_s=60)
        assert (await api.json("GET", f"/sessions/{session}"))["options"] == CHOSEN
        await expect(transcript(page).get_by_role("button", name="Thought")).to_have_count(1)

        await menu.click()
        async with page.expect_response(lambda answer: answer.request.method == "PATCH"):
            await page.get_by_text("Off", exact=True).click()
        await page.keyboard.press("Escape")
        await expect(menu).to_be_visible()
        await say(page, "stream 4")
        await expect(transcript(page).get_by_text("word4")).to_be_visible()
        await api.until(session, "run.finished", after=first[-1]["seq"], timeout_s=60)
        stored = await api.stored_events(session)
        assert [one["thinking"] for one in stored if one["type"] == "context.opened"] == ["high", "off"]
        await expect(transcript(page).get_by_role("button", name="Thought")).to_have_count(1)
