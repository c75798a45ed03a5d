"""The agent asks, and waits without a process: kill -9 of everything that knew of it loses nothing."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator

import pytest
from playwright.async_api import TimeoutError as NotThereError
from playwright.async_api import expect

from support.api_client import ApiClient
from support.page import WIDE, chromium, say, transcript
from support.stack import Stack, run_stack

PATIENT_MS = 60_000


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack that may be killed."""
    with run_stack(tmp_path_factory.mktemp("questions"), SANDBOX_DESKTOP="false") as running:
        yield running


@pytest.mark.thorough
@pytest.mark.timeout(240)
async def test_a_question_outlives_gateway_and_database_and_its_answer_counts_once(own: Stack) -> None:
    async with chromium() as browser, ApiClient(own.base_url) as api:
        session = await api.new_session()
        page = await (await browser.new_context(viewport=WIDE, locale="en")).new_page()
        await page.goto(f"{own.base_url}/s/{session}")
        await say(page, "ask me whether to go on")
        card = transcript(page).get_by_role("form", name="The agent asks")
        await expect(card.get_by_text("whether to go on")).to_be_visible(timeout=PATIENT_MS)
        assert (await api.json("GET", f"/sessions/{session}"))["status"] == "waiting"

        await asyncio.gather(own.kill("mongod"), own.kill("gateway"))

        answer = card.get_by_role("button", name="Answer")
        await card.get_by_text("Yes", exact=True).click()

        async def until_answered() -> None:
            async with asyncio.timeout(PATIENT_MS / 1000):
                while await answer.is_visible():
                    # It may be taken between the look and the click.
                    with contextlib.suppress(NotThereError):
                        if await answer.is_enabled(timeout=1_000):
                            await answer.click(timeout=1_000)
                    await asyncio.sleep(0.5)

        await until_answered()
        await expect(transcript(page).get_by_text("Thank you. I heard:")).to_be_visible(timeout=PATIENT_MS)
        await api.until(session, "run.finished", timeout_s=60)
        stored = await api.stored_events(session)
        assert [one["seq"] for one in stored] == list(range(1, len(stored) + 1))
        (answered,) = [one for one in stored if one["type"] == "question.answered"]
        assert (answered["by"], answered["answers"]) == ("user", {"q1": "Yes"})
        assert [one["cause"] for one in stored if one["type"] == "run.queued"] == ["message", "answer"]
        assert [one["status"] for one in stored if one["type"] == "run.finished"] == ["completed"]
        refused = await api.http.post(
            f"/sessions/{session}/questions/{answered['question_id']}", json={"answers": {"q1": "No"}}
        )
        assert (refused.status_code, refused.json()["code"]) == (409, "question_answered")


@pytest.mark.timeout(180)
async def test_what_was_begun_to_answer_is_there_after_a_reload(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session = await api.new_session()
        page = await (await browser.new_context(viewport=WIDE, locale="en")).new_page()
        await page.goto(f"{stack.base_url}/s/{session}")
        await say(page, "ask me whether `make` is **fine**")
        card = transcript(page).get_by_role("form", name="The agent asks")
        await expect(card.locator("strong", has_text="fine")).to_be_visible(timeout=PATIENT_MS)
        await expect(card.get_by_role("group", name="make is fine")).to_be_visible()
        await card.get_by_role("textbox").fill("Not on Sundays")
        await page.reload()
        await expect(card.get_by_role("textbox")).to_have_value("Not on Sundays", timeout=PATIENT_MS)
        await card.get_by_role("button", name="Answer").click()
        await expect(transcript(page).get_by_text("Thank you. I heard:")).to_be_visible(timeout=PATIENT_MS)
        assert await page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('answer:'))") == []
