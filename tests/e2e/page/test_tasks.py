"""The tasks of a conversation beside the agent's plan and to-do list, and the instructions of a folder it follows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from support.model_server import Answer, ModelServer
from support.page import PHONE, WIDE, chromium, say, transcript
from support.scripted_stack import call, calls, model_settings
from support.stack import run_stack

PATIENT_MS = 60_000
STEPS = [{"title": "Dig", "status": "done"}, {"title": "Plant", "status": "in_progress"}]
LINES = ["Done: #1 Dig", "At work: #2 Plant 树 Assigned to gardener", "Open: #3 Water Blocked by #2"]


async def picture(page: Page, name: str) -> None:
    """For looking at, where SCREENSHOTS names a folder."""
    if folder := os.environ.get("SCREENSHOTS"):
        await page.screenshot(path=Path(folder) / f"{name}.png")


@pytest.mark.timeout(240)
@pytest.mark.parametrize(("viewport", "scheme"), [(WIDE, "light"), (PHONE, "dark")], ids=["wide", "phone"])
async def test_tasks_are_seen_as_they_change_and_again_after_a_reload(
    tmp_path: Path, viewport: dict[str, int], scheme: str
) -> None:
    async with ModelServer(Answer(texts=("Planted.",))) as model, chromium() as browser:
        model.answer(
            calls(
                call("task_create", subject="Dig"),
                call("task_create", subject="Plant 树", activeForm="Planting"),
                call("task_create", subject="Water"),
                call("file_write", path="AGENTS.md", content="Use the spade."),
            ),
            calls(
                call("task_update", taskId="2", addBlockedBy=["1"], addBlocks=["3"], owner="gardener"),
                call("task_update", taskId="1", status="completed"),
                call("task_update", taskId="2", status="in_progress"),
                call("todo_write", todos=[{"content": "Find the spade"}]),
                call("plan_update", steps=STEPS),
            ),
        )
        with run_stack(tmp_path / "stack", SANDBOX_DESKTOP="false", **model_settings(model, "chat")) as stack:
            context = await browser.new_context(viewport=viewport, locale="en", color_scheme=scheme)
            page = await context.new_page()
            await page.goto(stack.base_url)
            await say(page, "plant a tree")
            await expect(transcript(page).get_by_text("Planted.")).to_be_visible(timeout=PATIENT_MS)
            await expect(transcript(page).get_by_text("Follows the instructions in AGENTS.md.")).to_be_visible()
            count = page.get_by_role("status").filter(has_text="1 of 3 tasks")
            await expect(count).to_be_visible()
            await expect(page.locator("summary").filter(has=count)).to_contain_text("Planting")
            await picture(page, f"tasks-{viewport['width']}-closed")
            await page.locator("summary").filter(has=count).focus()
            await page.keyboard.press("Enter")
            lines = page.get_by_role("list", name="Tasks of this conversation").get_by_role("listitem")
            await expect(lines).to_have_text(LINES)
            width = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
            assert await page.evaluate(width)
            await picture(page, f"tasks-{viewport['width']}-open")
            await page.reload()
            await expect(count).to_be_visible(timeout=PATIENT_MS)
