"""The desktop in two windows at once, and enlarged on a phone that is held upright."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Page, WebSocket, expect

from support.api_client import ApiClient
from support.page import PHONE, WIDE, chromium, show_desktop
from support.stack import Stack

PATIENT_MS = 60_000
POINTER_EVENT = 5


async def watching(page: Page, desktop_stack: Stack, session: str) -> None:
    await page.bring_to_front()
    await page.goto(f"{desktop_stack.base_url}/s/{session}")
    show = page.get_by_role("button", name="Show computer").or_(page.get_by_role("tab", name="Computer"))
    desktop = page.get_by_role("application", name="Watching live")
    tab = page.get_by_role("tab", name="Desktop")
    await expect(show.or_(tab).first).to_be_visible(timeout=PATIENT_MS)
    if await show.count() == 1:
        await show.click()
    await show_desktop(page)
    await expect(desktop).to_be_visible(timeout=PATIENT_MS)


@pytest.mark.timeout(300)
async def test_a_second_window_sees_that_somebody_drives_and_takes_over_only_by_intent(desktop_stack: Stack) -> None:
    async with chromium() as browser, ApiClient(desktop_stack.base_url) as api:
        session = await api.new_session()
        await api.ask(session, "run true")
        context = await browser.new_context(viewport=WIDE, locale="en")
        one, two = await context.new_page(), await context.new_page()
        await watching(one, desktop_stack, session)
        await watching(two, desktop_stack, session)
        driven = "Controlled in another window"

        await one.bring_to_front()
        await one.get_by_role("button", name="Take control").click()
        await expect(one.get_by_role("application", name="You have control")).to_be_visible(timeout=PATIENT_MS)
        await expect(two.get_by_text(driven)).to_be_visible()

        await two.bring_to_front()
        await two.get_by_role("button", name="Take over").click()
        await expect(two.get_by_role("application", name="You have control")).to_be_visible(timeout=PATIENT_MS)
        await expect(one.get_by_text(driven)).to_be_visible()
        await watching(one, desktop_stack, session)  # Also one that is opened only now knows.
        await expect(one.get_by_text(driven)).to_be_visible()

        await two.close()
        await expect(one.get_by_role("button", name="Take control")).to_be_visible()


@pytest.mark.timeout(180)
async def test_a_note_is_handed_back_and_the_picture_is_never_gone(desktop_stack: Stack) -> None:
    async with chromium() as browser, ApiClient(desktop_stack.base_url) as api:
        session = await api.new_session()
        await api.ask(session, "run true")
        page = await (await browser.new_context(viewport=WIDE, locale="en")).new_page()
        await watching(page, desktop_stack, session)
        await page.get_by_role("button", name="Take control").click()
        await expect(page.get_by_role("application", name="You have control")).to_be_visible(timeout=PATIENT_MS)
        assert (await api.json("GET", f"/sessions/{session}/control"))["holder"]
        await page.get_by_role("textbox", name="Note for the agent").fill("I signed in.")
        await page.get_by_role("button", name="Hand back").click()
        seen = page.get_by_role("application", name="Watching live").or_(page.locator("section canvas[aria-hidden]"))
        await expect(seen.first).to_be_visible(timeout=300)
        await expect(page.get_by_role("application", name="Watching live")).to_be_visible(timeout=PATIENT_MS)
        events = await api.json("GET", f"/sessions/{session}/events", params={"format": "json", "limit": 500})
        told = [event for event in events["items"] if event["type"].startswith("control.")]
        assert [(event["type"], event.get("note")) for event in told] == [
            ("control.taken", None),
            ("control.returned", "I signed in."),
        ]


def pointed_at(page: Page) -> list[int]:
    """How far to the right of the desktop each pointer event is."""
    places: list[int] = []

    def sent(frame: str | bytes) -> None:
        data = frame.encode() if isinstance(frame, str) else frame
        if len(data) in (6, 7) and data[0] == POINTER_EVENT:
            places.append(int.from_bytes(data[2:4], "big"))

    def opened(socket: WebSocket) -> None:
        if "/vnc" in socket.url:
            socket.on("framesent", sent)

    page.on("websocket", opened)
    return places


@pytest.mark.timeout(180)
async def test_an_upright_phone_sees_the_desktop_larger_and_reaches_all_of_it(desktop_stack: Stack) -> None:
    async with chromium() as browser, ApiClient(desktop_stack.base_url) as api:
        session = await api.new_session()
        # Its browser is in use, so the desktop keeps the wide shape in which the agent saw it.
        await api.ask(session, "take a screenshot")
        context = await browser.new_context(viewport=PHONE, locale="en", has_touch=True, is_mobile=True)
        page = await context.new_page()
        places = pointed_at(page)
        await watching(page, desktop_stack, session)
        picture = page.locator("section[aria-label=Desktop] canvas").first
        small = await picture.bounding_box()
        assert small is not None
        assert small["width"] <= PHONE["width"]

        await page.get_by_role("button", name="Enlarge the desktop").tap()
        slider = page.get_by_role("slider", name="Move the picture sideways")
        await expect(slider).to_be_visible()
        await page.get_by_role("button", name="Take control").tap()
        await expect(page.get_by_role("application", name="You have control")).to_be_visible(timeout=PATIENT_MS)
        async with asyncio.timeout(10):
            while (large := await picture.bounding_box()) is None or large["width"] < 1.8 * small["width"]:
                await asyncio.sleep(0.05)
        await slider.fill("1")
        async with asyncio.timeout(5):
            while (large := await picture.bounding_box()) is None or large["x"] + large["width"] > PHONE["width"] + 2:
                await asyncio.sleep(0.05)
        whole = await picture.evaluate("(canvas) => canvas.width")
        await page.touchscreen.tap(PHONE["width"] - 20, large["y"] + large["height"] / 2)
        async with asyncio.timeout(5):
            while not places or places[-1] < 0.9 * whole:
                await asyncio.sleep(0.05)
        assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        await page.get_by_role("button", name="Back to the panel").tap()
        await expect(slider).to_be_hidden()
