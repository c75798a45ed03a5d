"""Long lists of what the agent is at leave the conversation and the message their room when all are open."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from support.api_client import ApiClient
from support.model_server import Answer, Call, ModelServer
from support.page import PHONE, WIDE, chromium, composer, opened, transcript
from support.scripted_stack import tools_of
from support.stack import run_stack

PATIENT_MS = 60_000
SIDEWAYS = {"width": PHONE["height"], "height": PHONE["width"]}
LEAST_PX = {PHONE["height"]: 300, SIDEWAYS["height"]: 60, WIDE["height"]: 300}
"""How much of the conversation stays in sight at least, by the height of the window."""


def respond(request: dict[str, Any]) -> Answer:
    if "todo_write" not in tools_of(request) or any(one["role"] == "assistant" for one in request["messages"]):
        return Answer(texts=("All is listed.",))
    todos = [{"content": f"Water bed {number}"} for number in range(20)]
    tasks = [Call(name="task_create", arguments=json.dumps({"subject": f"Dig {at}"}), id=f"t{at}") for at in range(15)]
    return Answer(texts=(), calls=(Call(name="todo_write", arguments=json.dumps({"todos": todos}), id="todos"), *tasks))


async def picture(page: Page, name: str) -> None:
    """For looking at, where SCREENSHOTS names a folder."""
    if folder := os.environ.get("SCREENSHOTS"):
        await page.screenshot(path=Path(folder) / f"{name}.png")


@pytest.mark.timeout(240)
async def test_long_lists_that_are_open_leave_the_conversation_and_the_message_their_room(tmp_path: Path) -> None:
    async with ModelServer(respond=respond) as model:
        settings = {"LLM_PROVIDER": "openai", "OPENAI_API_KEY": "sk-scripted", "MODEL": "scripted"}
        with run_stack(
            tmp_path / "stack", SANDBOX_DESKTOP="false", OPENAI_BASE_URL=model.openai_url, **settings
        ) as own:
            async with ApiClient(own.base_url) as api, chromium() as browser:
                session = await api.new_session(title="named")
                await api.send(session, "list it")
                await api.until(session, "run.finished", timeout_s=60)
                page = await (await browser.new_context(viewport=PHONE, locale="en")).new_page()
                await opened(page, own, session)
                summaries = page.locator("summary").filter(has=page.get_by_role("status"))
                await expect(summaries).to_have_count(2, timeout=PATIENT_MS)
                for summary in await summaries.all():
                    await summary.click()
                last = page.get_by_role("listitem").filter(has_text="Water bed 19")
                for viewport in (PHONE, SIDEWAYS, WIDE):
                    await page.set_viewport_size({"width": viewport["width"], "height": viewport["height"]})
                    await last.scroll_into_view_if_needed()
                    await expect(composer(page)).to_be_in_viewport(ratio=1)
                    await expect(last).to_be_in_viewport(ratio=1)
                    seen = await transcript(page).locator("xpath=../..").bounding_box()
                    await picture(page, f"lists-{viewport['width']}")
                    assert seen
                    assert seen["height"] >= LEAST_PX[viewport["height"]]
