"""A person signs in at an MCP server in a tab of the browser, the agent uses it, and no token is read anywhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import pytest
from playwright.async_api import Browser, Page, ViewportSize, expect

from support.api_client import ApiClient
from support.model_server import Answer, ModelServer
from support.oauth_servers import OAuthServers, oauth_servers
from support.page import PHONE, WIDE, chromium
from support.scripted_stack import call, calls, of_type, results, said_in
from support.stack import Stack, run_stack

PATIENT_MS = 60_000
KEY = "sk-mcp-sign-in-0a1b2c3d4e5f"
DONE = Answer(texts=("Done.",))
Pictured = tuple[str, ViewportSize, str, Literal["light", "dark"]]
PICTURED: tuple[Pictured, ...] = (
    ("wide-light", {"width": 1440, "height": 900}, "en", "light"),
    ("phone-dark", {"width": 390, "height": 844}, "zh-CN", "dark"),
)


async def look(browser: Browser, stack: Stack, name: str, edits: str = "") -> None:
    """Pictures in both languages, light and dark, wide and on a phone, where SCREENSHOTS names a folder."""
    if not (folder := os.environ.get("SCREENSHOTS")):
        return
    for kind, viewport, locale, scheme in PICTURED:
        context = await browser.new_context(viewport=viewport, locale=locale, color_scheme=scheme)
        page = await context.new_page()
        await page.goto(f"{stack.base_url}/?settings=mcp")
        await expect(page.get_by_text("notes").first).to_be_visible(timeout=PATIENT_MS)
        if edits:
            await page.locator(f'[data-edit="{edits}"]').click()
            await page.locator("summary").click()
            await page.locator("summary").scroll_into_view_if_needed()
        await page.wait_for_timeout(500)
        await page.screenshot(path=Path(folder) / f"{name}-{kind}.png")
        await context.close()


async def signed_in(page: Page) -> None:
    """By the button, in a tab that closes itself."""
    async with page.context.expect_page() as opened:
        await page.get_by_role("button", name="Sign in", exact=True).click()
    tab = await opened.value
    if not tab.is_closed():
        await tab.wait_for_event("close", timeout=PATIENT_MS)
    await page.bring_to_front()
    await page.evaluate("window.dispatchEvent(new Event('focus'))")
    await expect(page.get_by_text("notes works.")).to_be_visible(timeout=PATIENT_MS)


@pytest.mark.timeout(300)
async def test_a_person_signs_in_and_the_agent_uses_it_and_no_token_is_read_anywhere(tmp_path: Path) -> None:
    async with oauth_servers() as servers, ModelServer(DONE) as model, chromium() as browser:
        settings = {
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": model.openai_url,
            "MODEL": "large",
            "MCP_ALLOWED_HOSTS": ",".join(servers.hosts),
            "SANDBOX_DESKTOP": "false",
            "LOG_LEVEL": "DEBUG",
        }
        with run_stack(tmp_path / "stack", **settings) as stack:
            async with ApiClient(stack.base_url) as api:
                await api.json("PUT", "/mcp/notes", json={"url": servers.url})
                page = await browser.new_page(viewport=WIDE, locale="en")
                session = await api.new_session(title="named", options={"enable_tracing": True})
                events = await api.ask(session, "use the notes")
                [notice] = of_type(events, "notice")
                assert notice["code"] == "mcp_needs_sign_in"
                assert of_type(events, "run.finished")[-1]["status"] == "completed"

                await page.goto(f"{stack.base_url}/?settings=mcp")
                await expect(page.get_by_text("It needs you to sign in.")).to_be_visible(timeout=PATIENT_MS)
                await look(browser, stack, "mcp-needs")
                await look(browser, stack, "mcp-form", "notes")
                await signed_in(page)
                await look(browser, stack, "mcp-signed-in")

                model.answer(calls(call("mcp__notes__echo_headers")), DONE)
                events = await api.ask(session, "use the notes")
                [echoed] = await results(api, session, events)
                assert "[masked]" in echoed
                await nowhere(stack, api, session, servers, model)

                await page.get_by_role("button", name="notes").first.click()
                await page.get_by_role("button", name="Sign out").click()
                await expect(page.get_by_text("You are signed out of notes.")).to_be_visible()
                phone = await browser.new_page(viewport=PHONE, locale="zh-CN")
                await phone.goto(f"{stack.base_url}/?settings=mcp")
                await expect(phone.get_by_text("notes").first).to_be_visible(timeout=PATIENT_MS)
                assert await phone.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


async def nowhere(stack: Stack, api: ApiClient, session: str, servers: OAuthServers, model: ModelServer) -> None:
    assert servers.tokens
    stored = await api.stored_events(session)
    kept = [str(stored), *map(said_in, model.requests), stack.printed()]
    kept += [str(await api.json("GET", "/mcp"))]
    kept += [log.read_text(encoding="utf-8", errors="replace") for log in (stack.data_dir / "logs").glob("*.log")]
    for event in stored:
        for kind in ("body", "request"):
            kept.append((await api.http.get(f"/sessions/{session}/events/{event['seq']}/{kind}")).text)
    everything = "\n".join(kept)
    assert "llm.request" in everything
    assert not [token for token in servers.tokens if token in everything]
