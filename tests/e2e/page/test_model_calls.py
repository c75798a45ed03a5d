"""What models are sent and answer is read on the page, where the conversation keeps it, and what they used is summed
up."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.async_api import Page, expect

from support.api_client import ApiClient
from support.model_server import Answer, Call, ModelServer
from support.page import PHONE, WIDE, chromium, composer, say
from support.stack import Stack, run_stack

PATIENT_MS = 60_000
KEY = "sk-scripted-0123456789abcdef"


class Model:
    """Looks at the clock first; hangs once where it is told to."""

    def __init__(self) -> None:
        self.hangs = 1

    def respond(self, request: dict[str, Any]) -> Answer:
        messages = request["messages"]
        if "hang" in str(messages[-1]["content"]) and self.hangs:
            self.hangs -= 1
            return Answer(hang=True)
        if messages[-1]["role"] == "user" and "hang" not in str(messages[-1]["content"]):
            return Answer(texts=("I look.",), calls=(Call(name="utc_now"),))
        return Answer(texts=(f"Done, says {KEY}.",))


async def opened_panel(page: Page) -> None:
    await page.get_by_role("button", name="Show computer").click()
    await page.get_by_role("tab", name="Model calls").click()


async def kept_and_read(own: Stack, api: ApiClient, page: Page) -> str:
    await page.goto(own.base_url)
    await expect(composer(page)).to_be_visible()
    await page.get_by_role("button", name="How the agent works here").click()
    await page.get_by_text("Recorded", exact=True).click()
    await page.keyboard.press("Escape")
    await say(page, f"look, my key is {KEY}")
    await page.wait_for_url("**/s/*")
    session = page.url.rpartition("/")[2].partition("?")[0]
    await api.until(session, "run.finished", timeout_s=60)
    await opened_panel(page)
    panel = page.get_by_role("region", name="Model calls")
    rows = panel.get_by_role("listitem")
    await expect(rows).to_have_count(3)
    await expect(rows.last).to_contain_text("Title")
    await expect(rows.first).to_contain_text("Called tools")
    await rows.first.get_by_role("button").first.click()
    await expect(panel.get_by_text("my key is [masked]")).to_be_visible()
    await expect(panel.get_by_label("Call of utc_now")).to_be_visible()
    await rows.first.get_by_role("button").first.click()
    await rows.nth(1).get_by_role("button").first.click()
    await expect(panel.get_by_text("Done, says [masked].")).to_be_visible()
    await expect(panel.get_by_label("System prompt")).to_have_count(0)
    await panel.get_by_role("button", name="Show all").click()
    await expect(panel.get_by_label("System prompt")).to_be_visible()
    assert KEY not in await panel.inner_text()
    return session


async def lost_with_its_worker(own: Stack, api: ApiClient, page: Page, model: ModelServer, session: str) -> None:
    stored = await api.stored_events(session)
    model.silent.clear()
    await say(page, "hang now")
    rows = page.get_by_role("region", name="Model calls").get_by_role("listitem")
    await expect(rows.nth(3)).to_contain_text("Under way", timeout=PATIENT_MS)
    await asyncio.wait_for(model.silent.wait(), 30)
    await own.kill("gateway")
    async with asyncio.timeout(PATIENT_MS / 1000):
        while True:
            with suppress(httpx.HTTPError):
                await api.until(session, "run.finished", after=stored[-1]["seq"], timeout_s=60)
                break
            await asyncio.sleep(0.2)
    await expect(rows.nth(3)).to_contain_text("No answer recorded", timeout=PATIENT_MS)
    await expect(rows.nth(4)).to_contain_text("Answered", timeout=PATIENT_MS)
    events = [one for one in await api.stored_events(session) if one.get("role") != "title"]
    assert [one["number"] for one in events if one["type"] == "llm.request"] == [1, 2, 3, 4]
    assert [one["number"] for one in events if one["type"] == "llm.response"] == [1, 2, 4]


async def summed_up(page: Page, api: ApiClient, session: str) -> None:
    await page.get_by_role("button", name="Settings").click()
    await page.get_by_role("tab", name="Usage").click()
    dialog = page.get_by_role("dialog", name="Settings")
    table = dialog.get_by_role("table")
    await expect(table.get_by_role("row").last).to_contain_text("unknown")
    await dialog.get_by_text("Model", exact=True).first.click()
    await expect(table.get_by_role("rowheader", name="scripted")).to_be_visible()
    await dialog.get_by_text("Conversation", exact=True).first.click()
    await expect(table.get_by_role("row")).to_have_count(3)
    usage = await api.json("GET", "/usage", params={"by": "session"})
    state = await api.json("GET", f"/sessions/{session}/state")
    (row,) = usage["items"]
    assert (row["session_id"], row["input"]) == (session, state["usage"]["input"])
    await page.keyboard.press("Escape")


@pytest.mark.timeout(400)
async def test_calls_are_read_as_they_were_sent_and_used_tokens_are_summed_up(tmp_path: Path) -> None:
    made = Model()
    async with ModelServer(respond=made.respond) as model, chromium() as browser:
        settings = {"LLM_PROVIDER": "openai", "OPENAI_API_KEY": KEY, "MODEL": "scripted"}
        with run_stack(
            tmp_path / "stack", OPENAI_BASE_URL=model.openai_url, SANDBOX_DESKTOP="false", **settings
        ) as own:
            async with ApiClient(own.base_url) as api:
                page = await (await browser.new_context(viewport=WIDE, locale="en")).new_page()
                session = await kept_and_read(own, api, page)
                await lost_with_its_worker(own, api, page, model, session)
                await summed_up(page, api, session)
                phone = await (await browser.new_context(viewport=PHONE, locale="en")).new_page()
                await phone.goto(f"{own.base_url}/s/{session}?panel=model-calls")
                rows = phone.get_by_role("region", name="Model calls").get_by_role("listitem")
                await expect(rows).to_have_count(5, timeout=PATIENT_MS)
                width = await phone.evaluate("document.documentElement.scrollWidth")
                assert width <= PHONE["width"]
