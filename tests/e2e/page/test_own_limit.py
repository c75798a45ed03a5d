"""A person with as many computers at work as allowed opens one more conversation."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from support.api_client import ApiClient
from support.page import PHONE, WIDE, chromium, say, transcript
from support.stack import run_stack

ALL_OF_IT = "text => text.scrollWidth <= text.clientWidth && text.scrollHeight <= text.clientHeight"
"""Whether nothing of a text is cut off."""


@pytest.mark.timeout(240)
async def test_the_next_conversation_waits_in_plain_words_and_has_the_first_computer_that_is_free(
    tmp_path: Path,
) -> None:
    with run_stack(tmp_path, SANDBOX_MAX_PER_USER="1", SANDBOX_DESKTOP="false") as stack:
        async with chromium() as browser, ApiClient(stack.base_url) as api:
            page = await browser.new_page(viewport=WIDE, locale="en")
            await page.goto(stack.base_url)
            await say(page, "run echo one")
            await page.wait_for_url("**/s/*")
            first = page.url.rpartition("/")[2]
            await expect(transcript(page).get_by_text("Done.", exact=False)).to_be_visible(timeout=60_000)

            await page.goto(stack.base_url)
            await say(page, "run echo two")
            await expect(page.get_by_text("All your computers are in use: waiting for one of them")).to_be_visible(
                timeout=20_000
            )
            await expect(page.get_by_text("As many of your computers are running as you may have.")).to_be_visible()
            await page.reload()
            told = page.get_by_text("All your computers are in use: waiting for one of them")
            await expect(told).to_be_visible()
            await page.set_viewport_size(PHONE)
            await expect(told).to_be_visible()
            assert await told.evaluate(ALL_OF_IT), "what it waits for is cut off on a phone"
            await page.set_viewport_size(WIDE)
            await api.json("DELETE", f"/sessions/{first}", expect=204)

            await expect(transcript(page).get_by_text("Done.", exact=False)).to_be_visible(timeout=60_000)
            await expect(page.get_by_text("All your computers are in use")).to_be_hidden()

            second = page.url.rpartition("/")[2].partition("?")[0]
            await _starts_by_hand_what_waits(page, api, stack.base_url, instead_of=second)


async def _starts_by_hand_what_waits(page: Page, api: ApiClient, base_url: str, *, instead_of: str) -> None:
    """No request waits for long, and the page asks again for as long as it is shown, without a word of a fault."""
    session = await api.new_session(title="by hand")
    await page.goto(f"{base_url}/s/{session}?panel=files")
    waits = page.get_by_text("As many of your computers are running as you may have.")
    async with page.expect_response(lambda answer: answer.status == 503 and answer.url.endswith("/sandbox")):
        await page.get_by_role("button", name="Start it").click()
        await expect(waits).to_be_visible(timeout=20_000)
    await expect(waits).to_be_visible()
    await expect(page.get_by_role("button", name="Try again")).to_be_hidden()
    await api.json("DELETE", f"/sessions/{instead_of}", expect=204)
    await expect(waits).to_be_hidden(timeout=60_000)
    assert (await api.json("GET", f"/sessions/{session}/sandbox"))["status"] in ("starting", "ready")
