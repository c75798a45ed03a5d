"""Whatever happens to the network or the page, the transcript is the same: nothing doubled, nothing missing."""

from __future__ import annotations

import asyncio
import random
import re
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Page, expect

from support.api_client import ApiClient
from support.flaky_proxy import FlakyProxy
from support.page import WIDE, chromium, composer, say, transcript
from support.stack import Stack

CUTS, RELOADS = 8, 2
WORDS = 5000
"""More than are said until the last interruption, however slow the machine: then the answer is stopped."""


async def shown_text(page: Page) -> str:
    return await transcript(page).inner_text()


async def wait_for_growth(page: Page, length: int) -> int:
    """Wait until more of the answer is shown than `length` characters."""
    async with asyncio.timeout(30):
        while (now := len(await shown_text(page))) <= length:
            await asyncio.sleep(0.02)
    return now


@pytest.mark.timeout(300)
async def test_cuts_and_reloads_leave_the_transcript_as_stored(stack: Stack) -> None:
    moments = random.Random(20261121)
    target = urlsplit(stack.base_url)
    events = [*(["cut"] * CUTS), *(["reload"] * RELOADS)]
    moments.shuffle(events)
    async with (
        FlakyProxy(target.hostname or "127.0.0.1", target.port or 80) as proxy,
        chromium() as browser,
        ApiClient(stack.base_url) as api,
    ):
        page = await browser.new_page(viewport=WIDE)
        session = await api.new_session()
        await page.goto(f"http://127.0.0.1:{proxy.port}/s/{session}")
        await expect(composer(page)).to_be_visible()
        await say(page, f"stream {WORDS}")
        length = await wait_for_growth(page, 40)
        for event in events:
            await asyncio.sleep(moments.uniform(0.05, 0.6))
            if event == "cut":
                proxy.cut()
            else:
                await page.reload()
                await expect(transcript(page).locator("[data-kind=user]")).to_have_count(1)
                length = 0
            assert await is_running(api, session), "the answer ended before the last interruption"
            length = await wait_for_growth(page, length)

        await api.json("POST", f"/sessions/{session}/stop", expect=202)
        await api.until(session, "run.finished", timeout_s=60)
        stored = await api.stored_events(session)
        answer = next(one["text"] for one in stored if one["type"] == "message.completed")
        fresh = await browser.new_page(viewport=WIDE)
        await fresh.goto(f"{stack.base_url}/s/{session}")
        await expect(transcript(fresh)).to_contain_text(answer.split()[-1])
        expected = await shown_text(fresh)
        await expect(transcript(page)).to_have_text(await transcript(fresh).text_content() or "")
        assert await shown_text(page) == expected
        said = [int(number) for number in re.findall(r"word(\d+)", answer)]
        assert said == list(range(1, len(said) + 1))
        shown = [int(number) for number in re.findall(r"word(\d+)", expected)]
        assert shown == said
        assert len([one for one in stored if one["type"] == "message.user"]) == 1
        assert proxy.cuts == CUTS


async def is_running(api: ApiClient, session: str) -> bool:
    state = await api.json("GET", f"/sessions/{session}/state")
    return state["session"]["status"] == "running"
