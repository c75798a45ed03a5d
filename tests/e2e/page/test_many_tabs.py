"""Conversations in many tabs of one browser, which has but six connections to a server for all of them."""

from __future__ import annotations

import asyncio
import re
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Page, expect

from support.page import WIDE, chromium, composer, say, transcript
from support.stack import Stack

PATIENT_MS = 60_000
TABS = 8
LOOKED_AT = """
let seen = 'visible'
Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => seen })
window.look = (next) => { seen = next; document.dispatchEvent(new Event('visibilitychange')) }
"""


async def answered(page: Page) -> None:
    await say(page, "stream 5")
    await expect(transcript(page).locator("[data-kind=end]").last).to_be_attached(timeout=PATIENT_MS)


@pytest.mark.timeout(180)
async def test_each_tab_goes_on_however_many_there_are(stack: Stack) -> None:
    async with chromium() as browser:
        context = await browser.new_context(viewport=WIDE, locale="en")
        await context.add_init_script(LOOKED_AT)
        pages: list[Page] = []
        for _ in range(TABS):
            for before in pages[-1:]:
                await before.evaluate("look('hidden')")
            page = await context.new_page()
            await page.goto(stack.base_url)
            await expect(composer(page)).to_be_visible(timeout=PATIENT_MS)
            await answered(page)
            pages.append(page)
        # What went on in others while it was hidden is there when it is looked at again.
        await pages[-1].evaluate("look('hidden')")
        await pages[0].evaluate("look('visible')")
        for page in pages:
            link = pages[0].locator(f"nav a[href='{urlsplit(page.url).path}']")
            await expect(link).to_have_count(1, timeout=PATIENT_MS)
        await asyncio.wait_for(answered(pages[0]), PATIENT_MS / 1000)


@pytest.mark.timeout(180)
async def test_four_windows_that_are_seen_at_once_are_all_answered_and_keep_their_lists(stack: Stack) -> None:
    async with chromium() as browser:
        context = await browser.new_context(viewport=WIDE, locale="en")
        pages = [await context.new_page() for _ in range(4)]
        for page in pages:
            await page.goto(stack.base_url)
            await expect(composer(page)).to_be_visible(timeout=PATIENT_MS)
        before = await pages[0].locator("nav a[href^='/s/']").count()
        for page in pages:
            await answered(page)
        for page in pages:
            await expect(page.locator("nav a[href^='/s/']")).to_have_count(before + 4, timeout=PATIENT_MS)


@pytest.mark.timeout(180)
async def test_the_title_of_a_hidden_tab_tells_when_its_answer_is_there(stack: Stack) -> None:
    async with chromium() as browser:
        context = await browser.new_context(viewport=WIDE, locale="en")
        await context.add_init_script(LOOKED_AT)
        page = await context.new_page()
        await page.goto(stack.base_url)
        await say(page, "run sleep 15")
        await expect(page.locator("header")).to_contain_text("Working", timeout=PATIENT_MS)
        await page.evaluate("look('hidden')")
        await expect(page).to_have_title(re.compile("^1 working"), timeout=PATIENT_MS)
        await expect(page).to_have_title(re.compile(r"^\(1\) (?!.*working)"), timeout=PATIENT_MS)
        await page.evaluate("look('visible')")
        await expect(page).to_have_title(re.compile("^Done"), timeout=PATIENT_MS)
