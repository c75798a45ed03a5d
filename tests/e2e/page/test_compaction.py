"""A conversation is summed up in the page: how full the context is, a focus, and the summary to read."""

from __future__ import annotations

import json

import pytest
from playwright.async_api import expect

from support.api_client import ApiClient
from support.page import PHONE, WIDE, chromium, composer, say, transcript
from support.stack import Stack


@pytest.mark.timeout(180)
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["desktop", "phone"])
async def test_it_is_summed_up_with_a_focus_and_goes_on(stack: Stack, size: dict[str, int]) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        page = await browser.new_page(viewport=size, locale="en")
        session = await api.new_session()
        await page.goto(f"{stack.base_url}/s/{session}")
        await expect(composer(page)).to_be_visible()
        await expect(page.get_by_role("button", name="Context")).to_have_count(0)
        await say(page, "run echo hello")
        await expect(transcript(page).get_by_text("The command says")).to_be_visible(timeout=60_000)
        await page.get_by_role("button", name="Context").click()
        await page.get_by_role("textbox", name="Sum up now").fill("the greeting")
        await page.keyboard.press("Enter")
        divider = transcript(page).get_by_role("button", name="Summed up")
        await expect(divider).to_be_visible(timeout=30_000)
        await divider.click()
        await expect(transcript(page).get_by_text("Focus: the greeting")).to_be_visible()
        await expect(transcript(page).get_by_text("run echo hello", exact=False).last).to_be_visible()
        stored = await api.stored_events(session)
        path = next(event for event in stored if event["type"] == "context.compacted")["transcript"]
        assert path.startswith(".transcripts/transcript_")
        written = await api.http.get(f"/sessions/{session}/files/download", params={"path": path})
        types = [json.loads(line)["type"] for line in written.text.splitlines()]
        assert types[:2] == ["message.user", "run.queued"]
        await say(page, "run echo again")
        await expect(transcript(page).get_by_text("again").last).to_be_visible(timeout=60_000)
        await page.reload()
        await expect(transcript(page).get_by_role("button", name="Summed up")).to_be_visible()
