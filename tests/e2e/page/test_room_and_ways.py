"""What takes room on the page and what does not, and the ways back from what covers it."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Page, Route, expect

from support.api_client import ApiClient
from support.page import PHONE, WIDE, chromium, composer, say, transcript
from support.stack import Stack

PATIENT_MS = 30_000


async def opened(page: Page, stack: Stack, session: str) -> None:
    await page.goto(f"{stack.base_url}/s/{session}")
    await expect(composer(page)).to_be_visible()


@pytest.mark.timeout(120)
async def test_going_back_on_a_phone_closes_what_covers_the_page_and_then_leaves_it(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        before, session = await api.new_session(), await api.new_session()
        context = await browser.new_context(viewport=PHONE, locale="en", has_touch=True, is_mobile=True)
        page = await context.new_page()
        await opened(page, stack, before)
        await opened(page, stack, session)
        dialog = page.get_by_role("dialog")
        for name in ("Settings", "Search"):
            await page.get_by_role("button", name="Show conversations").tap()
            await expect(dialog).to_be_visible()
            await page.go_back()
            await expect(dialog).to_have_count(0)
            assert page.url.endswith(session)
            await page.get_by_role("button", name="Show conversations").tap()
            await dialog.get_by_role("button", name=name).tap()
            await expect(page.get_by_role("dialog", name=name)).to_be_visible()
            await page.go_back()
            await expect(dialog).to_have_count(0)
            assert page.url.endswith(session)
            await expect(composer(page)).to_be_visible()
        await page.go_back()
        await page.wait_for_url(f"**/s/{before}")


@pytest.mark.timeout(120)
async def test_another_conversation_chosen_in_the_drawer_is_one_step_away(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session, other = await api.new_session(), await api.new_session()
        context = await browser.new_context(viewport=PHONE, locale="en", has_touch=True, is_mobile=True)
        page = await context.new_page()
        await opened(page, stack, session)
        await page.get_by_role("button", name="Show conversations").tap()
        await page.get_by_role("dialog").locator(f"a[href='/s/{other}']").tap()
        await page.wait_for_url(f"**/s/{other}")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await page.go_back()
        await page.wait_for_url(f"**/s/{session}")
        await expect(page.get_by_role("dialog")).to_have_count(0)


async def swipe(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    """A finger that moves from one place to another, as the browser itself takes it."""
    cdp = await page.context.new_cdp_session(page)
    places = [
        (start[0] + (end[0] - start[0]) * part / 12, start[1] + (end[1] - start[1]) * part / 12) for part in range(13)
    ]
    for at, (x, y) in enumerate(places):
        name = "touchMove" if at else "touchStart"
        await cdp.send("Input.dispatchTouchEvent", {"type": name, "touchPoints": [{"x": x, "y": y}]})
    await cdp.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    await cdp.detach()


@pytest.mark.timeout(120)
async def test_a_finger_pulls_the_list_in_and_out_and_the_computer_down(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session = await api.new_session()
        await api.ask(session, "run true")
        context = await browser.new_context(viewport=PHONE, locale="en", has_touch=True, is_mobile=True)
        page = await context.new_page()
        await opened(page, stack, session)
        assert await composer(page).evaluate("(field) => getComputedStyle(field).fontSize") == "16px"
        dialog = page.get_by_role("dialog")
        # What scrolls up keeps its finger.
        await swipe(page, (20, 500), (40, 200))
        await expect(dialog).to_have_count(0)
        await swipe(page, (20, 70), (300, 80))
        await expect(dialog).to_be_visible()
        await swipe(page, (250, 400), (60, 410))
        await expect(dialog).to_have_count(0)
        handle = page.locator("[data-handle]")
        async with asyncio.timeout(10):
            # Chromium takes no tap for a moment after a swipe.
            while not await handle.is_visible():
                await page.get_by_role("tab", name="Computer").tap()
                await asyncio.sleep(0.1)
        place = await handle.bounding_box()
        assert place is not None
        await swipe(page, (195, place["y"] + 10), (200, place["y"] + 300))
        await expect(composer(page)).to_be_visible()
        await expect(handle).to_have_count(0)


@pytest.mark.timeout(120)
async def test_the_names_of_the_panels_have_room_on_a_phone(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session = await api.new_session()
        for locale, width in (("en", 390), ("en", 360), ("zh-CN", 390), ("zh-CN", 360)):
            context = await browser.new_context(viewport={"width": width, "height": 800}, locale=locale)
            page = await context.new_page()
            await page.goto(f"{stack.base_url}/s/{session}?panel=ports")
            strip = page.get_by_role("tablist").last
            await expect(strip.get_by_role("tab")).to_have_count(8)
            over = await strip.evaluate("(strip) => strip.scrollWidth - strip.clientWidth")
            assert over <= 0, f"{over} px over at {width} px in {locale}"


@pytest.mark.timeout(120)
async def test_an_empty_workspace_on_a_phone_speaks_of_no_dropping(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session = await api.new_session()
        await api.ask(session, "run true")
        context = await browser.new_context(viewport=PHONE, locale="en", has_touch=True, is_mobile=True)
        page = await context.new_page()
        await opened(page, stack, session)
        await page.get_by_role("tab", name="Computer").tap()
        await page.get_by_role("tab", name="Files").tap()
        await expect(page.get_by_text("No files yet")).to_be_visible(timeout=PATIENT_MS)
        await expect(page.get_by_text("No files yet")).not_to_contain_text("Drop")


@pytest.mark.timeout(120)
async def test_the_computer_takes_room_once_there_is_one_and_a_long_line_stays_in_its_block(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        used, fresh = await api.new_session(), await api.new_session()
        page = await browser.new_page(viewport=WIDE, locale="en")
        panel = page.get_by_role("separator")
        await opened(page, stack, used)
        await say(page, f"run echo {'w' * 300}")
        await expect(panel).to_be_visible(timeout=PATIENT_MS)
        await expect(page.get_by_role("button", name="Stop", exact=True)).to_be_hidden(timeout=PATIENT_MS)
        blocks = transcript(page).locator("[data-kind=assistant] pre")
        await expect(blocks.last).to_contain_text("www")
        assert await blocks.evaluate_all("all => all.every(block => block.scrollWidth <= block.clientWidth)")

        await opened(page, stack, fresh)
        await expect(page.get_by_role("button", name="Show computer")).to_be_visible()
        await expect(panel).to_have_count(0)
        await page.get_by_role("button", name="Show computer").click()
        await expect(page.get_by_text("No computer yet")).to_be_visible()
        await opened(page, stack, used)
        await expect(panel).to_be_visible()


@pytest.mark.timeout(120)
async def test_a_conversation_that_is_still_being_opened_is_not_called_new_and_takes_a_message(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session = await api.new_session()
        await api.ask(session, "run echo first")
        answered = (await api.json("GET", f"/sessions/{session}"))["last_seq"]
        page = await browser.new_page(viewport=WIDE, locale="en")
        known = asyncio.Event()

        async def hold(route: Route) -> None:
            await known.wait()
            await route.continue_()

        await page.route("**/api/sessions?*", hold)
        await page.route("**/api/events*", hold)
        await page.route(f"**/api/sessions/{session}/state*", hold)
        await opened(page, stack, session)
        await expect(page.locator("header [data-title-awaited]")).to_be_visible()
        await expect(page.get_by_role("heading")).to_have_count(0)
        await say(page, "run echo second")
        known.set()
        await expect(transcript(page)).to_contain_text("run echo first", timeout=PATIENT_MS)
        await expect(transcript(page).get_by_text("run echo second", exact=True)).to_have_count(1)
        await api.until(session, "run.finished", after=answered)
        said = [event["text"] for event in await api.stored_events(session) if event["type"] == "message.user"]
        assert said == ["run echo first", "run echo second"]


@pytest.mark.timeout(60)
async def test_a_file_that_is_too_large_is_refused_before_anything_begins(stack: Stack) -> None:
    async with chromium() as browser:
        page = await browser.new_page(viewport=WIDE, locale="en")
        begun: list[str] = []
        page.on("request", lambda request: begun.append(request.url) if request.method == "POST" else None)
        await page.goto(stack.base_url)
        await expect(composer(page)).to_be_visible()
        large = {"name": "large.bin", "mimeType": "application/octet-stream", "buffer": bytes(11 * 1024 * 1024)}
        await page.locator("input[type=file]").first.set_input_files(large)  # type: ignore[arg-type]
        await expect(page.get_by_role("alert")).to_contain_text("10 MB")
        assert [url for url in begun if "/sessions" in url] == []
