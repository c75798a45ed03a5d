"""What the agent remembers of a person, on its page of the settings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from support.api_client import ApiClient
from support.page import PHONE, WIDE, chromium
from support.stack import Stack

PATIENT_MS = 60_000


async def picture(page: Page, name: str) -> None:
    if folder := os.environ.get("SCREENSHOTS"):
        await page.screenshot(path=Path(folder) / f"memories-{name}.png")


@pytest.mark.timeout(240)
async def test_memories_are_written_and_deleted_and_a_change_of_somebody_else_is_not_lost(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        page = await browser.new_page(viewport=WIDE)
        await page.goto(f"{stack.base_url}/?settings=memories")
        await expect(page.get_by_text("Nothing is remembered yet.")).to_be_visible(timeout=PATIENT_MS)
        await page.get_by_role("button", name="New memory").focus()
        await page.keyboard.press("Enter")
        await page.get_by_label("Name").fill("tea.md")
        await page.get_by_label("Text").fill("Likes tea")
        await picture(page, "editor")
        await page.get_by_role("button", name="Save").click()
        row = page.get_by_role("list", name="Memories").get_by_role("button", name="tea.md")
        await expect(row).to_contain_text("9")
        await picture(page, "wide")
        await row.click()
        kept = await api.json("GET", "/memories/tea.md")
        headers = {"If-Match": f'"{kept["etag"]}"'}
        await api.json("PUT", "/memories/tea.md", json={"content": "Likes coffee"}, headers=headers)
        await page.get_by_label("Text").fill("Likes green tea")
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("alert")).to_contain_text("Likes coffee")
        await picture(page, "conflict")
        assert (await api.json("GET", "/memories/tea.md"))["content"] == "Likes coffee"
        await page.get_by_role("button", name="Keep mine").click()
        await expect(row).to_contain_text("15")
        small = await browser.new_page(viewport=PHONE, locale="zh-CN", color_scheme="dark")
        await small.goto(f"{stack.base_url}/?settings=memories")
        await expect(small.get_by_role("button", name="tea.md")).to_be_visible(timeout=PATIENT_MS)
        assert await small.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        await picture(small, "phone")
        assert (await api.json("GET", "/memories/tea.md"))["content"] == "Likes green tea"
        await row.click()
        await page.get_by_role("button", name="Delete", exact=True).click()
        await page.get_by_role("button", name="Delete for good").click()
        await expect(page.get_by_text("Nothing is remembered yet.")).to_be_visible()
