"""The agent's to-do list above the message: kept while it works, opened by keyboard, and the same after a reload."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from support.api_client import ApiClient
from support.page import PHONE, WIDE, chromium, transcript
from support.stack import Stack, run_stack

PATIENT_MS = 60_000
LISTS = {"en": "To-do list of the agent", "zh-CN": "智能体的待办清单"}
COUNTS = {"en": "2 of 4 to-dos", "zh-CN": "4 项待办中已完成 2 项"}
ASKED = {"en": "make a to-do list for a tea party", "zh-CN": "列一份茶会的待办清单"}
ENDS = {"en": "Two of my to-dos are done.", "zh-CN": "有两项已经完成。"}
LINES = {
    "en": [
        "Done: Look at the clock",
        "Done: Think about a tea party",
        "Open: Tell what came of it",
        "Open: Ask what comes next",
    ],
    "zh-CN": ["已完成: 看看时间", "已完成: 想一想茶会", "未开始: 说说结果", "未开始: 问问接下来做什么"],
}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with run_stack(tmp_path_factory.mktemp("todos"), SANDBOX_DESKTOP="false") as running:
        yield running


async def picture(page: Page, name: str) -> None:
    """For looking at, where SCREENSHOTS names a folder."""
    if folder := os.environ.get("SCREENSHOTS"):
        await page.screenshot(path=Path(folder) / f"{name}.png")


async def fits(page: Page) -> bool:
    return await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    ("locale", "viewport", "scheme"),
    [("en", WIDE, "light"), ("en", PHONE, "dark"), ("zh-CN", PHONE, "light"), ("zh-CN", WIDE, "dark")],
)
async def test_what_it_has_to_do_is_seen_as_it_works_and_again_after_a_reload(
    own: Stack, locale: str, viewport: dict[str, int], scheme: str
) -> None:
    async with chromium() as browser, ApiClient(own.base_url) as api:
        context = await browser.new_context(viewport=viewport, locale=locale, color_scheme=scheme)
        page = await context.new_page()
        session = await api.new_session(title="named")
        await page.goto(f"{own.base_url}/s/{session}")
        name = f"todos-{locale}-{viewport['width']}-{scheme}"
        field = page.get_by_role("textbox", name="Message" if locale == "en" else "消息")
        await field.fill(ASKED[locale])
        await page.keyboard.press("Enter")
        await expect(transcript(page).get_by_text(ENDS[locale])).to_be_visible(timeout=PATIENT_MS)
        count = page.get_by_role("status").filter(has_text=COUNTS[locale])
        await expect(count).to_be_visible()
        await picture(page, f"{name}-closed")
        await page.locator("summary").filter(has=count).focus()
        await page.keyboard.press("Enter")
        lines = page.get_by_role("list", name=LISTS[locale]).get_by_role("listitem")
        await expect(lines).to_have_text(LINES[locale])
        assert await fits(page)
        await picture(page, f"{name}-open")
        await page.reload()
        await expect(count).to_be_visible(timeout=PATIENT_MS)
        statuses = [todo["status"] for todo in (await api.json("GET", f"/sessions/{session}/state"))["todos"]]
        assert statuses == ["completed", "completed", "pending", "pending"]
