"""Where Back leads, where the focus is, and what the files panel shows while it waits."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Locator, Page, Route, expect

from support.api_client import ApiClient
from support.page import PHONE, WIDE, chromium, composer, opened, say, transcript
from support.stack import Stack

PATIENT_MS = 60_000


@pytest.mark.timeout(180)
async def test_back_on_a_phone_closes_the_file_then_the_computer_then_leaves(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        before, session = await api.new_session(), await api.new_session()
        await api.ask(session, "run echo here > one.txt")
        context = await browser.new_context(viewport=PHONE, locale="en", has_touch=True, is_mobile=True)
        page = await context.new_page()
        await opened(page, stack, before)
        await opened(page, stack, session)
        preview = page.get_by_role("region", name="one.txt")
        await page.get_by_role("tab", name="Computer").tap()
        await page.get_by_role("tab", name="Files").tap()
        await page.get_by_role("button", name="one.txt").first.tap()
        await expect(preview).to_be_visible()
        await page.go_back()
        await expect(preview).to_be_hidden()
        await expect(page.get_by_role("button", name="one.txt").first).to_be_visible()
        await page.go_back()
        await expect(composer(page)).to_be_visible()
        assert page.url.endswith(session)
        await page.get_by_role("tab", name="Computer").tap()
        await page.get_by_role("tab", name="Conversation").tap()
        await expect(composer(page)).to_be_visible()
        await page.wait_for_function("!history.state.covered")
        await page.go_back()
        await page.wait_for_url(f"**/s/{before}")


@pytest.mark.timeout(180)
async def test_back_beside_the_conversation_closes_the_file(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        before, session = await api.new_session(), await api.new_session()
        await api.ask(session, "write a file one.txt saying hello")
        page = await browser.new_page(viewport=WIDE, locale="en")
        await opened(page, stack, before)
        await opened(page, stack, session)
        await transcript(page).get_by_role("link", name="one.txt").click()
        preview = page.get_by_role("region", name="one.txt")
        await expect(preview).to_be_visible(timeout=PATIENT_MS)
        await page.go_back()
        await expect(preview).to_be_hidden()
        await page.wait_for_url(f"**/s/{session}?panel=files")
        await page.go_back()
        await page.wait_for_url(f"**/s/{before}*")


async def closes_with_the_way_back(page: Page) -> None:
    """A panel that a link opened on a phone is kept by a reload, and going back shows the conversation under it."""
    await page.reload()
    await expect(page.get_by_role("region", name="Files")).to_be_visible()
    await page.wait_for_function("history.state.covered === 1")
    here = page.url
    await page.go_back()
    await expect(composer(page)).to_be_visible()
    await expect(page).to_have_url(here.partition("?")[0])
    await page.get_by_role("tab", name="Computer").click()
    await page.get_by_role("tab", name="Files").click()


@pytest.mark.timeout(180)
async def test_the_address_leads_to_the_panel_again_beside_the_conversation_and_in_its_place(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session = await api.new_session()
        for viewport in (WIDE, PHONE):
            page = await browser.new_page(viewport=viewport, locale="en")
            await page.goto(f"{stack.base_url}/s/{session}?panel=files")
            await expect(page.get_by_role("region", name="Files")).to_be_visible()
            if viewport == PHONE:
                await closes_with_the_way_back(page)
            # A link decides nothing for the other conversations.
            assert await page.evaluate("Object.keys(localStorage).filter((key) => /panel$/.test(key))") == []
            await page.get_by_role("tab", name="Terminal").click()
            await page.wait_for_url(f"**/s/{session}?panel=terminal")
            await page.reload()
            await expect(page.get_by_text("No commands yet.")).to_be_visible()
            # Without a computer the desktop is seen for its name alone.
            await page.get_by_role("tab", name="Desktop").click()
            await page.wait_for_url(f"**/s/{session}?panel=desktop")
            await page.reload()
            await expect(page.get_by_text("No computer yet")).to_be_visible()
            await page.goto(f"{stack.base_url}/s/{session}?panel=nothing")
            await page.wait_for_url(f"**/s/{session}")
            await expect(composer(page)).to_be_visible()


@pytest.mark.timeout(180)
async def test_the_address_leads_to_the_page_of_the_settings_again_and_back_closes_them(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session = await api.new_session()
        for viewport in (WIDE, PHONE):
            page = await browser.new_page(viewport=viewport, locale="en")
            await page.goto(f"{stack.base_url}/s/{session}?settings=models")
            settings = page.get_by_role("dialog", name="Settings")
            await expect(settings.get_by_role("tab", name="Models and keys")).to_have_attribute("aria-selected", "true")
            await settings.get_by_role("tab", name="Models and keys").focus()
            await page.keyboard.press("ArrowLeft" if viewport == PHONE else "ArrowUp")
            await page.wait_for_url(f"**/s/{session}?settings=appearance")
            await page.reload()
            await expect(settings.get_by_role("group", name="Theme")).to_be_visible()
            await page.go_back()
            await expect(settings).to_have_count(0)
            await page.wait_for_url(f"**/s/{session}")
            await page.goto(f"{stack.base_url}/s/{session}?settings=nothing")
            await page.wait_for_url(f"**/s/{session}")
            await expect(composer(page)).to_be_visible()
            await expect(settings).to_have_count(0)


@pytest.mark.timeout(180)
async def test_the_composer_has_the_focus_after_an_example_and_after_a_search(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session = await api.new_session()
        await api.json("PATCH", f"/sessions/{session}", json={"title": "Otters at sea"})
        page = await browser.new_page(viewport=WIDE, locale="en")
        await page.goto(stack.base_url)
        await page.get_by_role("button", name="See it work").click()
        await page.wait_for_url("**/s/*")
        await expect(composer(page)).to_be_focused()
        await page.get_by_role("button", name="Settings").focus()
        await page.keyboard.press("Control+k")
        await page.keyboard.type("Otters")
        await expect(page.get_by_role("option")).to_have_count(1)
        await page.keyboard.press("Enter")
        await page.wait_for_url(f"**/s/{session}")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await expect(composer(page)).to_be_focused()
        # The one that is open already, too.
        await page.get_by_role("button", name="Settings").focus()
        await page.keyboard.press("Control+k")
        await page.keyboard.type("Otters")
        await expect(page.get_by_role("option")).to_have_count(1)
        await page.keyboard.press("Enter")
        await expect(composer(page)).to_be_focused()


async def left_of(button: Locator) -> float:
    box = await button.bounding_box()
    assert box is not None
    return box["x"]


@pytest.mark.timeout(180)
async def test_the_buttons_over_the_files_stay_where_they_are_and_a_wait_is_explained(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session = await api.new_session()
        await api.ask(session, "run echo here > one.txt")
        page = await browser.new_page(viewport=WIDE, locale="en")
        answered = asyncio.Event()

        async def hold(route: Route) -> None:
            await answered.wait()
            await route.continue_()

        await page.route(f"**/api/sessions/{session}/files?*", hold)
        await page.route(f"**/api/sessions/{session}/files", hold)
        await opened(page, stack, session)
        await page.get_by_role("button", name="Show computer").click()
        await page.get_by_role("tab", name="Files").click()
        buttons = [page.get_by_role("button", name=name) for name in ("Upload files", "Snapshots")]
        await expect(page.get_by_text("The computer has not answered yet.")).to_be_visible(timeout=PATIENT_MS)
        await expect(page.get_by_text("Your files are kept")).to_be_visible()
        before = [await left_of(button) for button in buttons]
        answered.set()
        await expect(page.get_by_role("button", name="one.txt").first).to_be_visible(timeout=PATIENT_MS)
        assert [await left_of(button) for button in buttons] == before


@pytest.mark.timeout(180)
async def test_a_message_waits_until_its_refused_file_is_removed(stack: Stack) -> None:
    async with chromium() as browser:
        page = await browser.new_page(viewport=WIDE, locale="en")
        await page.goto(stack.base_url)
        await expect(composer(page)).to_be_visible()
        large = {"name": "large.bin", "mimeType": "application/octet-stream", "buffer": bytes(11 * 1024 * 1024)}
        await page.locator("input[type=file]").first.set_input_files(large)  # type: ignore[arg-type]
        chip = page.get_by_role("listitem").filter(has_text="large.bin")
        await expect(chip).to_contain_text("10 MB")
        await expect(page.get_by_role("button", name="Send")).to_be_disabled()
        await say(page, "run echo sent")
        await expect(page.get_by_text("Not sent: a file was not uploaded")).to_be_visible()
        await expect(composer(page)).to_have_value("run echo sent")
        await chip.get_by_role("button").last.click()
        await expect(chip).to_have_count(0)
        await composer(page).press("Enter")
        await expect(transcript(page).get_by_text("run echo sent", exact=True)).to_be_visible()
        await page.wait_for_url("**/s/*")
