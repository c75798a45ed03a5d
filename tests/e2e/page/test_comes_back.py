"""The page comes back by itself, and says what happened: from a log-out elsewhere, a gateway that drains, databases and
a network that were away."""

from __future__ import annotations

import asyncio
import signal

import psutil
import pytest
from playwright.async_api import BrowserContext, Page, expect

from support.api_client import register
from support.page import EVERY_STEP, WIDE, chromium, composer, say, transcript
from support.stack import Stack

PATIENT_MS = 60_000
PASSWORD = "correct horse battery"
CODES = """
window.codes = []
window.WebSocket = new Proxy(WebSocket, {
    construct(plain, given) {
        const socket = new plain(...given)
        socket.addEventListener('close', (event) => window.codes.push(event.code))
        return socket
    },
})
"""


async def log_in(page: Page, name: str) -> None:
    await page.get_by_label("User name").fill(name)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Log in").click()


async def at(context: BrowserContext, stack: Stack, session: str) -> Page:
    page = await context.new_page()
    await page.goto(f"{stack.base_url}/s/{session}")
    return page


@pytest.mark.timeout(180)
async def test_a_log_out_in_another_tab_in_mid_answer_is_told_and_a_log_in_goes_on_where_it_was(
    accounts_stack: Stack,
) -> None:
    async with chromium() as browser, await register(accounts_stack.base_url, "dora") as api:
        session = await api.new_session()
        context = await browser.new_context(viewport=WIDE, locale="en")
        await context.add_init_script(EVERY_STEP)
        page = await at(context, accounts_stack, session)
        await log_in(page, "dora")
        other = await at(context, accounts_stack, session)
        await say(page, "stream 400")
        await expect(transcript(page).locator("[data-kind=assistant]")).to_contain_text(" 20", timeout=PATIENT_MS)

        await other.get_by_role("button", name="Settings").click()
        await other.get_by_role("tab", name="Account").click()
        await other.get_by_role("button", name="Log out", exact=True).click()

        await expect(page.get_by_text("Your login session has ended")).to_be_visible(timeout=PATIENT_MS)
        await expect(other.get_by_text("Go on where you left off")).to_be_visible(timeout=PATIENT_MS)
        await log_in(page, "dora")
        await expect(page).to_have_url(f"{accounts_stack.base_url}/s/{session}", timeout=PATIENT_MS)
        await expect(transcript(page).locator("[data-kind=end]")).to_be_attached(timeout=PATIENT_MS)
        await expect(composer(other)).to_be_visible(timeout=PATIENT_MS)
        await other.goto(f"{accounts_stack.base_url}/s/{session}")
        await expect(transcript(other).locator("[data-kind=end]")).to_be_attached(timeout=PATIENT_MS)
        shown = await transcript(page).inner_text()
        assert shown == await transcript(other).inner_text()
        answer = next(one["text"] for one in await api.stored_events(session) if one["type"] == "message.completed")
        assert answer.split()[-1] in shown


@pytest.mark.thorough
@pytest.mark.timeout(180)
async def test_a_desktop_comes_back_with_a_new_ticket_when_the_gateway_drains(accounts_stack: Stack) -> None:
    async with chromium() as browser, await register(accounts_stack.base_url, "emma") as api:
        session = await api.new_session()
        context = await browser.new_context(viewport=WIDE, locale="en")
        await context.add_init_script(EVERY_STEP)
        await context.add_init_script(CODES)
        page = await at(context, accounts_stack, session)
        tickets: list[int] = []
        page.on("response", lambda answer: tickets.append(answer.status) if "vnc/ticket" in answer.url else None)
        await log_in(page, "emma")
        await page.get_by_role("button", name="Show computer").click()
        await page.get_by_role("button", name="Start it").click()
        await expect(page.get_by_text("Watching live")).to_be_visible(timeout=PATIENT_MS)
        assert tickets[-1] == 201
        psutil.Process(accounts_stack.children()["gateway"]).send_signal(signal.SIGTERM)

        await expect(page.get_by_text("Reconnecting to the desktop")).to_be_visible(timeout=PATIENT_MS)
        await expect(page.get_by_text("Watching live")).to_be_visible(timeout=PATIENT_MS)
        await expect(page.locator("canvas").first).to_be_visible()
        assert tickets.count(201) >= 2
        # Among others: the page itself may end a first connection when it lays itself out anew.
        assert 1012 in await page.evaluate("window.codes")


@pytest.mark.thorough
@pytest.mark.timeout(180)
async def test_databases_and_a_network_that_were_away_are_told_and_lose_no_message(accounts_stack: Stack) -> None:
    async with chromium() as browser, await register(accounts_stack.base_url, "frida") as api:
        session = await api.new_session()
        context = await browser.new_context(viewport=WIDE, locale="en")
        await context.add_init_script(EVERY_STEP)
        page = await at(context, accounts_stack, session)
        await log_in(page, "frida")
        await expect(composer(page)).to_be_visible(timeout=PATIENT_MS)

        await context.set_offline(True)
        await expect(page.get_by_text("You are offline")).to_be_visible(timeout=PATIENT_MS)
        await say(page, "run echo from far")
        await expect(page.get_by_text("Will be sent")).to_be_visible(timeout=PATIENT_MS)
        await asyncio.gather(accounts_stack.kill("redis"), accounts_stack.kill("mongod"))
        await context.set_offline(False)

        await expect(page.get_by_text("You are offline")).to_be_hidden(timeout=PATIENT_MS)
        await expect(transcript(page).locator("[data-kind=end]")).to_have_count(1, timeout=PATIENT_MS)
        await expect(page.get_by_text("Will be sent")).to_be_hidden()
        said = [one["text"] for one in await api.stored_events(session) if one["type"] == "message.user"]
        assert said == ["run echo from far"]
        await page.reload()
        await expect(transcript(page).locator("[data-kind=user]")).to_have_count(1, timeout=PATIENT_MS)
