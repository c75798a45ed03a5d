"""Skills on their page of the settings, and the demo model that reads one."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from support.page import PHONE, WIDE, chromium, say, transcript
from support.stack import Stack

PATIENT_MS = 60_000
TEXT = "---\nname: knots\ndescription: How to tie a knot.\n---\n# Knots\n\nTie it **twice**."


def zipped(*names: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("SKILL.md", TEXT)
        for name in names:
            archive.writestr(name, "print('tied')\n")
    return content.getvalue()


async def picture(page: Page, name: str) -> None:
    if folder := os.environ.get("SCREENSHOTS"):
        await page.screenshot(path=Path(folder) / f"skills-{name}.png")


@pytest.mark.timeout(240)
async def test_skills_are_listed_uploaded_read_refused_and_deleted(stack: Stack) -> None:
    async with chromium() as browser:
        page = await browser.new_page(viewport=WIDE)
        await page.goto(f"{stack.base_url}/?settings=skills")
        rows = page.get_by_role("list", name="Skills").get_by_role("listitem")
        await expect(rows.filter(has_text="web-research")).to_contain_text("built in", timeout=PATIENT_MS)
        count = await rows.count()
        field = page.get_by_label("Upload a skill", exact=True).and_(page.locator("input"))
        file = {"name": "k.zip", "mimeType": "application/zip"}
        await field.set_input_files({**file, "buffer": zipped("../x")})
        await expect(page.get_by_role("alert")).to_contain_text("points outside the skill's folder")
        await field.set_input_files({**file, "buffer": zipped("scripts/tie.py")})
        await expect(page.get_by_text("knots is there now.")).to_be_visible()
        mine = rows.filter(has_text="How to tie a knot.")
        await expect(mine).to_contain_text("yours")
        await mine.get_by_role("button", name="knots").first.focus()
        await page.keyboard.press("Enter")
        await expect(mine.get_by_text("twice")).to_be_visible()
        await expect(mine).to_contain_text("scripts/tie.py")
        await picture(page, "wide")
        await page.get_by_label("From an address").fill("http://127.0.0.1:9/skill.zip")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("alert")).to_contain_text("Port 9 is not allowed")
        await page.reload()
        await mine.get_by_role("button", name="Delete knots").click(timeout=PATIENT_MS)
        await page.get_by_role("button", name="Delete skill").click()
        await expect(rows).to_have_count(count)
        await page.close()
        small = await browser.new_page(viewport=PHONE, locale="zh-CN", color_scheme="dark")
        await small.goto(f"{stack.base_url}/?settings=skills")
        await expect(small.get_by_role("listitem").filter(has_text="web-research")).to_contain_text(
            "内置", timeout=PATIENT_MS
        )
        assert await small.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        await picture(small, "phone")


@pytest.mark.timeout(240)
async def test_the_demo_reads_a_skill_and_runs_its_program(stack: Stack) -> None:
    async with chromium() as browser:
        page = await browser.new_page(viewport=WIDE)
        await page.goto(stack.base_url)
        await say(page, "Show me a skill")
        await expect(transcript(page).get_by_text("1 rows are there more than once")).to_be_visible(timeout=PATIENT_MS)
        await page.close()
