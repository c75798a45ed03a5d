"""Whoever decides by keyboard goes on from what became of it."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from support.page import WIDE, chromium, say, transcript
from support.stack import Stack

PATIENT_MS = 60_000


async def begun(page: Page, stack: Stack, option: str = "") -> None:
    await page.goto(stack.base_url)
    if option:
        await page.get_by_role("button", name="How the agent works here").click()
        await page.get_by_text(option, exact=True).click()
        await page.keyboard.press("Escape")


@pytest.mark.timeout(240)
async def test_the_focus_goes_to_what_became_of_an_approval_a_plan_and_a_question(stack: Stack) -> None:
    async with chromium() as browser:
        page = await browser.new_page(viewport=WIDE, locale="en")
        focused = page.locator(":focus")
        await begun(page, stack, "Yes")
        await say(page, "Run df -h")
        approve = transcript(page).get_by_role("button", name="Approve", exact=True)
        await approve.press("Enter", timeout=PATIENT_MS)
        await expect(approve).to_have_count(0, timeout=PATIENT_MS)
        await expect(focused).to_have_text("Approved")

        await begun(page, stack, "Plan first")
        await say(page, "plan a trip")
        reject = transcript(page).get_by_role("button", name="Reject the plan")
        await reject.press("Enter", timeout=PATIENT_MS)
        await expect(reject).to_have_count(0, timeout=PATIENT_MS)
        await expect(focused).to_have_text("Rejected")

        await begun(page, stack)
        await say(page, "ask me whether to go on")
        card = transcript(page).get_by_role("form", name="The agent asks")
        await card.get_by_role("radio", name="Yes").press("Space", timeout=PATIENT_MS)
        answer = card.get_by_role("button", name="Answer")
        await answer.press("Enter")
        await expect(answer).to_have_count(0, timeout=PATIENT_MS)
        await expect(focused).to_have_text("Yes")
