"""The demo model researches and writes without a key, and the person keeps tasks and resources in the panel."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from support.page import EVERY_STEP, WIDE, chromium, say, transcript
from support.stack import run_stack

PATIENT_MS = 90_000


async def picture(page: Page, name: str) -> None:
    """For looking at, where SCREENSHOTS names a folder."""
    if folder := os.environ.get("SCREENSHOTS"):
        await page.screenshot(path=Path(folder) / f"{name}.png")


async def to_panel(page: Page, tab: str) -> None:
    if await page.get_by_role("tab", name=tab).count() == 0:
        await page.get_by_role("button", name="Show computer").click()
    await page.get_by_role("tab", name=tab).click()


@pytest.mark.timeout(300)
async def test_the_demo_writes_two_pages_and_the_person_keeps_tasks_and_resources(tmp_path: Path) -> None:
    async with chromium() as browser:
        with run_stack(tmp_path / "stack", SANDBOX_DESKTOP="false", DEMO_DELAY_MS="0") as stack:
            context = await browser.new_context(viewport=WIDE, locale="en")
            page = await context.new_page()
            await page.add_init_script(EVERY_STEP)
            await page.goto(stack.base_url)
            await say(page, "Research how machines learned language")
            await expect(transcript(page).get_by_text("Two pages are written")).to_be_visible(timeout=PATIENT_MS)
            inner = transcript(page).get_by_role("list", name="What the sub-agent does")
            await inner.get_by_role("button", name="Handed in findings").click()
            findings = inner.get_by_role("list", name="Findings")
            await expect(findings.get_by_role("link", name="Attention Is All You Need")).to_be_visible()
            await expect(findings).to_contain_text("based solely on attention mechanisms")
            await expect(findings).to_contain_text("abstract")
            await picture(page, "research-wide-written")
            await to_panel(page, "Draft")
            suggested = page.get_by_role("region", name="Suggested text of “From memory to depth”")
            await expect(suggested).to_contain_text("For: Begin with the question", timeout=PATIENT_MS)
            await to_panel(page, "Resources")
            await page.get_by_label("Task", exact=True).fill("Read the draft")
            await page.keyboard.press("Enter")
            box = page.get_by_role("checkbox", name="Done: Read the draft")
            await expect(box).to_be_visible(timeout=PATIENT_MS)
            await box.check()
            await page.get_by_role("button", name="Add resource").click()
            await page.get_by_label("Title").fill("Attention")
            await page.get_by_label("Link").fill("https://arxiv.org/abs/1706.03762")
            await page.get_by_role("button", name="Save").click()
            await expect(page.get_by_role("link", name="Attention").first).to_be_visible(timeout=PATIENT_MS)
            width = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
            assert await page.evaluate(width)
            await picture(page, "research-wide-resources")
            await page.reload()
            await expect(transcript(page).get_by_text("Two pages are written")).to_be_visible(timeout=PATIENT_MS)
            await expect(page.get_by_role("tab", name="Resources")).to_be_visible(timeout=PATIENT_MS)
            await page.get_by_role("tab", name="Resources").click()
            await expect(box).to_be_checked(timeout=PATIENT_MS)
            await expect(page.get_by_role("link", name="Attention").first).to_be_visible()
