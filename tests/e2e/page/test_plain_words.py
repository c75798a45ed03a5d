"""What the page says is so: the desktop is live once it is seen, a preview is still, a file is too large by so much."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from support.page import WIDE, chromium, composer, say, show_desktop, transcript
from support.stack import Stack

PATIENT_MS = 60_000
WITHHOLD = """
// What the desktop sends once its viewer is connected and asks for a picture, kept until `letGo` is called.
const kept = []
let isOpen = false
const isDesktop = (socket) => socket.url.includes('/vnc?')
const { send } = WebSocket.prototype
WebSocket.prototype.send = function (data) {
    if (isDesktop(this) && data.byteLength >= 10 && data[0] !== 'R'.charCodeAt(0)) window.hasAsked = true
    return send.call(this, data)
}
const plain = Object.getOwnPropertyDescriptor(WebSocket.prototype, 'onmessage')
Object.defineProperty(WebSocket.prototype, 'onmessage', {
    ...plain,
    set(handle) {
        plain.set.call(this, (event) => {
            if (isDesktop(this) && window.hasAsked && !isOpen) kept.push(() => handle.call(this, event))
            else handle.call(this, event)
        })
    },
})
window.letGo = () => {
    isOpen = true
    kept.splice(0).forEach((give) => give())
}
"""


async def begun(page: Page, stack: Stack, text: str) -> None:
    await page.goto(stack.base_url)
    await say(page, text)


@pytest.mark.timeout(180)
async def test_live_is_said_once_the_desktop_is_seen(desktop_stack: Stack) -> None:
    async with chromium() as browser:
        page = await browser.new_page(viewport=WIDE, locale="en")
        await page.add_init_script(WITHHOLD)
        await begun(page, desktop_stack, "run echo hello")
        await show_desktop(page)
        async with asyncio.timeout(PATIENT_MS / 1000):
            while not await page.evaluate("window.hasAsked === true"):
                await asyncio.sleep(0.05)
        await page.wait_for_timeout(500)
        await expect(page.get_by_text("Connecting to the desktop")).to_be_visible()
        await expect(page.get_by_text("Watching live")).to_have_count(0)
        await page.evaluate("window.letGo()")
        await expect(page.get_by_text("Watching live")).to_be_visible(timeout=PATIENT_MS)


@pytest.mark.timeout(180)
async def test_each_message_says_whose_it_is(stack: Stack) -> None:
    async with chromium() as browser:
        page = await browser.new_page(viewport=WIDE, locale="en")
        await begun(page, stack, "run echo hello")
        await expect(transcript(page).locator("[data-kind=end]")).to_be_attached(timeout=PATIENT_MS)
        for kind, who in (("user", "You"), ("assistant", "Agent")):
            first = transcript(page).locator(f"[data-kind={kind}]").first
            await expect(first.locator("p").first).to_have_text(who)
            label = await first.locator("p").first.bounding_box()
            assert label is not None
            assert max(label["width"], label["height"]) <= 1, "it is for those who hear the page"


@pytest.mark.timeout(180)
async def test_a_preview_of_html_says_that_it_is_still(stack: Stack) -> None:
    async with chromium() as browser:
        page = await browser.new_page(viewport=WIDE, locale="en")
        await begun(page, stack, "run echo '<h1>Hello</h1>' > page.html")
        await expect(transcript(page).locator("[data-kind=end]")).to_be_attached(timeout=PATIENT_MS)
        await page.get_by_role("tab", name="Files").click()
        await page.get_by_text("page.html", exact=True).last.click()
        await expect(page.frame_locator("iframe").get_by_role("heading", name="Hello")).to_be_visible(
            timeout=PATIENT_MS
        )
        await expect(page.get_by_text("scripts, links and forms are off")).to_be_visible()
        frame = await page.locator("iframe").bounding_box()
        assert frame is not None
        assert frame["height"] > 300


@pytest.mark.timeout(180)
async def test_a_file_that_is_too_large_is_told_with_its_size_and_holds_the_message(
    stack: Stack, tmp_path: Path
) -> None:
    large = tmp_path / "large.bin"
    with large.open("wb") as file:
        file.truncate(12_000_000)
    async with chromium() as browser:
        page = await browser.new_page(viewport=WIDE, locale="en")
        # The first upload of a conversation waits for its computer.
        await begun(page, stack, "run echo hello")
        await expect(transcript(page).locator("[data-kind=end]")).to_be_attached(timeout=PATIENT_MS)
        await page.locator("form input[type=file]").set_input_files(large)
        told = page.get_by_text("This file is 12 MB; a file may have at most 10 MB.")
        await expect(told).to_be_visible(timeout=PATIENT_MS)
        await page.get_by_role("button", name="Remove large.bin").click()
        await expect(told).to_have_count(0)

        await page.locator("form input[type=file]").set_input_files(large)
        await expect(told).to_be_visible(timeout=PATIENT_MS)
        await composer(page).fill("run echo without it")
        await page.get_by_role("button", name="Send").click()
        await expect(page.get_by_text("Not sent: a file was not uploaded.")).to_be_visible()
        await expect(composer(page)).to_have_value("run echo without it")
        await page.get_by_role("button", name="Remove large.bin").click()
        await page.get_by_role("button", name="Send").click()
        await expect(transcript(page).locator("[data-kind=end]")).to_have_count(2, timeout=PATIENT_MS)


@pytest.mark.timeout(180)
async def test_a_computer_that_starts_on_after_a_stop_is_shown_when_it_is_there(stack: Stack) -> None:
    async with chromium() as browser:
        page = await browser.new_page(viewport=WIDE, locale="en")
        await begun(page, stack, "run sleep 60")
        await page.get_by_role("button", name="Stop", exact=True).click()
        await expect(transcript(page).locator("[data-kind=end]")).to_be_attached(timeout=PATIENT_MS)
        if await page.get_by_role("button", name="Hide computer").count() == 0:
            await page.get_by_role("button", name="Show computer").click()
        await expect(page.get_by_text("The computer is starting")).to_have_count(0, timeout=10_000)
