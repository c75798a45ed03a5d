"""A report of the workspace is read as it is meant, with the pictures beside it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from playwright.async_api import expect

from support.api_client import ApiClient
from support.page import PHONE, WIDE, chromium
from support.photographs import png
from support.stack import Stack

PATIENT_MS = 60_000
REPORT = """# Sales

![Sales by month](chart.png)

![Of elsewhere](https://pictures.invalid/pixel.png) and ![missing](none.png)

[Notes](notes.md) and the end.
"""


@pytest.mark.timeout(180)
async def test_a_report_shows_the_picture_beside_it_and_fetches_none_of_elsewhere(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session = await api.new_session()
        files = [
            ("files", ("report.md", REPORT.encode(), "text/markdown")),
            ("files", ("notes.md", b"# Notes", "text/markdown")),
            ("files", ("chart.png", png(600, 300, shade=120), "image/png")),
        ]
        uploaded = await api.http.post(
            f"/sessions/{session}/files", params={"subdir": "results"}, files=files, timeout=60
        )
        assert uploaded.status_code == 201, uploaded.text
        folder = next(iter(uploaded.json()["uploaded"])).rpartition("/")[0].removeprefix("/workspace/")
        for name, viewport, scheme in (("wide", WIDE, "light"), ("phone", PHONE, "dark")):
            context = await browser.new_context(viewport=viewport, locale="en", color_scheme=scheme)
            page = await context.new_page()
            asked: list[str] = []
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            await page.goto(f"{stack.base_url}/s/{session}?panel=files")
            if name == "phone":
                await page.get_by_role("tab", name="Computer").click()
            for part in [*folder.split("/"), "report.md"]:
                await page.get_by_role("button", name=re.compile(f"^{re.escape(part)}")).click()
            picture = page.get_by_role("img", name="Sales by month")
            await expect(picture).to_be_visible(timeout=PATIENT_MS)
            assert await picture.evaluate("(one) => one.decode().then(() => one.naturalWidth)") == 600
            await expect(page.get_by_role("link", name="Of elsewhere")).to_be_visible()
            await expect(page.get_by_role("link", name="missing")).to_be_visible()
            assert not [url for url in asked if not url.startswith((stack.base_url, "blob:", "data:"))]
            if shots := os.environ.get("SCREENSHOTS"):
                await page.screenshot(path=Path(shots) / f"report-{name}.png")
            await picture.click()
            large = page.get_by_role("dialog", name="Sales by month")
            await expect(large.get_by_role("img")).to_be_visible()
            await large.get_by_role("button", name="Show in the files").click()
            await expect(page.get_by_role("region", name="chart.png")).to_be_visible(timeout=PATIENT_MS)
            await page.get_by_role("button", name="Back to files").click()
            await page.get_by_role("button", name=re.compile("^report.md")).click()
            await page.get_by_role("link", name="Notes").click()
            await expect(page.get_by_role("region", name="notes.md")).to_be_visible(timeout=PATIENT_MS)
            await context.close()
