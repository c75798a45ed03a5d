"""A conversation is shared by a link, read by a stranger, and taken back."""

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
        await page.screenshot(path=Path(folder) / f"sharing-{name}.png")


@pytest.mark.timeout(240)
async def test_a_stranger_reads_what_was_shared_until_the_link_is_revoked(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session = await api.json("POST", "/sessions", expect=201, json={"title": "Tea"})
        await api.json("POST", f"/sessions/{session['id']}/runs", json={"text": "Say hello to the reader"})
        page = await browser.new_page(viewport=WIDE)
        await page.goto(f"{stack.base_url}/s/{session['id']}")
        await page.get_by_role("button", name="Share or export").first.click(timeout=PATIENT_MS)
        await picture(page, "dialog")
        await page.get_by_label("Passphrase").fill("open sesame")
        await page.get_by_role("radio", name="The conversation, live").check()
        await page.get_by_role("button", name="Make a live link").click()
        link = page.get_by_label("The link", exact=True)
        await expect(link).to_be_visible()
        address = await link.input_value()
        await picture(page, "made")
        stranger = await (await browser.new_context(viewport=PHONE, color_scheme="dark")).new_page()
        asked: list[str] = []
        stranger.on("request", lambda request: asked.append(request.url))
        await stranger.goto(address)
        await stranger.get_by_label("Passphrase").fill("open sesame")
        await picture(stranger, "locked")
        await stranger.get_by_role("button", name="Open").click()
        await expect(stranger.get_by_text("Say hello to the reader")).to_be_visible(timeout=PATIENT_MS)
        assert await stranger.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        await api.json("POST", f"/sessions/{session['id']}/runs", json={"text": "And once more"})
        await expect(stranger.get_by_text("And once more")).to_be_visible()
        await picture(stranger, "phone")
        await stranger.set_viewport_size(WIDE)
        await picture(stranger, "wide")
        token = address.partition("#")[2]
        assert len(token) > 40
        assert [url for url in asked if token in url.partition("#")[0]] == []
        await page.keyboard.press("Escape")
        # The dialog has an entry of the history, which is left a moment later than the dialog.
        await page.wait_for_function("!history.state?.covered")
        await page.goto(f"{stack.base_url}/?settings=shares")
        await expect(page.get_by_role("dialog", name="Settings")).to_be_visible(timeout=PATIENT_MS)
        await page.get_by_role("button", name="Revoke the link to Tea").click()
        await picture(page, "links")
        await page.get_by_role("button", name="Revoke", exact=True).click()
        await expect(page.get_by_text("The link is revoked.")).to_be_visible()
        await expect(stranger.get_by_text("And once more")).to_be_hidden(timeout=10_000)
        await expect(stranger.get_by_role("alert")).to_contain_text("does not work")
