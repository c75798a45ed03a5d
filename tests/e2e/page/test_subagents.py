"""What another agent does for the agent stands below its call, and a run that failed goes on by its button."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.async_api import expect

from support.api_client import ApiClient
from support.model_server import Answer, Call, ModelServer
from support.page import EVERY_STEP, WIDE, chromium, say, transcript
from support.stack import run_stack

PATIENT_MS = 60_000
TASK = json.dumps({"description": "count the files", "prompt": "Count the files.", "agent_type": "explore"})


@pytest.mark.timeout(240)
async def test_its_work_is_nested_and_a_failed_run_goes_on_without_a_message(tmp_path: Path) -> None:
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
            Answer(texts=("Inner words.",), calls=(Call(name="utc_now"),)),
            Answer(texts=("Seven files.",)),
            Answer(status=500),
            Answer(texts=("There are seven.",)),
        )
        with run_stack(tmp_path / "stack", SANDBOX_DESKTOP="false", **settings) as stack:
            async with chromium() as browser, ApiClient(stack.base_url) as api:
                session = await api.new_session()
                page = await (await browser.new_context(viewport=WIDE, locale="en")).new_page()
                await page.add_init_script(EVERY_STEP)
                await page.goto(f"{stack.base_url}/s/{session}")
                await say(page, "how many files?")
                again = transcript(page).get_by_role("button", name="Try again")
                await expect(again).to_be_visible(timeout=PATIENT_MS)
                inner = transcript(page).get_by_role("list", name="What the sub-agent does")
                await expect(inner.get_by_text("Seven files.")).to_be_visible()
                await expect(inner.get_by_role("button", name="Looked at the clock")).to_be_visible()
                assert await transcript(page).get_by_text("Inner words.").count() == 1
                await again.click()
                await expect(transcript(page).get_by_text("There are seven.")).to_be_visible(timeout=PATIENT_MS)
                events = await api.stored_events(session)
                assert [one["cause"] for one in events if one["type"] == "run.queued"] == ["message", "resume"]
                assert sum(one["type"] == "message.user" for one in events) == 1
                assert "Go on" in str(model.requests[-1]["messages"][-1]) or "go on" in str(
                    model.requests[-1]["messages"]
                )
                await page.reload()
                await expect(inner.get_by_text("Seven files.")).to_be_visible(timeout=PATIENT_MS)
