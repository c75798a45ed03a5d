"""A terminal of the user's own, and the shells of the agent, in the panel of the computer."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, WebSocketRoute, expect

from support.api_client import ApiClient
from support.page import PHONE, WIDE, chromium
from support.stack import Stack

PATIENT_MS = 60_000
SOCKET = re.compile(r"/api/sessions/[^/]+/terminal\?")


def rows(page: Page) -> Locator:
    return page.locator(".xterm-rows")


async def type_line(page: Page, text: str) -> None:
    await page.keyboard.type(text)
    await page.keyboard.press("Enter")


async def picture(page: Page, name: str) -> None:
    """Kept where somebody wants to look at it."""
    if folder := os.environ.get("PAGE_PICTURES"):
        await page.screenshot(path=Path(folder) / f"{name}.png")


async def open_own(page: Page, stack: Stack, session: str, shows: str = "$") -> None:
    await page.goto(f"{stack.base_url}/s/{session}?panel=terminal")
    own = page.get_by_role("button", name="Your terminal", exact=True)
    new = page.get_by_role("button", name="New terminal")
    computer = page.get_by_role("tab", name="Computer")
    await expect(new.or_(computer).first).to_be_visible(timeout=PATIENT_MS)
    if await computer.count():
        await computer.click()
    await expect(new).to_be_visible(timeout=PATIENT_MS)
    await page.wait_for_timeout(300)
    await (own if await own.count() else new).click()
    await expect(rows(page)).to_contain_text(shows, timeout=PATIENT_MS)


@pytest.mark.timeout(400)
async def test_a_terminal_of_ones_own_is_usable_by_two_and_survives_a_cut(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session = await api.new_session()
        await api.ask(session, "run seq 10000")
        context = await browser.new_context(viewport=WIDE, locale="en")
        page, cut = await context.new_page(), list[WebSocketRoute]()

        async def carry(route: WebSocketRoute) -> None:
            cut.append(route)
            route.connect_to_server()

        await page.route_web_socket(SOCKET, carry)
        await page.goto(f"{stack.base_url}/s/{session}?panel=terminal")
        # What the agent's shell wrote is there whole, though the event has the first of it.
        await expect(rows(page)).to_contain_text("10000", timeout=PATIENT_MS)
        await page.locator(".xterm-screen").click()
        for _ in range(500):
            await page.keyboard.press("Shift+PageUp")
        await expect(rows(page)).to_contain_text("$ seq 10000")
        await picture(page, "terminal-agent")

        await open_own(page, stack, session)
        await type_line(page, "printf '\\033[31mr%sd\\033[0m\\n' e; ls --color=always -d /")
        await expect(page.locator(".xterm-rows .xterm-fg-1", has_text="red")).to_be_visible(timeout=PATIENT_MS)
        await type_line(page, "seq 10000; echo do''ne")
        await expect(rows(page)).to_contain_text("done", timeout=PATIENT_MS)
        await expect(rows(page)).to_contain_text("9999")

        await type_line(page, "clear; for one in vim vi nano less; do command -v $one; done; echo lis''ted")
        await expect(rows(page)).to_contain_text("listed", timeout=PATIENT_MS)
        found = await rows(page).inner_text()
        assert "/vi" in found, f"this machine has no vi to try: {found}"
        await type_line(page, "clear; vi -u NONE poem.txt")
        await expect(rows(page)).to_contain_text("poem.txt", timeout=PATIENT_MS)
        await page.keyboard.type("ia line of mine")
        await expect(rows(page)).to_contain_text("a line of mine")
        await picture(page, "terminal-vi")

        other = await context.new_page()
        await open_own(other, stack, session, shows="a line of mine")
        await other.keyboard.press("Escape")
        await type_line(other, ":wq")
        await type_line(other, "clear; cat poem.txt; echo wri''tten")
        await expect(rows(page)).to_contain_text("written", timeout=PATIENT_MS)

        connections = len(cut)
        await cut[-1].close(code=3001)
        await expect(page.get_by_text("The connection was cut.")).to_be_visible()
        await type_line(other, "echo mean''while")
        await expect(rows(page)).to_contain_text("meanwhile", timeout=PATIENT_MS)
        await expect(rows(page)).to_contain_text("written")
        assert len(cut) == connections + 1

        await page.bring_to_front()
        await page.get_by_role("button", name="Your terminal", exact=True).click()
        await page.locator(".xterm-screen").click()
        await page.keyboard.press("Control+Alt+Shift")
        await expect(page.get_by_role("button", name="Your terminal", exact=True)).to_be_focused()
        await type_and_end(page)


async def type_and_end(page: Page) -> None:
    await page.locator(".xterm-screen").click()
    await type_line(page, "exit 3")
    await expect(page.get_by_text("The shell has ended with exit code 3.")).to_be_visible(timeout=PATIENT_MS)
    await page.get_by_role("button", name="Start it again").click()
    await expect(rows(page)).to_contain_text("$", timeout=PATIENT_MS)


@pytest.mark.timeout(200)
async def test_a_phone_has_the_keys_its_keyboard_lacks(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session = await api.new_session()
        await api.ask(session, "run true")
        for scheme in ("light", "dark"):
            context = await browser.new_context(viewport=PHONE, locale="en", has_touch=True, color_scheme=scheme)
            page = await context.new_page()
            await open_own(page, stack, session)
            await type_line(page, "clear; sleep 1000")
            await page.get_by_role("button", name="Ctrl").click()
            await page.keyboard.type("c")
            await type_line(page, "echo inter''rupted")
            await expect(rows(page)).to_contain_text("interrupted", timeout=PATIENT_MS)
            await page.get_by_role("button", name="Arrow up").click()
            await page.keyboard.press("Enter")
            await expect(rows(page).get_by_text(re.compile("^interrupted"))).to_have_count(2, timeout=PATIENT_MS)
            await picture(page, f"terminal-phone-{scheme}")
            await context.close()
