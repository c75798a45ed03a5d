"""Messages that wait for the end of the run, as rows above the composer: in every page, over a reload, on a phone."""

from __future__ import annotations

import pytest
from playwright.async_api import Locator, Page, expect

from support.api_client import ApiClient
from support.page import PHONE, chromium, composer, say
from support.stack import Stack

PATIENT_MS = 60_000
QUEUES = "localStorage.setItem('enter', 'queues')"


def rows(page: Page) -> Locator:
    return page.get_by_role("region", name="Queued messages").get_by_role("listitem")


@pytest.mark.timeout(180)
async def test_what_is_queued_is_edited_put_in_order_and_sent_after_the_run_in_every_page(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        context = await browser.new_context(viewport={"width": PHONE["width"], "height": PHONE["height"]}, locale="en")
        await context.add_init_script(QUEUES)
        page = await context.new_page()
        await page.goto(stack.base_url)
        await say(page, "stream 2000")
        await page.wait_for_url("**/s/*")
        session = page.url.rpartition("/")[2]
        await expect(page.get_by_role("button", name="Stop", exact=True)).to_be_visible()
        for text in ("stream 3", "stream 4"):
            await composer(page).fill(text)
            await composer(page).press("Enter")
            await expect(rows(page).filter(has_text=text)).to_be_visible(timeout=PATIENT_MS)
        other = await context.new_page()
        await other.goto(page.url)
        await expect(rows(other)).to_have_count(2, timeout=PATIENT_MS)

        await page.get_by_role("button", name="Move “stream 4” up").focus()
        await page.keyboard.press("Enter")
        await expect(rows(page).first).to_contain_text("stream 4", timeout=PATIENT_MS)
        await page.get_by_role("button", name="Edit “stream 4”").click()
        await page.get_by_role("textbox", name="Text of the queued message").fill("stream 5")
        await page.keyboard.press("Enter")
        for one in (page, other):
            await expect(rows(one).first).to_contain_text("stream 5", timeout=PATIENT_MS)
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "wider than the phone"
        await page.reload()
        await expect(rows(page)).to_have_count(2, timeout=PATIENT_MS)

        await page.get_by_role("button", name="Stop", exact=True).click()
        await expect(page.get_by_text("You stopped the agent, so these wait.")).to_be_visible(timeout=PATIENT_MS)
        await page.get_by_role("button", name="Send “stream 5” now").click()
        await expect(rows(page)).to_have_count(0, timeout=PATIENT_MS)
        await expect(rows(other)).to_have_count(0, timeout=PATIENT_MS)
        said = [one["text"] for one in await api.stored_events(session) if one["type"] == "message.user"]
        assert said == ["stream 2000", "stream 5", "stream 3"]
