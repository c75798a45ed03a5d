"""The desktop on small and large screens: typed on without a keyboard, enlarged and put back, and steady under the hand
of who drives it."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Browser, BrowserContext, Page, WebSocket, expect

from support.page import PHONE, WIDE, chromium, composer, say, show_desktop
from support.stack import Stack

PATIENT_MS = 60_000
KEY_EVENT = 4
SCANCODE_PRESS = bytes((255, 0, 0, 1))  # the extended key event: of a keyboard that names the key itself
RETURN, BACKSPACE, ESCAPE = 0xFF0D, 0xFF08, 0xFF1B
CHINESE = 0x01000000
WATCHER = """
window.sockets = []
window.WebSocket = new Proxy(WebSocket, {
    construct(plain, given) {
        const socket = new plain(...given)
        window.sockets.push(socket)
        return socket
    },
})
// Frames in which no picture of the desktop is seen.
window.watchForBlanks = () => {
    window.blanks = 0
    const look = () => {
        const drawn = [...document.querySelectorAll('section[aria-label=Desktop] canvas')]
        const isSeen = (one) => one.width > 0 && one.checkVisibility({ visibilityProperty: true })
        if (!drawn.some(isSeen)) window.blanks += 1
        requestAnimationFrame(look)
    }
    look()
}
"""


def typed_on(page: Page) -> list[int]:
    """The key symbols that are pressed in the desktop's connection."""
    pressed: list[int] = []

    def sent(frame: str | bytes) -> None:
        data = frame.encode() if isinstance(frame, str) else frame
        if len(data) == 8 and data[0] == KEY_EVENT and data[1] == 1:
            pressed.append(int.from_bytes(data[4:], "big"))
        elif len(data) == 12 and data[:4] == SCANCODE_PRESS:
            pressed.append(int.from_bytes(data[4:8], "big"))

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


async def drive(context: BrowserContext, desktop_stack: Stack) -> tuple[Page, list[int]]:
    """On a phone, with the desktop taken over by touch."""
    page = await context.new_page()
    pressed = typed_on(page)
    await page.goto(desktop_stack.base_url)
    await say(page, "run echo hello")
    await page.get_by_role("tab", name="Computer").tap()
    await show_desktop(page)
    await expect(page.get_by_role("application", name="Watching live")).to_be_visible(timeout=PATIENT_MS)
    await expect(page.get_by_role("button", name="Show keyboard")).to_be_hidden()
    await page.get_by_role("button", name="Take control").tap()
    await expect(page.get_by_role("application", name="You have control")).to_be_visible(timeout=PATIENT_MS)
    return page, pressed


async def phone(browser: Browser, locale: str) -> BrowserContext:
    return await browser.new_context(viewport=PHONE, locale=locale, has_touch=True, is_mobile=True)


@pytest.mark.timeout(180)
async def test_a_phone_types_on_the_desktop(desktop_stack: Stack) -> None:
    async with chromium() as browser:
        page, pressed = await drive(await phone(browser, "en"), desktop_stack)
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
async def test_what_is_composed_arrives_as_characters_alone(desktop_stack: Stack) -> None:
    async with chromium() as browser:
        context = await phone(browser, "zh-CN")
        # The page itself in English: what counts is the language of the keyboard.
        await context.add_init_script("localStorage.setItem('language', 'en')")
        page, pressed = await drive(context, desktop_stack)
        await page.get_by_role("button", name="Show keyboard").tap()
        screen = await context.new_cdp_session(page)
        for letters in ("n", "ni", "nih", "nihao"):
            await screen.send(
                "Input.imeSetComposition",
                {"text": letters, "selectionStart": len(letters), "selectionEnd": len(letters)},
            )
        await screen.send("Input.insertText", {"text": "你好"})
        await until(pressed, [CHINESE + ord("你"), CHINESE + ord("好")])


async def look_again(page: Page) -> None:
    """Let the page's next look at the computer come now, and be answered."""
    async with page.expect_response(lambda answer: answer.url.endswith("/sandbox")):
        await page.clock.fast_forward(21_000)
    await page.wait_for_timeout(300)


