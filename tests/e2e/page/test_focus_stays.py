"""Where what had the focus goes, what comes of it has the focus: whoever uses the keyboard alone goes on from there."""

from __future__ import annotations

import pytest
from playwright.async_api import Locator, expect

from support.api_client import ApiClient
from support.page import PHONE, WIDE, chromium, composer, opened, say, transcript
from support.stack import Stack

PATIENT_MS = 60_000
OPTIONS = "How the agent works here"


async def press(button: Locator) -> None:
    await button.focus()
    await button.press("Enter")


@pytest.mark.timeout(180)
async def test_the_buttons_of_the_composer_give_it_to_the_field(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session = await api.new_session()
        page = await browser.new_page(viewport=WIDE, locale="en")
        await opened(page, stack, session)
        await composer(page).fill("stream 6000")
        await press(page.get_by_role("button", name="Send"))
        await expect(composer(page)).to_be_focused()
        await expect(transcript(page)).to_contain_text("word20", timeout=PATIENT_MS)
        await composer(page).fill("run true")
        await press(page.get_by_role("button", name="Send without interrupting"))
        await expect(composer(page)).to_be_focused()
        await press(page.get_by_role("button", name="Stop", exact=True))
        await expect(composer(page)).to_be_focused()


@pytest.mark.timeout(180)
async def test_a_dialog_that_a_menu_led_to_gives_it_back_to_the_button_of_the_menu(stack: Stack) -> None:
    async with chromium() as browser:
        page = await browser.new_page(viewport=WIDE, locale="en")
        await page.goto(stack.base_url)
        options = page.get_by_role("button", name=OPTIONS)
        await press(options)
        await press(page.get_by_role("button", name="Set rules"))
        await expect(page.get_by_role("dialog", name="Rules for tools")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(options).to_be_focused()
        model = page.get_by_role("button", name="Model: Demo model")
        await press(model)
        await page.get_by_role("menuitem", name="Use a real model").press("Enter")
        await expect(page.get_by_role("dialog", name="Settings")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(model).to_be_focused()


@pytest.mark.timeout(180)
async def test_a_conversation_that_is_renamed_keeps_it_and_one_that_is_deleted_gives_it_to_the_next(
    stack: Stack,
) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        for title in ("Otters", "Beavers"):
            await api.json("PATCH", f"/sessions/{await api.new_session()}", json={"title": title})
        page = await browser.new_page(viewport=WIDE, locale="en")
        await page.goto(stack.base_url)
        otters, beavers = (page.get_by_role("link", name=name) for name in ("Otters", "Beavers"))
        await otters.press("F2")
        await page.keyboard.press("Escape")
        await expect(otters).to_be_focused()
        await press(page.get_by_role("button", name="More for Otters"))
        await page.get_by_role("menuitem", name="Rename").press("Enter")
        await expect(page.get_by_role("textbox", name="Title")).to_be_focused()
        await page.keyboard.type("Badgers")
        await page.keyboard.press("Enter")
        badgers = page.get_by_role("link", name="Badgers")
        await expect(badgers).to_be_focused()

        more = page.get_by_role("button", name="More for Beavers")
        for answer, next_one in (("Cancel", more), ("Delete conversation", badgers)):
            await press(more)
            await page.get_by_role("menuitem", name="Delete").press("Enter")
            await press(page.get_by_role("dialog").get_by_role("button", name=answer))
            await expect(next_one).to_be_focused()
        await expect(beavers).to_have_count(0)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["desktop", "phone"])
async def test_the_computer_that_is_closed_from_within_gives_it_to_what_opens_it(
    stack: Stack, size: dict[str, int]
) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session = await api.new_session()
        page = await browser.new_page(viewport=size, locale="en")
        await page.goto(f"{stack.base_url}/s/{session}?panel=files")
        files = page.get_by_role("tab", name="Files")
        await files.focus()
        await page.keyboard.press("Control+.")
        opens = (
            page.get_by_role("tab", name="Conversation")
            if size == PHONE
            else page.get_by_role("main").get_by_role("button", name="Show computer")
        )
        await expect(opens).to_be_focused()
        if size == WIDE:
            await opens.press("Enter")
            await press(page.get_by_role("complementary").get_by_role("button", name="Hide computer"))
            await expect(opens).to_be_focused()


@pytest.mark.timeout(180)
async def test_a_conversation_deleted_elsewhere_says_so_to_whoever_writes_in_it(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session = await api.new_session()
        page = await browser.new_page(viewport=WIDE, locale="en")
        await opened(page, stack, session)
        await say(page, "run true")
        await expect(composer(page)).to_be_focused()
        await api.http.delete(f"/sessions/{session}")
        await expect(page.get_by_role("heading", name="This conversation is not here")).to_be_focused(
            timeout=PATIENT_MS
        )
