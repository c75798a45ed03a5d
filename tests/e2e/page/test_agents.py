"""A person writes an agent of their own on the page, the model gives it work, and the page says which kind did it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from support.api_client import ApiClient
from support.model_server import Answer, Call, ModelServer
from support.page import EVERY_STEP, PHONE, WIDE, chromium, say, transcript
from support.stack import run_stack

PATIENT_MS = 60_000
TASK = json.dumps({"description": "bake", "prompt": "Bake bread.", "agent_type": "baker"})


async def picture(page: Page, name: str) -> None:
    if folder := os.environ.get("SCREENSHOTS"):
        await page.screenshot(path=Path(folder) / f"agents-{name}.png")


@pytest.mark.timeout(300)
async def test_one_is_written_by_the_keyboard_given_work_shown_and_deleted(tmp_path: Path) -> None:
    async with ModelServer(Answer(texts=("Nothing",))) as model:
        settings = {
            "LLM_PROVIDER": "openai",
            "OPENAI_API_KEY": "sk-scripted",
            "OPENAI_BASE_URL": model.openai_url,
            "MODEL": "scripted",
            "LLM_MAX_RETRIES": "0",
        }
        model.answer(
            Answer(texts=(), calls=(Call(name="task", arguments=TASK),)),
            Answer(texts=("It takes 40 minutes.",)),
            Answer(texts=("There will be bread.",)),
        )
        with run_stack(tmp_path / "stack", SANDBOX_DESKTOP="false", **settings) as stack:
            async with chromium() as browser, ApiClient(stack.base_url) as api:
                page = await (await browser.new_context(viewport=WIDE, locale="en")).new_page()
                await page.add_init_script(EVERY_STEP)
                await page.goto(f"{stack.base_url}/?settings=agents")
                rows = page.get_by_role("list", name="Agents").get_by_role("listitem")
                await expect(rows).to_have_count(5, timeout=PATIENT_MS)
                await expect(rows.first).to_contain_text("built in")
                assert await page.get_by_role("button", name="Edit general").count() == 0
                await page.get_by_role("button", name="Add an agent").focus()
                await page.keyboard.press("Enter")
                for text in ("baker", "Bakes, and says how long.", "Bake at 220 degrees."):
                    await page.keyboard.type(text)
                    await page.keyboard.press("Tab")
                await page.get_by_label("Tools", exact=True).select_option(label="Only some of these")
                await page.get_by_label("Names of tools").fill("file_*, gone_*")
                await page.get_by_role("button", name="Save").press("Enter")
                await expect(page.get_by_role("alert")).to_contain_text("There is no tool gone_*")
                await page.get_by_label("Names of tools").fill("file_*")
                await picture(page, "form")
                await page.get_by_role("button", name="Save").press("Enter")
                await expect(page.get_by_text("baker is saved")).to_be_visible()
                await expect(rows).to_have_count(6)
                await picture(page, "wide")

                session = await api.new_session(title="named")
                await page.goto(f"{stack.base_url}/s/{session}")
                await say(page, "bake")
                await expect(transcript(page).get_by_text("There will be bread.")).to_be_visible(timeout=PATIENT_MS)
                await expect(
                    transcript(page).get_by_role("button", name="Delegated: bake").get_by_text("baker", exact=True)
                ).to_be_visible()
                below = model.requests[1]
                assert "Bake at 220 degrees." in str(below["messages"])
                assert {tool["function"]["name"].split("_")[0] for tool in below["tools"]} == {"file"}
                await picture(page, "transcript")

                small = await (
                    await browser.new_context(viewport=PHONE, locale="zh-CN", color_scheme="dark")
                ).new_page()
                await small.add_init_script(EVERY_STEP)
                await small.goto(f"{stack.base_url}/?settings=agents")
                mine = small.get_by_role("listitem").filter(has_text="baker")
                await expect(mine).to_contain_text("你的", timeout=PATIENT_MS)
                await mine.get_by_role("button", name="编辑 baker").click()
                await expect(small.get_by_label("工具名称")).to_have_value("file_*")
                assert await small.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
                await picture(small, "phone")
                await small.keyboard.press("Escape")
                await mine.get_by_role("button", name="删除 baker").click()
                await small.get_by_role("button", name="删除智能体").click()
                await expect(small.get_by_role("list", name="智能体").get_by_role("listitem")).to_have_count(5)