@pytest.mark.timeout(180)
async def test_who_drives_keeps_connection_picture_and_keys(desktop_stack: Stack) -> None:
    async with chromium() as browser:
        page = await browser.new_page(viewport=WIDE, locale="en")
        await page.clock.install()
        await page.add_init_script(WATCHER)
        pressed, tickets = typed_on(page), list[str]()
        page.on("request", lambda asked: tickets.append(asked.url) if asked.url.endswith("/vnc/ticket") else None)
        await page.goto(desktop_stack.base_url)
        await say(page, "run echo hello")
        watching = page.get_by_role("application", name="Watching live")
        driving = page.get_by_role("application", name="You have control")
        await show_desktop(page)
        await expect(watching).to_be_visible(timeout=PATIENT_MS)
        await page.evaluate("window.watchForBlanks()")
        del tickets[:]
        await look_again(page)
        await look_again(page)
        assert tickets == []

        await page.get_by_role("button", name="Take control").click()
        await expect(driving).to_be_visible(timeout=PATIENT_MS)
        await expect(page.locator("section[aria-label=Desktop] canvas").first).to_be_focused()
        await page.keyboard.type("ab")
        await look_again(page)
        await page.keyboard.type("cd")
        await look_again(page)
        await page.keyboard.type("ef")
        await until(pressed, [*map(ord, "abcdef")])
        assert len(tickets) == 1

        await page.evaluate("window.sockets.filter((one) => one.url.includes('/vnc?')).at(-1).close()")
        await expect(page.get_by_text("Reconnecting to the desktop").first).to_be_visible()
        await expect(driving).to_be_visible(timeout=PATIENT_MS)
        await expect(page.locator("section[aria-label=Desktop] canvas").first).to_be_focused()
        await page.keyboard.type("gh")
        await until(pressed, [*map(ord, "abcdefgh")])

        # The bar names the keys that lead out, as Tab does not.
        await expect(page.get_by_text("Ctrl+Alt+Shift hands back")).to_be_visible()
        await page.keyboard.press("Control+Alt+Shift")
        await expect(watching).to_be_visible(timeout=PATIENT_MS)
        await expect(page.get_by_role("button", name="Take control")).to_be_focused()
        assert await page.evaluate("window.blanks") == 0


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("locale", "take", "words"),
    [("en", "Take control", "The agent waits until you hand back"), ("zh-CN", "接管操作", "智能体会等你交还后再继续")],
)
async def test_who_drives_is_told_that_the_agent_waits(
    desktop_stack: Stack, locale: str, take: str, words: str
) -> None:
    async with chromium() as browser:
        page = await browser.new_page(viewport=PHONE, locale=locale, has_touch=True, is_mobile=True)
        await page.goto(desktop_stack.base_url)
        field = page.get_by_role("textbox")
        await field.fill("run sleep 15")
        await field.press("Enter")
        await page.get_by_role("tab").last.tap()
        await show_desktop(page)
        await page.get_by_role("button", name=take).tap(timeout=PATIENT_MS)
        told = page.get_by_text(words)
        await expect(told).to_be_visible()
        assert await told.evaluate("(element) => element.scrollWidth <= element.clientWidth"), "it is cut off"
        await expect(told).to_be_hidden(timeout=PATIENT_MS)


async def width(page: Page) -> float:
    box = await page.locator("canvas").first.bounding_box()
    return box["width"] if box else 0


@pytest.mark.timeout(180)
@pytest.mark.parametrize("has_full_screen", [True, False])
async def test_the_desktop_is_enlarged_and_escape_puts_it_back(desktop_stack: Stack, has_full_screen: bool) -> None:
    async with chromium() as browser:
        page = await browser.new_page(viewport=WIDE, locale="en")
        if not has_full_screen:
            await page.add_init_script("Object.defineProperty(Document.prototype, 'fullscreenEnabled', {value: false})")
        await page.goto(desktop_stack.base_url)
        await say(page, "run sleep 20")
        await show_desktop(page)
        await expect(page.get_by_role("application", name="Watching live")).to_be_visible(timeout=PATIENT_MS)
        before = await settled_width(page)

        await page.get_by_role("button", name="Enlarge the desktop").click()
        shrink = page.get_by_role("button", name="Back to the panel")
        await expect(shrink).to_be_visible()
        assert await page.evaluate("document.fullscreenElement !== null") == has_full_screen
        await wider(page, before * 1.4)
        await page.keyboard.press("Escape")
        await expect(shrink).to_be_hidden()
        await narrower(page, before + 1)
        await expect(page.get_by_role("button", name="Stop", exact=True)).to_be_visible()  # it stopped nothing

        await page.get_by_role("button", name="Take control").click()
        await expect(page.get_by_role("application", name="You have control")).to_be_visible(timeout=PATIENT_MS)
        await page.get_by_role("button", name="Enlarge the desktop").click()
        await page.locator("canvas").first.click()
        await page.keyboard.press("Escape")
        await expect(shrink).to_be_hidden()
        assert await composer(page).is_visible()
        # Nothing of the large desktop is left over the page.
        await page.get_by_role("button", name="Hand back").click(timeout=5_000)
        await expect(page.get_by_role("application", name="Watching live")).to_be_visible(timeout=PATIENT_MS)


async def settled_width(page: Page) -> float:
    """Once the desktop has taken the size of its panel, and keeps it for a second."""
    seen: list[float] = []
    async with asyncio.timeout(30):
        while len(seen) < 10 or seen[-10:] != [seen[-1]] * 10:
            seen.append(await width(page))
            await asyncio.sleep(0.1)
    return seen[-1]


async def wider(page: Page, least: float) -> None:
    async with asyncio.timeout(20):
        while await width(page) < least:
            await asyncio.sleep(0.05)


async def narrower(page: Page, most: float) -> None:
    async with asyncio.timeout(20):
        while await width(page) > most:
            await asyncio.sleep(0.05)
