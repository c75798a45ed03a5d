"""Titles and names of files that nobody could break into lines stay where they belong."""

from __future__ import annotations

import pytest
from playwright.async_api import Locator, expect

from support.api_client import ApiClient
from support.page import PHONE, WIDE, chromium, composer, opened, say, transcript
from support.stack import Stack

PATIENT_MS = 60_000
LONG = f"{'n' * 240}.txt"


async def is_within(inner: Locator, outer: Locator) -> bool:
    one, other = await inner.bounding_box(), await outer.bounding_box()
    assert one is not None
    assert other is not None
    return one["x"] >= other["x"] and one["x"] + one["width"] <= other["x"] + other["width"]


@pytest.mark.timeout(180)
async def test_a_long_name_and_one_that_turns_its_letters_round_are_shown_within_the_message(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session = await api.new_session()
        for size in (WIDE, PHONE):
            page = await browser.new_page(viewport=size, locale="en")
            await opened(page, stack, session)
            for name in (LONG, "a\u202etxt.exe"):
                file = {"name": name, "mimeType": "text/plain", "buffer": b"x"}
                await page.locator("input[type=file]").first.set_input_files(file)  # type: ignore[arg-type]
            await say(page, "run echo sent")
            chip = transcript(page).get_by_role("button", name="nnn").last
            await expect(chip).to_be_visible(timeout=PATIENT_MS)
            assert await is_within(chip, transcript(page))
            turned = transcript(page).get_by_role("button", name="a⟨U+202E⟩txt.exe").last
            await expect(turned).to_be_visible()
            await expect(transcript(page).locator("[data-kind=end]").last).to_be_attached(timeout=PATIENT_MS)
            await page.close()


@pytest.mark.timeout(120)
async def test_the_question_before_a_deletion_holds_its_title_and_its_buttons(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        await api.new_session(title="W" * 150)
        page = await browser.new_page(viewport=WIDE, locale="en")
        await page.goto(stack.base_url)
        await expect(composer(page)).to_be_visible()
        row = page.get_by_role("navigation").get_by_role("listitem").filter(has_text="WWW").first
        await row.hover()
        await row.get_by_role("button").last.click()
        await page.get_by_role("menuitem", name="Delete").click()
        question = page.get_by_role("dialog", name="Delete this conversation?")
        await expect(question.get_by_text("WWW")).to_be_visible()
        for one in (question.get_by_text("WWW"), *await question.get_by_role("button").all()):
            assert await is_within(one, question)
