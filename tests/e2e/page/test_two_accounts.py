"""What one account wrote and could not send is not there for the next one in the same browser."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from support.api_client import ApiClient, register
from support.page import WIDE, chromium, composer, say, transcript
from support.stack import Stack

PATIENT_MS = 60_000
PASSWORD = "correct horse battery"
SECRET = "words that are nobody else's"
KEPT = "() => JSON.stringify({ ...localStorage })"


async def log_in(page: Page, name: str) -> None:
    await page.get_by_label("User name").fill(name)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Log in").click()


async def write_in_vain(page: Page) -> None:
    """Say it while no message gets through, and let messages through again."""
    await page.route("**/messages", lambda route: route.abort())
    await say(page, SECRET)
    await expect(page.get_by_text("Will be sent when the server can be reached")).to_be_visible(timeout=PATIENT_MS)


async def opened(page: Page, accounts_stack: Stack, session: str, name: str) -> None:
    await page.goto(f"{accounts_stack.base_url}/s/{session}")
    await log_in(page, name)
    await expect(composer(page)).to_be_visible(timeout=PATIENT_MS)


async def the_ways_stand_beside_each_other(page: Page) -> None:
    """However long their words are; the way out is taken."""
    out = page.get_by_role("dialog").get_by_role("button", name="Cancel")
    ways = [out, page.get_by_role("button", name="Log out everywhere and discard")]
    assert len({(box["y"] if (box := await way.bounding_box()) else None) for way in ways}) == 1
    await out.click()


async def said(api: ApiClient, session: str) -> list[str]:
    return [one["text"] for one in await api.stored_events(session) if one["type"] == "message.user"]


@pytest.mark.thorough
@pytest.mark.timeout(180)
async def test_a_log_out_asks_and_then_leaves_nothing_of_what_waits_to_be_sent(accounts_stack: Stack) -> None:
    async with chromium() as browser, await register(accounts_stack.base_url, "anna") as api:
        session = await api.new_session()
        page = await (await browser.new_context(viewport=WIDE, locale="en")).new_page()
        await opened(page, accounts_stack, session, "anna")
        await write_in_vain(page)
        await page.get_by_role("button", name="Settings").click()
        await page.get_by_role("tab", name="Account").click()
        await page.get_by_role("button", name="Log out everywhere").click()
        await the_ways_stand_beside_each_other(page)
        await page.get_by_role("button", name="Log out", exact=True).click()
        await expect(page.get_by_text("1 message has not been sent yet. Logging out discards it.")).to_be_visible()
        await page.get_by_role("button", name="Log out and discard").click()
        await expect(page.get_by_label("User name")).to_be_visible(timeout=PATIENT_MS)
        assert SECRET not in await page.evaluate(KEPT)
        assert await said(api, session) == []


@pytest.mark.timeout(180)
async def test_what_waits_for_one_who_was_cut_off_is_neither_shown_nor_sent_as_the_next_one(
    accounts_stack: Stack,
) -> None:
    async with (
        chromium() as browser,
        await register(accounts_stack.base_url, "berta") as berta,
        await register(accounts_stack.base_url, "carl") as carl,
    ):
        session, his = await berta.new_session(), await carl.new_session()
        page = await (await browser.new_context(viewport=WIDE, locale="en")).new_page()
        await opened(page, accounts_stack, session, "berta")
        await write_in_vain(page)
        await berta.json("POST", "/auth/logout-all", expect=204)
        await expect(page.get_by_text("Your login session has ended")).to_be_visible(timeout=PATIENT_MS)
        await page.unroute_all()
        sent: list[str] = []
        page.on("request", lambda request: sent.append(request.post_data or ""))
        await log_in(page, "carl")
        await expect(page.get_by_text("This conversation is not here")).to_be_visible(timeout=PATIENT_MS)
        await page.get_by_role("main").get_by_role("button", name="New conversation").click()
        await expect(composer(page)).to_be_visible()
        await page.goto(f"{accounts_stack.base_url}/s/{his}")
        await say(page, "run echo mine")
        await expect(transcript(page).locator("[data-kind=end]")).to_be_attached(timeout=PATIENT_MS)
        await expect(page.get_by_text(SECRET)).to_have_count(0)
        assert not [body for body in sent if SECRET in body]
        assert await said(carl, his) == ["run echo mine"]
        await page.get_by_role("button", name="Settings").click()
        await page.get_by_role("tab", name="Account").click()
        await page.get_by_role("button", name="Log out", exact=True).click()
        await expect(page.get_by_label("User name")).to_be_visible(timeout=PATIENT_MS)
        await opened(page, accounts_stack, session, "berta")
        await expect(transcript(page).get_by_text(SECRET).first).to_be_visible(timeout=PATIENT_MS)
        await expect(page.get_by_text("Will be sent")).to_have_count(0)
        assert [body for body in sent if SECRET in body]
