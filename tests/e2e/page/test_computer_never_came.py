"""Somebody stops the agent, or says something else, while it waits for a computer that never was there."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, expect

from support.api_client import ApiClient
from support.page import EVERY_STEP, WIDE, chromium, composer, say, transcript
from support.stack import run_stack

SHUT_DOWN = "The computer was shut down"
NONE_YET = "No computer yet"


def card(page: Page, phrase: str) -> Locator:
    return transcript(page).get_by_role("button", name=phrase)


async def _waits(page: Page, what: str) -> None:
    """It stands in line for what the message wants, which its card and the panel say."""
    await expect(card(page, f"Run echo {what}")).to_contain_text("Waits for the computer", timeout=20_000)
    await expect(page.get_by_text("As many of your computers are running as you may have.")).to_be_visible()


async def _never_came(page: Page, what: str) -> None:
    """Nothing was run, and nothing is said to have been shut down; the panel stays where it was."""
    await expect(card(page, f"Run echo {what}")).to_contain_text("Not run")
    await expect(page.get_by_role("complementary").get_by_text(NONE_YET)).to_be_visible()
    await expect(page.get_by_text(SHUT_DOWN)).to_be_hidden()


@pytest.mark.timeout(240)
async def test_a_computer_that_never_came_was_not_shut_down_and_comes_with_the_next_message(tmp_path: Path) -> None:
    with run_stack(tmp_path, SANDBOX_MAX_PER_USER="1", SANDBOX_DESKTOP="false") as stack:
        async with chromium() as browser, ApiClient(stack.base_url) as api:
            busy = await api.new_session()
            await api.until(busy, "tool.output", after=(await api.send(busy, "run echo begun; sleep 300"))["seq"])
            page = await browser.new_page(viewport=WIDE, locale="en")
            await page.add_init_script(EVERY_STEP)
            await page.goto(stack.base_url)

            await say(page, "run echo one")
            await _waits(page, "one")
            await page.get_by_role("button", name="Stop", exact=True).click()
            await _never_came(page, "one")
            await page.reload()
            await _never_came(page, "one")

            await say(page, "run echo two")
            await _waits(page, "two")
            await say(page, "stream 5")
            await _never_came(page, "two")
            await expect(transcript(page).get_by_text("word5")).to_be_visible()

            session = page.url.rpartition("/")[2].partition("?")[0]
            told = [one for one in await api.stored_events(session) if one["type"] == "sandbox.updated"]
            assert [one["status"] for one in told] == ["starting", "none", "starting", "none"]
            await api.json("DELETE", f"/sessions/{busy}", expect=204)
            await composer(page).fill("run echo three")
            await composer(page).press("Enter")
            await expect(card(page, "Ran echo three")).to_be_visible(timeout=60_000)
            await expect(page.get_by_text(NONE_YET)).to_be_hidden()
