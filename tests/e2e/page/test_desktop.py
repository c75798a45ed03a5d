"""The desktop on small and large screens: typed on without a keyboard, enlarged and put back."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Browser, BrowserContext, Page, WebSocket, expect

from support.page import PHONE, WIDE, chromium, composer, say
from support.stack import Stack

PATIENT_MS = 60_000
KEY_EVENT = 4
RETURN, BACKSPACE, ESCAPE = 0xFF0D, 0xFF08, 0xFF1B
CHINESE = 0x01000000


def typed_on(page: Page) -> list[int]:
    """The key symbols that are pressed in the desktop's connection."""
    pressed: list[int] = []

    def sent(frame: str | bytes) -> None:
        data = frame.encode() if isinstance(frame, str) else frame
        if len(data) == 8 and data[0] == KEY_EVENT and data[1] == 1:
            pressed.append(int.from_bytes(data[4:], "big"))

    def opened(socket: WebSocket) -> None:
        if "/vnc" in socket.url:
            socket.on("framesent", sent)

    page.on("websocket", opened)
    return pressed


async def until(pressed: list[int], wanted: list[int]) -> None:
    try:
        async with asyncio.timeout(5):
            while pressed != wanted:
                await asyncio.sleep(0.02)
    except TimeoutError:
        assert pressed == wanted


async def drive(context: BrowserContext, stack: Stack) -> tuple[Page, list[int]]:
    """On a phone, with the desktop taken over by touch."""
    page = await context.new_page()
    pressed = typed_on(page)
    await page.goto(stack.base_url)
    await say(page, "run echo hello")
    await page.get_by_role("tab", name="Computer").tap()
    await expect(page.get_by_role("application", name="Watching live")).to_be_visible(timeout=PATIENT_MS)
    await expect(page.get_by_role("button", name="Show keyboard")).to_be_hidden()
    await page.get_by_role("button", name="Take control").tap()
    await expect(page.get_by_role("application", name="is driving")).to_be_visible(timeout=PATIENT_MS)
    return page, pressed


async def phone(browser: Browser, locale: str) -> BrowserContext:
    return await browser.new_context(viewport=PHONE, locale=locale, has_touch=True, is_mobile=True)


@pytest.mark.timeout(180)
async def test_a_phone_types_on_the_desktop(stack: Stack) -> None:
    async with chromium() as browser:
        page, pressed = await drive(await phone(browser, "en"), stack)
        button = page.get_by_role("button", name="Show keyboard")
        box = await button.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 40
        assert box["x"] + box["width"] <= PHONE["width"]
        assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]

        await button.tap()
        field = page.get_by_role("textbox", name="Type on the desktop")
        await expect(field).to_be_focused()
        await page.keyboard.type("l")
        await page.keyboard.press("Escape")
        await page.keyboard.press("Enter")
        await page.keyboard.press("Backspace")
        await until(pressed, [ord("l"), ESCAPE, RETURN, BACKSPACE])

        # As keyboards of phones do: words grow while they are typed, and are corrected.
        del pressed[:]
        screen = await page.context.new_cdp_session(page)
        for word in ("t", "te", "teh"):
            await screen.send(
                "Input.imeSetComposition", {"text": word, "selectionStart": len(word), "selectionEnd": len(word)}
            )
        await screen.send("Input.insertText", {"text": "the "})
        await until(pressed, [*map(ord, "teh"), BACKSPACE, BACKSPACE, *map(ord, "he ")])

        await page.get_by_role("application").tap()
        await expect(field).to_be_focused()  # touching the desktop does not close the keyboard
        await page.get_by_role("button", name="Hide keyboard").tap()
        await expect(field).not_to_be_focused()
        await page.get_by_role("button", name="Hand back").tap()
        await expect(page.get_by_role("button", name="Show keyboard")).to_be_hidden()


@pytest.mark.timeout(180)
async def test_what_is_composed_arrives_as_characters_alone(stack: Stack) -> None:
    async with chromium() as browser:
        context = await phone(browser, "zh-CN")
        # The page itself in English: what counts is the language of the keyboard.
        await context.add_init_script("localStorage.setItem('language', 'en')")
        page, pressed = await drive(context, stack)
        await page.get_by_role("button", name="Show keyboard").tap()
        screen = await context.new_cdp_session(page)
        for letters in ("n", "ni", "nih", "nihao"):
            await screen.send(
                "Input.imeSetComposition",
                {"text": letters, "selectionStart": len(letters), "selectionEnd": len(letters)},
            )
        await screen.send("Input.insertText", {"text": "你好"})
        await until(pressed, [CHINESE + ord("你"), CHINESE + ord("好")])


async def width(page: Page) -> float:
    box = await page.locator("canvas").first.bounding_box()
    return box["width"] if box else 0


@pytest.mark.timeout(180)
@pytest.mark.parametrize("has_full_screen", [True, False])
async def test_the_desktop_is_enlarged_and_escape_puts_it_back(stack: Stack, has_full_screen: bool) -> None:
    async with chromium() as browser:
        page = await browser.new_page(viewport=WIDE, locale="en")
        if not has_full_screen:
            await page.add_init_script("Object.defineProperty(Document.prototype, 'fullscreenEnabled', {value: false})")
        await page.goto(stack.base_url)
        await say(page, "run sleep 20")
        await expect(page.get_by_role("application", name="Watching live")).to_be_visible(timeout=PATIENT_MS)
        before = await width(page)

        await page.get_by_role("button", name="Enlarge the desktop").click()
        shrink = page.get_by_role("button", name="Back to the panel")
        await expect(shrink).to_be_visible()
        assert await page.evaluate("document.fullscreenElement !== null") == has_full_screen
        await wider(page, before * 1.4)
        await page.keyboard.press("Escape")
        await expect(shrink).to_be_hidden()
        await narrower(page, before + 1)
        await expect(page.get_by_role("button", name="Stop")).to_be_visible()  # it stopped nothing

        await page.get_by_role("button", name="Take control").click()
        await expect(page.get_by_role("application", name="is driving")).to_be_visible(timeout=PATIENT_MS)
        await page.get_by_role("button", name="Enlarge the desktop").click()
        await page.locator("canvas").first.click()
        await page.keyboard.press("Escape")
        await expect(shrink).to_be_hidden()
        assert await composer(page).is_visible()
        # Nothing of the large desktop is left over the page.
        await page.get_by_role("button", name="Hand back").click(timeout=5_000)
        await expect(page.get_by_role("application", name="Watching live")).to_be_visible(timeout=PATIENT_MS)


async def wider(page: Page, least: float) -> None:
    async with asyncio.timeout(5):
        while await width(page) < least:
            await asyncio.sleep(0.05)


async def narrower(page: Page, most: float) -> None:
    async with asyncio.timeout(5):
        while await width(page) > most:
            await asyncio.sleep(0.05)
