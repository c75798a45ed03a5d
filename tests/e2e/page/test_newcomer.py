"""What a newcomer does in the page: ask, watch, open the file, download it, take the desktop, give it back."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import expect

from support.page import PHONE, WIDE, chromium, composer, say, transcript
from support.stack import Stack


@pytest.mark.timeout(180)
async def test_a_newcomer_sees_the_tour_the_desktop_and_the_file(desktop_stack: Stack, tmp_path: Path) -> None:
    async with chromium() as browser:
        page = await browser.new_page(viewport=WIDE, locale="en")
        faults: list[str] = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        await page.goto(desktop_stack.base_url)
        await expect(page.get_by_text("demo model", exact=False).first).to_be_visible()
        await say(page, "Show me what you can do")
        await expect(transcript(page)).to_contain_text("demo model", ignore_case=True, timeout=20_000)
        await expect(page.get_by_role("button", name="Stop", exact=True)).to_be_hidden(timeout=120_000)

        # The panel followed the agent to its browser, which stands on the live desktop.
        await expect(page.get_by_role("tab", name="Desktop", selected=True)).to_be_visible()
        canvas = page.locator("canvas").first
        await expect(canvas).to_be_visible(timeout=30_000)
        colours = await canvas.evaluate(
            """async (canvas) => {
                for (let i = 0; i < 100; i++) {
                    const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data
                    const seen = new Set()
                    for (let at = 0; at < data.length; at += 404)
                        seen.add(data[at] << 16 | data[at + 1] << 8 | data[at + 2])
                    if (seen.size > 3) return seen.size
                    await new Promise((resolve) => setTimeout(resolve, 100))
                }
                return 0
            }"""
        )
        assert colours > 3, "the desktop shows nothing"

        await page.get_by_role("tab", name="Files").click()
        await page.get_by_text("tour", exact=False).last.click()
        async with page.expect_download(timeout=20_000) as downloading:
            await (
                page.get_by_role("button", name="Download").or_(page.get_by_role("link", name="Download")).first.click()
            )
        saved = tmp_path / "download"
        await (await downloading.value).save_as(saved)
        assert saved.stat().st_size > 0
        assert faults == []


async def test_a_phone_reaches_conversation_computer_and_sessions(desktop_stack: Stack) -> None:
    async with chromium() as browser:
        context = await browser.new_context(viewport=PHONE, locale="en", has_touch=True, is_mobile=True)
        page = await context.new_page()
        await page.goto(desktop_stack.base_url)
        await expect(composer(page)).to_be_visible()
        await say(page, "run echo from a phone")
        await expect(transcript(page)).to_contain_text("from a phone", timeout=30_000)
        width = await page.evaluate("document.documentElement.scrollWidth")
        assert width <= 390, "the page scrolls sideways"
