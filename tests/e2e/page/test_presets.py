"""What the agent is to be: chosen where a conversation begins, changed in its middle, and told to the model."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from support.api_client import ApiClient
from support.model_server import Answer, Call, ModelServer
from support.page import EVERY_STEP, PHONE, WIDE, chromium, composer, say, transcript
from support.stack import run_stack

PATIENT_MS = 60_000
TALK = ["ask_user", "compact", "utc_now", "web_fetch", "web_search"]
LAW = """\
+++
label = "Law"
description = "Reads contracts."
tools = ["file_*"]
[[suggestions]]
title = "Read a lease"
text = "Read my lease"
[options]
max_turns = 7
[translations.zh]
label = "法律"
description = "阅读合同。"
+++
You read contracts."""


@pytest_asyncio.fixture(loop_scope="session")
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer(Answer(texts=("All", " is", " well"))) as server:
        yield server


async def picture(page: Page, name: str, *, scheme: str = "light") -> None:
    """For looking at, where SCREENSHOTS names a folder."""
    if folder := os.environ.get("SCREENSHOTS"):
        await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        await page.screenshot(path=Path(folder) / f"{name}-{scheme}.png")
        await page.emulate_media(color_scheme="light")


def tools_of(request: dict[str, Any]) -> list[str]:
    return sorted(tool["function"]["name"] for tool in request["tools"])


def system_of(request: dict[str, Any]) -> str:
    return str(request["messages"][0]["content"])


async def causes(api: ApiClient, session: str) -> Sequence[tuple[str, str]]:
    opened = [one for one in await api.stored_events(session) if one["type"] == "context.opened"]
    return [(one["preset"], one["cause"]) for one in opened]


async def talks_then_codes(page: Page, api: ApiClient, model: ModelServer) -> None:
    """Chosen at the start it has no computer; as another one, later, it has."""
    await expect(page.get_by_role("radio", name="General")).to_be_checked()
    await picture(page, "wide-first")
    await picture(page, "wide-first", scheme="dark")
    await page.get_by_text("Chat", exact=True).click()
    await expect(page.get_by_text("without a computer. Can search the web and read its pages.")).to_be_visible()
    await expect(page.get_by_role("button", name="Attach files")).to_have_count(0)
    await picture(page, "wide-chat")
    await page.get_by_role("button", name="Think it through").click()
    await page.wait_for_url("**/s/*")
    session = page.url.rpartition("/")[2]
    await expect(transcript(page).get_by_text("All is well")).to_be_visible(timeout=PATIENT_MS)
    first = await api.until(session, "run.finished")
    assert tools_of(model.requests[-1]) == TALK
    assert "Here you have no computer" in system_of(model.requests[-1])
    assert (await api.json("GET", f"/sessions/{session}/state"))["sandbox"]["status"] == "none"
    screen = page.get_by_role("button", name="Show computer")
    await expect(screen).to_have_count(0)

    await page.get_by_role("button", name="Preset: Chat").click()
    await picture(page, "wide-picker")
    async with page.expect_response(lambda answer: answer.request.method == "PATCH"):
        await page.get_by_role("menuitemradio", name="Coding").click()
    await expect(screen).to_be_visible()
    await expect(page.get_by_role("button", name="Attach files")).to_be_visible()
    await say(page, "and now a program")
    await api.until(session, "run.finished", after=first[-1]["seq"])
    assert "experienced software engineer" in system_of(model.requests[-1])
    assert "shell_exec" in tools_of(model.requests[-1])
    assert model.refusals == []
    assert await causes(api, session) == [("chat", "started"), ("coding", "preset")]
    await page.reload()
    await expect(page.get_by_role("button", name="Preset: Coding")).to_be_visible(timeout=PATIENT_MS)
    await picture(page, "wide-conversation")
    await picture(page, "wide-conversation", scheme="dark")


async def rules_by_keyboard(page: Page, api: ApiClient, model: ModelServer) -> None:
    """On a phone, in the deployment's own preset: a tool is switched off, and stays so when it is called."""
    await page.get_by_text("Law", exact=True).click()
    await expect(page.get_by_role("button", name="Read a lease")).to_be_visible()
    await picture(page, "phone-first")
    await page.get_by_role("button", name="How the agent works here").click()
    await expect(page.get_by_role("textbox", name="Step limit of an answer")).to_have_attribute("placeholder", "7")
    await picture(page, "phone-options")
    await picture(page, "phone-options", scheme="dark")
    await page.get_by_role("button", name="Set rules").press("Enter")
    rule = page.get_by_role("combobox", name="Rule for file_write")
    await expect(rule).to_be_visible()
    await expect(page.get_by_role("combobox", name="Rule for shell_exec")).to_have_count(0)
    await rule.focus()
    await rule.press("n")
    await expect(rule).to_have_value("denied")
    await picture(page, "phone-rules")
    await picture(page, "phone-rules", scheme="dark")
    await page.keyboard.press("Escape")
    await expect(rule).to_have_count(0)
    model.answer(Answer(texts=("I write.",), calls=[Call(name="file_write", arguments='{"path":"a","content":"b"}')]))
    await say(page, "write it")
    await page.wait_for_url("**/s/*")
    session = page.url.rpartition("/")[2]
    events = await api.until(session, "run.finished")
    (result,) = (one for one in events if one["type"] == "tool.finished")
    assert not result["success"]
    assert "switched file_write off" in result["preview"]
    stored = await api.json("GET", f"/sessions/{session}")
    assert (stored["preset"], stored["options"]) == ("law", {"denied_tools": ["file_write"]})
    assert (await api.json("GET", f"/sessions/{session}/state"))["sandbox"]["status"] == "none"
    await page.get_by_role("button", name="Preset: Law").click()
    await picture(page, "phone-picker")
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="How the agent works here").click()
    await expect(page.get_by_role("button", name="1 rule", exact=True)).to_be_visible()


@pytest.mark.timeout(400)
async def test_a_preset_is_chosen_changed_in_the_middle_and_limits_what_the_agent_has(
    model: ModelServer, tmp_path: Path
) -> None:
    own = tmp_path / "presets"
    own.mkdir()
    (own / "law.md").write_text(LAW, encoding="utf-8")
    settings = {
        "LLM_PROVIDER": "openai",
        "OPENAI_API_KEY": "sk-scripted",
        "OPENAI_BASE_URL": model.openai_url,
        "MODEL": "scripted",
        "PROMPTS_DIR": str(own),
    }
    with run_stack(tmp_path / "data", SANDBOX_DESKTOP="false", **settings) as stack:
        async with chromium() as browser, ApiClient(stack.base_url) as api:
            for viewport, look in ((WIDE, talks_then_codes), (PHONE, rules_by_keyboard)):
                page = await (await browser.new_context(viewport=viewport, locale="en")).new_page()
                await page.add_init_script(EVERY_STEP)
                await page.goto(stack.base_url)
                await expect(composer(page)).to_be_visible()
                await look(page, api, model)
            chinese = await (await browser.new_context(viewport=PHONE, locale="zh-CN")).new_page()
            await chinese.add_init_script(EVERY_STEP)
            await chinese.goto(stack.base_url)
            await chinese.get_by_text("法律", exact=True).click()
            await expect(chinese.get_by_text("阅读合同。")).to_be_visible()
            await picture(chinese, "phone-chinese")
