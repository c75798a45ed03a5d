"""What is written while the network is away: it says when it goes, and goes then, or not at all."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Page, Route, expect

from support.api_client import ApiClient
from support.page import WIDE, chromium, composer, say, transcript
from support.stack import Stack

PATIENT_MS = 60_000
WAITS = "Will be sent when you are back online"


async def said(api: ApiClient, session: str) -> list[str]:
    return [one["text"] for one in await api.stored_events(session) if one["type"] == "message.user"]


@pytest.mark.thorough
@pytest.mark.timeout(180)
async def test_what_waits_says_so_and_is_cancelled_before_it_cuts_in(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session = await api.new_session()
        context = await browser.new_context(viewport=WIDE, locale="en")
        page = await context.new_page()
        await page.goto(f"{stack.base_url}/s/{session}")
        await say(page, "run sleep 12")
        await expect(transcript(page).locator("[data-kind=tool]")).to_be_visible(timeout=PATIENT_MS)
        await context.set_offline(True)
        await say(page, "do not cut in")
        await expect(page.get_by_text(f"{WAITS}, and interrupts the agent then.")).to_be_visible()
        await expect(page.get_by_text("Not sent")).to_have_count(0)
        await page.get_by_role("button", name="Cancel").click()
        await context.set_offline(False)
        await api.until(session, "run.finished", timeout_s=60)
        stored = await api.stored_events(session)
        assert await said(api, session) == ["run sleep 12"]
        assert next(one["status"] for one in stored if one["type"] == "run.finished") == "completed"


@pytest.mark.timeout(180)
async def test_a_first_message_waits_on_the_start_page_too(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        context = await browser.new_context(viewport=WIDE, locale="en")
        page = await context.new_page()
        await page.goto(stack.base_url)
        await expect(composer(page)).to_be_visible()
        await context.set_offline(True)
        await expect(page.get_by_text("You are offline")).to_be_visible()
        await say(page, "run echo first")
        await expect(page.get_by_text(WAITS)).to_be_visible()
        await context.set_offline(False)
        await page.wait_for_url("**/s/*", timeout=PATIENT_MS)
        session = page.url.rpartition("/")[2]
        await api.until(session, "run.finished", timeout_s=60)
        assert await said(api, session) == ["run echo first"]
        for gone in (WAITS, "reached", "You are offline"):
            await expect(page.get_by_text(gone)).to_have_count(0)


@pytest.mark.thorough
@pytest.mark.timeout(180)
async def test_what_waits_in_one_conversation_goes_while_another_is_looked_at_and_troubles_it_not(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        first, second = await api.new_session(title="Left behind"), await api.new_session(title="Looked at")
        context = await browser.new_context(viewport=WIDE, locale="en")
        page = await context.new_page()
        await page.goto(f"{stack.base_url}/s/{first}")
        await expect(composer(page)).to_be_visible()
        await expect(page.get_by_role("link", name="Looked at")).to_be_visible()
        await context.set_offline(True)
        await say(page, "run echo from behind")
        await expect(page.get_by_text(WAITS)).to_be_visible()
        await page.get_by_role("link", name="Looked at").click()
        await expect(page.get_by_text("could not be opened")).to_be_visible(timeout=PATIENT_MS)
        await context.set_offline(False)
        await expect(composer(page)).to_be_visible(timeout=PATIENT_MS)
        await expect(page.get_by_text("reached")).to_have_count(0)
        await api.until(first, "run.finished", timeout_s=60)
        assert await said(api, first) == ["run echo from behind"]
        assert await said(api, second) == []


@pytest.mark.thorough
@pytest.mark.timeout(180)
async def test_all_that_waited_goes_in_order_to_what_it_began_though_another_is_opened_meanwhile(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        other = await api.new_session(title="Opened meanwhile")
        context = await browser.new_context(viewport=WIDE, locale="en")
        page = await context.new_page()
        is_asked, may_go = asyncio.Event(), asyncio.Event()

        async def hold(route: Route) -> None:
            is_asked.set()
            await may_go.wait()
            await route.continue_()

        await page.route("**/api/sessions/*/messages", hold)
        await page.goto(stack.base_url)
        await expect(page.get_by_role("link", name="Opened meanwhile")).to_be_visible()
        await context.set_offline(True)
        await say(page, "hello one")
        await expect(page.get_by_text(WAITS)).to_have_count(1)
        await say(page, "hello two")
        await expect(page.get_by_text(WAITS)).to_have_count(2)
        await context.set_offline(False)
        await asyncio.wait_for(is_asked.wait(), PATIENT_MS / 1000)
        await page.wait_for_url("**/s/*", timeout=PATIENT_MS)
        begun = page.url.rpartition("/")[2]
        await page.get_by_role("link", name="Opened meanwhile").click()
        await page.wait_for_url(f"**/s/{other}")
        may_go.set()
        async with asyncio.timeout(60):
            while len(await said(api, begun)) < 2:
                await asyncio.sleep(0.1)
        assert await said(api, begun) == ["hello one", "hello two"]
        assert await said(api, other) == []
        assert page.url.rpartition("/")[2] == other


async def stop_offline(page: Page, url: str, text: str) -> None:
    """Say it, lose the network while its call is at work, and press Stop."""
    await page.goto(url)
    await say(page, text)
    await expect(transcript(page).locator("[data-kind=tool]")).to_be_visible(timeout=PATIENT_MS)
    await page.context.set_offline(True)
    await page.get_by_role("button", name="Stop", exact=True).click()
    await expect(page.get_by_text("the agent stops when you are back online").first).to_be_visible()


@pytest.mark.timeout(180)
async def test_a_stop_while_offline_says_so_and_stops_that_run_once_the_network_is_back(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session = await api.new_session()
        page = await (await browser.new_context(viewport=WIDE, locale="en")).new_page()
        await stop_offline(page, f"{stack.base_url}/s/{session}", "run sleep 60")
        await page.context.set_offline(False)
        await api.until(session, "run.finished", timeout_s=30)
        stored = await api.stored_events(session)
        assert next(one["status"] for one in stored if one["type"] == "run.finished") == "stopped"
        await expect(page.get_by_text("the agent stops when")).to_have_count(0)


@pytest.mark.thorough
@pytest.mark.timeout(180)
async def test_a_stop_that_comes_late_ends_no_later_run(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session = await api.new_session()
        page = await (await browser.new_context(viewport=WIDE, locale="en")).new_page()
        await stop_offline(page, f"{stack.base_url}/s/{session}", "run sleep 3")
        await api.until(session, "run.finished", timeout_s=60)
        await api.json("POST", f"/sessions/{session}/messages", json={"text": "run sleep 4"}, expect=202)
        await page.context.set_offline(False)
        await expect(transcript(page).get_by_text("run sleep 4", exact=True)).to_be_visible(timeout=PATIENT_MS)
        await expect(page.get_by_text("the agent stops when")).to_have_count(0)
        async with asyncio.timeout(60):
            while len(ends := await ended(api, session)) < 2:
                await asyncio.sleep(0.1)
        assert ends == ["completed", "completed"]


async def ended(api: ApiClient, session: str) -> list[str]:
    return [one["status"] for one in await api.stored_events(session) if one["type"] == "run.finished"]
