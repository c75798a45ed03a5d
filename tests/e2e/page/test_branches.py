"""Messages are changed, answered again and undone by keyboard; what stood there before stays, in every tab."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, expect

from support.page import PHONE, WIDE, chromium, composer, say, transcript
from support.stack import Stack

PATIENT_MS = 60_000


async def picture(page: Page, name: str) -> None:
    """For looking at, where SCREENSHOTS names a folder."""
    if folder := os.environ.get("SCREENSHOTS"):
        await page.screenshot(path=Path(folder) / f"{name}.png")


def place(page: Page, which: str) -> Locator:
    return transcript(page).get_by_text(which, exact=True)


async def press(page: Page, button: Locator) -> None:
    """By keyboard alone."""
    await button.focus()
    await page.keyboard.press("Enter")


async def shown(page: Page, *texts: str, but_not: str = "") -> None:
    for text in texts:
        await expect(transcript(page).get_by_text(text).first).to_be_visible(timeout=PATIENT_MS)
    if but_not:
        await expect(transcript(page).get_by_text(but_not)).to_have_count(0)


@pytest.mark.timeout(300)
async def test_an_edit_is_a_branch_that_both_tabs_show_and_a_reload_keeps(stack: Stack) -> None:
    async with chromium() as browser:
        context = await browser.new_context(viewport=WIDE, locale="en")
        page = await context.new_page()
        await page.goto(stack.base_url)
        await say(page, "stream 2")
        await shown(page, "word2")
        log = transcript(page)

        # Edit and run.
        edit = log.get_by_role("button", name="Edit")
        await expect(edit).to_be_enabled(timeout=PATIENT_MS)
        await log.locator("[data-kind=assistant]").hover()
        await picture(page, "actions")
        await press(page, edit)
        field = log.get_by_role("textbox", name="Your message")
        await expect(field).to_be_focused()
        await expect(log.get_by_text("Files and other effects stay as they are.")).to_be_visible()
        await picture(page, "editor")
        await field.fill("stream 3")
        await page.keyboard.press("Control+Enter")
        await shown(page, "word3")
        await expect(place(page, "2/2")).to_be_visible(timeout=PATIENT_MS)
        await expect(log.get_by_text("stream 2")).to_have_count(0)

        # Back, by keyboard; the focus stays where it was.
        back = log.get_by_role("button", name="The way before")
        await expect(back).to_be_enabled(timeout=PATIENT_MS)
        await press(page, back)
        await expect(place(page, "1/2")).to_be_visible(timeout=PATIENT_MS)
        await shown(page, "stream 2", but_not="word3")
        await expect(log.get_by_role("button", name="The next way")).to_be_focused()
        await picture(page, "fork")

        # A second tab agrees, and a reload.
        other = await context.new_page()
        await other.goto(page.url)
        await expect(place(other, "1/2")).to_be_visible(timeout=PATIENT_MS)
        await shown(other, "stream 2", but_not="word3")
        await press(page, log.get_by_role("button", name="The next way"))
        await shown(other, "word3", but_not="stream 2")
        await expect(place(other, "2/2")).to_be_visible(timeout=PATIENT_MS)
        await page.reload()
        await shown(page, "word3", but_not="stream 2")
        await expect(place(page, "2/2")).to_be_visible(timeout=PATIENT_MS)

        # The turn is undone: what was written is in the box again, and all of it can be shown.
        await press(page, log.get_by_role("button", name="Undo from here"))
        await expect(composer(page)).to_have_value("stream 3", timeout=PATIENT_MS)
        await expect(transcript(other).get_by_text("word3")).to_have_count(0, timeout=PATIENT_MS)
        others = page.get_by_role("button", name="4 messages on other branches")
        await press(page, others)
        await picture(page, "others")
        await press(page, page.get_by_role("button", name="Delete branch 1"))
        await expect(page.get_by_text("Delete this branch with its 2 messages?")).to_be_visible()
        await press(page, page.get_by_role("button", name="Delete branch", exact=True))
        await expect(page.get_by_role("button", name="2 messages on other branches")).to_be_visible(timeout=PATIENT_MS)
        await press(page, page.get_by_role("button", name="Show", exact=True))
        await shown(page, "word3")

        # A conversation of its own.
        before = page.url
        branch = log.get_by_role("button", name="Branch into a new conversation").last
        await expect(branch).to_be_enabled(timeout=PATIENT_MS)
        await press(page, branch)
        await page.wait_for_url(lambda url: url != before, timeout=PATIENT_MS)
        await shown(page, "stream 3", "word3")
        await other.close()

        # On a phone a long press brings the actions out.
        phone_context = await browser.new_context(viewport=PHONE, locale="en", has_touch=True, color_scheme="dark")
        phone = await phone_context.new_page()
        await phone.goto(before)
        await shown(phone, "word3")
        row = transcript(phone).locator("[data-kind=user]")
        await row.dispatch_event("pointerdown", {"pointerType": "touch", "bubbles": True})
        await expect(row.locator(".actions.is-out")).to_be_visible(timeout=PATIENT_MS)
        await picture(phone, "phone")
