"""The work of the agent folded into one line, every step of it for developers, and the first screen."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from support.api_client import ApiClient
from support.page import PHONE, WIDE, chromium, composer, say, transcript
from support.stack import Stack

PATIENT_MS = 90_000
VIEW = "Developer view"


async def picture(page: Page, name: str) -> None:
    """For looking at, where SCREENSHOTS names a folder."""
    if folder := os.environ.get("SCREENSHOTS"):
        await page.screenshot(path=Path(folder) / f"{name}.png")


@pytest.mark.timeout(300)
async def test_work_is_one_line_until_the_account_wants_every_step(desktop_stack: Stack) -> None:
    async with chromium() as browser, ApiClient(desktop_stack.base_url) as api:
        await api.json("DELETE", "/settings/appearance/face")
        context = await browser.new_context(viewport=WIDE, locale="en")
        page = await context.new_page()
        await page.goto(desktop_stack.base_url)
        await expect(page.get_by_role("button", name=re.compile("See it work")).locator("svg")).to_be_visible()
        await page.get_by_role("button", name=re.compile("See it work")).click()
        log = transcript(page)
        await expect(log.get_by_text("That was the tour.")).to_be_visible(timeout=PATIENT_MS)
        work = log.get_by_role("button", name=re.compile(r"^Worked for .*4 steps$"))
        await expect(work).to_be_visible()
        box = await log.locator("[data-kind=work]").bounding_box()
        assert box is not None
        assert box["height"] < 64  # two lines at most
        await expect(log.get_by_role("button", name="Wrote notes/tour.md")).to_have_count(0)
        await picture(page, "folded")
        await work.focus()
        await page.keyboard.press("Enter")
        await expect(log.get_by_role("button", name="Wrote notes/tour.md")).to_be_visible()

        await page.get_by_role("button", name=VIEW).click()
        await expect(work).to_have_count(0)
        await expect(log.get_by_text(re.compile(r"\d tokens"))).to_be_visible()
        await page.get_by_role("tab", name="Events").click()
        panel = page.get_by_role("tabpanel")
        await panel.get_by_role("searchbox").fill("tool.called file_write")
        await expect(panel.get_by_role("listitem")).to_have_count(2)
        await panel.get_by_role("listitem").first.get_by_role("button").click()
        await expect(panel.get_by_text('"phrase"')).to_be_visible()
        await picture(page, "events")

        other = await browser.new_context(viewport=PHONE, locale="en")
        phone = await other.new_page()
        await phone.goto(page.url.partition("?")[0])
        await expect(phone.get_by_role("button", name=VIEW)).to_have_attribute("aria-pressed", "true")
        await phone.get_by_role("button", name=VIEW).click()
        await expect(phone.get_by_role("button", name=re.compile("^Worked for"))).to_be_visible()

        await phone.get_by_role("group", name="What to ask for next").get_by_role("button", name="run ls -la").click()
        await expect(transcript(phone).get_by_role("button", name="Ran ls -la")).to_be_visible(timeout=PATIENT_MS)
        await page.goto(desktop_stack.base_url)
        await page.get_by_role("region", name="Your last computers").get_by_role("link").first.click()
        await expect(transcript(page).get_by_text("That was the tour.")).to_be_visible()
        await say(page, "list the files")
        await expect(composer(page)).to_have_value("")
