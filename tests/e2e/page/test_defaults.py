"""What a person chooses as the default acts in each new conversation, and gives way to the server's again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from support.api_client import ApiClient
from support.page import PHONE, WIDE, chromium, composer, say, transcript
from support.stack import run_stack

PATIENT_MS = 60_000


async def picture(page: Page, name: str) -> None:
    """For looking at, where SCREENSHOTS names a folder."""
    if folder := os.environ.get("SCREENSHOTS"):
        await page.wait_for_timeout(400)
        await page.screenshot(path=Path(folder) / f"{name}.png")


@pytest.mark.timeout(240)
async def test_a_default_acts_in_a_new_conversation_until_it_is_taken_back(tmp_path: Path) -> None:
    with run_stack(tmp_path / "stack", SANDBOX_DESKTOP="false") as stack:
        async with chromium() as browser, ApiClient(stack.base_url) as api:
            page = await (await browser.new_context(viewport=WIDE, locale="en")).new_page()
            await page.goto(f"{stack.base_url}/?settings=defaults")
            asks = page.get_by_role("group", name="Ask before changing anything")
            await expect(asks.get_by_role("radio", name="No")).to_be_checked()
            await asks.get_by_role("radio", name="No").press("ArrowRight")
            back = page.get_by_role("button", name="Go back to the server’s: Ask before changing anything")
            await expect(back).to_be_visible()
            await page.get_by_role("button", name="Set rules").press("Enter")
            rule = page.get_by_role("combobox", name="Rule for browser_click")
            await rule.select_option("denied")
            await page.keyboard.press("Escape")
            await expect(rule).to_have_count(0)
            await expect(page.get_by_role("button", name="1 rule", exact=True)).to_be_focused()
            await picture(page, "defaults-wide")
            await page.keyboard.press("Escape")

            await page.get_by_role("button", name="How the agent works here").click()
            await expect(asks.get_by_role("radio", name="Yes")).to_be_checked()
            await page.keyboard.press("Escape")
            await say(page, "Run df -h")
            await transcript(page).get_by_role("button", name="Approve", exact=True).click(timeout=PATIENT_MS)
            session = page.url.rpartition("/")[2].partition("?")[0]
            await api.until(session, "run.finished", timeout_s=60)
            assert (await api.json("GET", f"/sessions/{session}"))["options"] == {}

            phone = await browser.new_context(viewport=PHONE, locale="zh-CN", color_scheme="dark")
            other = await phone.new_page()
            await other.goto(f"{stack.base_url}/?settings=defaults")
            await expect(other.get_by_role("button", name="1 条规则")).to_be_visible()
            assert await other.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
            await picture(other, "defaults-phone")
            edges = await other.get_by_role("button", name="1 条规则").bounding_box()
            assert edges is not None
            assert edges["x"] + edges["width"] <= PHONE["width"]
            await other.get_by_role("button", name="改回服务器的设置：改动之前先问我").click()
            await expect(other.get_by_role("radio", name="不问")).to_be_checked()

            await page.goto(stack.base_url)
            await expect(composer(page)).to_be_visible()
            await say(page, "Run df -h")
            await expect(transcript(page).get_by_text("The command says")).to_be_visible(timeout=PATIENT_MS)
