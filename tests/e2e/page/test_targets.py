"""A remote host is added, tested, confirmed and worked on, as a person does it in the page."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from support.page import PHONE, WIDE, chromium
from support.sshd import NoSshdError, run_sshd
from support.stack import Stack

PATIENT_MS = 60_000


async def picture(page: Page, name: str) -> None:
    if folder := os.environ.get("SCREENSHOTS"):
        await page.screenshot(path=Path(folder) / f"targets-{name}.png")


@pytest.mark.timeout(240)
async def test_a_host_is_added_confirmed_and_chosen_for_a_conversation(stack: Stack, tmp_path: Path) -> None:
    try:
        async with run_sshd(tmp_path) as sshd, chromium() as browser:
            page = await browser.new_page(viewport=WIDE)
            await page.goto(f"{stack.base_url}/?settings=targets")
            await page.get_by_role("button", name="Add a remote host").click(timeout=PATIENT_MS)
            await page.get_by_label("Name").fill("Build")
            await page.get_by_label("Host", exact=True).fill("127.0.0.1")
            await page.get_by_label("Port").fill(str(sshd.port))
            await page.get_by_label("User on that host").fill(sshd.username)
            await page.get_by_label("Working folder").fill("~/builds")
            await picture(page, "form")
            await page.get_by_role("button", name="Save").click()
            shown = page.get_by_text("ssh-ed25519 AAAA").first
            await expect(shown).to_be_visible(timeout=PATIENT_MS)
            sshd.authorize((await shown.inner_text()).strip())
            await page.get_by_role("button", name="Test connection").click()
            confirm = page.get_by_role("button", name="This is the right machine")
            await expect(confirm).to_be_visible(timeout=PATIENT_MS)
            await picture(page, "fingerprint")
            await confirm.click()
            await expect(page.get_by_text("Build works.")).to_be_visible(timeout=PATIENT_MS)
            await picture(page, "ready")
            small = await browser.new_page(viewport=PHONE, locale="zh-CN", color_scheme="dark")
            await small.goto(f"{stack.base_url}/?settings=targets")
            await expect(small.get_by_role("button", name="Build").first).to_be_visible(timeout=PATIENT_MS)
            await small.get_by_role("button", name="Build").first.click()
            assert await small.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
            await picture(small, "phone")
            await page.goto(stack.base_url)
            await page.get_by_role("button", name="Computer: Usual computer").click(timeout=PATIENT_MS)
            await page.get_by_role("menuitemradio", name="Build").click()
            await picture(page, "chosen")
            box = page.get_by_role("textbox").last
            await box.fill("Hello")
            await box.press("Enter")
            await expect(page.get_by_title("Works on Build")).to_be_visible(timeout=PATIENT_MS)
            await picture(page, "conversation")
    except NoSshdError as error:
        pytest.skip(f"no real sshd: {error}")
