"""Messages that are sent by themselves, on their page of the settings and in the conversations they begin."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from support.api_client import ApiClient
from support.page import PHONE, WIDE, chromium
from support.stack import Stack

PATIENT_MS = 60_000
TEXT = "Say hello to the otters"


async def picture(page: Page, name: str) -> None:
    if folder := os.environ.get("SCREENSHOTS"):
        await page.screenshot(path=Path(folder) / f"schedules-{name}.png")


@pytest.mark.timeout(300)
async def test_one_is_made_by_the_keyboard_sent_by_itself_read_paused_and_deleted(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        page = await browser.new_page(viewport=WIDE, timezone_id="Asia/Tokyo")
        await page.goto(f"{stack.base_url}/?settings=schedules")
        await expect(page.get_by_text("There are no schedules yet.")).to_be_visible(timeout=PATIENT_MS)
        await picture(page, "none")
        await page.get_by_role("button", name="New schedule").focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_label("What the agent is told")).to_be_focused()
        await page.keyboard.type(TEXT)
        await expect(page.get_by_label("Time zone")).to_have_value("Asia/Tokyo")
        await page.get_by_label("Repeats").select_option("cron")
        await page.get_by_label("Cron line").fill("0 25 * * *")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("alert")).to_contain_text("The hour (2nd field)")
        await picture(page, "wrong")
        await page.get_by_label("Repeats").select_option("weekdays")
        await page.get_by_label("Time", exact=True).fill("07:30")
        await page.get_by_label("Preset").select_option("chat")
        await page.get_by_role("button", name="Save").click()
        row = page.get_by_role("list", name="Schedules").get_by_role("listitem")
        await expect(row).to_contain_text("Monday to Friday at 07:30")
        await expect(row).to_contain_text("Next: ")
        (schedule,) = (await api.json("GET", "/schedules"))["items"]
        next_at = datetime.fromisoformat(schedule["next_at"])
        assert (next_at.hour, next_at.minute, schedule["timezone"]) == (22, 30, "Asia/Tokyo")

        # It is sent while the page is open, which shows that without being asked.
        soon = (datetime.now(UTC) + timedelta(seconds=2)).isoformat()
        await api.json("PATCH", f"/schedules/{schedule['id']}", json={"at": soon})
        await expect(row).to_contain_text("last: ", timeout=PATIENT_MS)
        await expect(row).to_contain_text("done", timeout=PATIENT_MS)
        await picture(page, "sent")
        await row.get_by_role("button", name=TEXT).first.click()
        await picture(page, "wide")
        await row.get_by_role("link", name="Open the last conversation").click()
        await expect(page.get_by_text("Sent by a schedule.")).to_be_visible(timeout=PATIENT_MS)
        await expect(page.get_by_role("main").get_by_text(TEXT).first).to_be_visible()
        await picture(page, "conversation")
        (session,) = (await api.json("GET", "/sessions"))["items"][:1]
        assert session["preset"] == "chat"

        # From this conversation: once more, there.
        await page.goto(f"{page.url.partition('?')[0]}?settings=schedules")
        await page.get_by_role("button", name=f"Edit {TEXT}").click()
        place = page.get_by_label("Sent to")
        await expect(place.locator("option")).to_have_count(2, timeout=PATIENT_MS)
        await place.select_option(session["id"])
        await page.get_by_label("Repeats").select_option("daily")
        await picture(page, "form")
        await page.get_by_role("button", name="Save").click()
        await expect(row).to_contain_text("every day at 09:00")
        await row.get_by_role("button", name=TEXT).first.click()
        await row.get_by_role("button", name="Run now").click()
        await expect(page.get_by_text("The message is sent.")).to_be_visible()
        await row.get_by_role("button", name="Pause").click()
        await expect(row).to_contain_text("Paused")

        small = await browser.new_page(viewport=PHONE, locale="zh-CN", color_scheme="dark", timezone_id="Asia/Tokyo")
        await small.goto(f"{stack.base_url}/?settings=schedules")
        await small.get_by_role("list", name="定时任务").get_by_role("button", name=TEXT).first.click()
        assert await small.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        await picture(small, "phone")
        await small.get_by_role("button", name=f"编辑 {TEXT}").click()
        await picture(small, "phone-form")
        assert await small.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]

        async with asyncio.timeout(60):
            while (await api.json("GET", f"/sessions/{session['id']}"))["status"] != "idle":
                await asyncio.sleep(0.2)
        said = [one for one in await api.stored_events(session["id"]) if one["type"] == "message.user"]
        assert [one["text"] for one in said] == [TEXT, TEXT]
        await row.get_by_role("button", name=f"Delete {TEXT}").click()
        await row.get_by_role("button", name="Delete schedule").click()
        await expect(page.get_by_text("There are no schedules yet.")).to_be_visible()
