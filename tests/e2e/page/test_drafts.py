"""What is being written and attached belongs to its own conversation."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from support.api_client import ApiClient
from support.page import WIDE, chromium, composer, say, transcript
from support.stack import Stack

PATIENT_MS = 60_000


async def attach(page: Page, name: str) -> None:
    given = {"name": name, "mimeType": "text/plain", "buffer": b"words"}
    await page.locator("form input[type=file]").set_input_files(files=[given])  # type: ignore[list-item]


async def sent(api: ApiClient, session: str) -> list[tuple[str, list[str]]]:
    stored = await api.stored_events(session)
    return [(one["text"], one["attachments"]) for one in stored if one["type"] == "message.user"]


@pytest.mark.timeout(180)
async def test_files_and_words_stay_with_the_conversation_they_are_for(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        first, second = await api.new_session(title="First draft"), await api.new_session(title="Second draft")
        page = await browser.new_page(viewport=WIDE, locale="en")
        chips = page.get_by_role("list", name="Attached files")
        await page.goto(f"{stack.base_url}/s/{first}")
        await composer(page).fill("about this file")
        await attach(page, "mine.txt")
        # Its name alone: neither how far it is, nor why it did not arrive.
        await expect(chips).to_have_text("mine.txt", timeout=PATIENT_MS)

        await page.get_by_role("link", name="Second draft").click()
        await expect(composer(page)).to_have_value("")
        await expect(chips).to_be_hidden()
        await say(page, "run echo no file")
        await api.until(second, "run.finished", timeout_s=60)
        assert await sent(api, second) == [("run echo no file", [])]

        await page.get_by_role("link", name="First draft").click()
        await expect(composer(page)).to_have_value("about this file")
        await expect(chips.get_by_text("mine.txt")).to_be_visible()
        await composer(page).press("Enter")
        await expect(composer(page)).to_have_value("")
        await expect(chips).to_be_hidden()
        await expect(transcript(page).get_by_text("about this file", exact=True).first).to_be_visible()
        await api.until(first, "run.finished", timeout_s=60)
        assert await sent(api, first) == [("about this file", ["mine.txt"])]


@pytest.mark.timeout(180)
async def test_a_file_that_begins_a_conversation_and_the_words_beside_it_go_along(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        page = await browser.new_page(viewport=WIDE, locale="en")
        await page.goto(stack.base_url)
        await composer(page).fill("read this first")
        await attach(page, "first.txt")
        await page.wait_for_url("**/s/*")
        await expect(composer(page)).to_have_value("read this first")
        await composer(page).press("Enter")
        session = page.url.rpartition("/")[2]
        await api.until(session, "run.finished", timeout_s=90)
        assert await sent(api, session) == [("read this first", ["first.txt"])]
        await page.goto(stack.base_url)
        await expect(composer(page)).to_have_value("")
