"""A paper on its page: begun, written, compared with what somebody else wrote, checked and exported."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from support.api_client import ApiClient
from support.page import PHONE, WIDE, chromium
from support.stack import Stack

PATIENT_MS = 60_000
TEXT = """Nets are *deep*, and 深度学习 is old [@made2024up].

## What follows

| model | layers |
|---|---|
| small | 2 |
| large | 152 |

The loss is $L = -\\sum_i y_i \\log p_i$.
"""


async def picture(page: Page, name: str) -> None:
    if folder := os.environ.get("SCREENSHOTS"):
        await page.screenshot(path=Path(folder) / f"writing-{name}.png")


@pytest.mark.timeout(300)
async def test_a_paper_is_written_with_another_one_and_exported(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        context = await browser.new_context(viewport=WIDE)
        page = await context.new_page()
        await page.goto(f"{stack.base_url}/writing")
        await page.get_by_label("Title of a new project").fill("A review of deep nets")
        await page.keyboard.press("Enter")
        await page.get_by_label("Title of the section").fill("Introduction")
        await page.keyboard.press("Enter")
        editor = page.get_by_label("Text of “Introduction”", exact=True)
        await expect(editor).to_be_visible(timeout=PATIENT_MS)
        await editor.click()
        await page.keyboard.insert_text(TEXT)
        await page.keyboard.press("Control+s")
        await expect(page.get_by_text("Saved.")).to_be_visible()
        (listed,) = (await api.json("GET", "/writing"))["items"]
        url = f"/writing/{listed['id']}"
        (section,) = (await api.json("GET", url))["sections"]
        assert section["text"] == TEXT
        headers = {"If-Match": f'"{section["etag"]}"'}
        await api.json("PUT", f"{url}/sections/s1", json={"text": f"By another.\n\n{TEXT}"}, headers=headers)
        await editor.click()
        await page.keyboard.press("Control+End")
        await page.keyboard.insert_text("By me.")
        await page.keyboard.press("Control+s")
        await expect(page.get_by_role("alert")).to_contain_text("Somebody else has changed this section")
        await picture(page, "conflict")
        await page.get_by_role("button", name="Keep mine").click()
        await expect(page.get_by_text("Saved.")).to_be_visible()
        await page.get_by_role("button", name="Check citations").click()
        await expect(page.get_by_text("1 cited, 1 does not hold.")).to_be_visible()
        await picture(page, "wide")
        (section,) = (await api.json("GET", url))["sections"]
        headers = {"If-Match": f'"{section["etag"]}"'}
        better = {
            "text": section["text"].replace("Nets are", "Neural networks are"),
            "instruction": "Name them in full",
        }
        await api.json("POST", f"{url}/sections/s1/suggestion", json=better, headers=headers)
        await page.reload()
        await expect(page.get_by_text("For: Name them in full")).to_be_visible(timeout=PATIENT_MS)
        await picture(page, "suggestion")
        suggested = page.get_by_label("Suggested text of “Introduction”")
        await suggested.click()
        await page.keyboard.press("Control+Home")
        await page.keyboard.insert_text("Today: ")
        other = await context.new_page()
        await other.goto(f"{stack.base_url}{url}")
        await expect(other.get_by_text("You have changed this suggestion")).to_be_visible(timeout=PATIENT_MS)
        await editor.click()
        await page.keyboard.press("Control+End")
        await page.keyboard.insert_text("\n\nAnd more.")
        await expect(other.get_by_label("Text of “Introduction”", exact=True)).to_contain_text("And more.")
        await page.reload()
        await expect(suggested).to_contain_text("Today: ", timeout=PATIENT_MS)
        await page.get_by_role("button", name="Accept", exact=True).last.click()
        await expect(page.get_by_text("What you had not saved stands in it")).to_be_visible()
        await expect(page.get_by_text("For: Name them in full")).not_to_be_visible()
        await expect(editor).to_contain_text("And more.")
        await page.get_by_role("button", name="Save", exact=True).click()
        await expect(page.get_by_text("Saved.")).to_be_visible()
        (section,) = (await api.json("GET", url))["sections"]
        assert section["text"].startswith("Today: ")
        assert section["text"].endswith("And more.")
        await expect(other.get_by_label("Text of “Introduction”", exact=True)).to_contain_text("Today: ")
        await expect(other.get_by_role("alert")).to_have_count(0)
        await page.get_by_role("button", name="Preview").click()
        await expect(page.get_by_text("[citation not verified: made2024up]")).to_be_visible(timeout=PATIENT_MS)
        await picture(page, "preview")
        await page.get_by_role("button", name="Export", exact=True).click()
        await expect(page.get_by_text("Not exported: 1 citation does not hold.")).to_be_visible()
        async with page.expect_download(timeout=PATIENT_MS) as begun:
            await page.get_by_role("button", name="Export with marks").click()
        download = await begun.value
        assert download.suggested_filename == "A review of deep nets.pdf"
        assert Path(await download.path()).read_bytes().startswith(b"%PDF-")
        await page.get_by_role("button", name="Versions").click()
        await expect(page.get_by_text("suggestion accepted")).to_be_visible()
        await picture(page, "versions")
        small = await browser.new_page(viewport=PHONE, locale="zh-CN", color_scheme="dark")
        await small.goto(f"{stack.base_url}{url}")
        await expect(small.get_by_role("heading", name="Introduction")).to_be_visible(timeout=PATIENT_MS)
        await picture(small, "phone")
        assert await small.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        title = await small.get_by_role("heading", name="A review of deep nets").bounding_box()
        assert title is not None
        assert title["width"] > PHONE["width"] / 2
        await small.get_by_role("region", name="参考文献").scroll_into_view_if_needed()
        await expect(small.get_by_role("region", name="参考文献")).to_be_in_viewport()
