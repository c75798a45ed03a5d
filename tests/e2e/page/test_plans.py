"""A plan waits for the person: rejected with feedback, then approved and carried out, and a reload shows the same."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from support.api_client import ApiClient
from support.page import PHONE, WIDE, chromium, composer, say, transcript
from support.stack import Stack, run_stack

PATIENT_MS = 60_000
PROPOSES, PROPOSED = "The agent proposes a plan", "The agent proposed a plan"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with run_stack(tmp_path_factory.mktemp("plans"), SANDBOX_DESKTOP="false") as running:
        yield running


async def picture(page: Page, name: str) -> None:
    """For looking at, where SCREENSHOTS names a folder."""
    if folder := os.environ.get("SCREENSHOTS"):
        await page.screenshot(path=Path(folder) / f"{name}.png")


@pytest.mark.timeout(240)
@pytest.mark.parametrize(("name", "viewport"), [("wide", WIDE), ("phone", PHONE)])
async def test_a_plan_is_rejected_with_feedback_then_approved_and_its_steps_are_seen(
    own: Stack, name: str, viewport: dict[str, int]
) -> None:
    async with chromium() as browser, ApiClient(own.base_url) as api:
        page = await (await browser.new_context(viewport=viewport, locale="en")).new_page()
        await page.goto(own.base_url)
        await page.get_by_role("button", name="How the agent works here").click()
        await page.get_by_text("Plan first", exact=True).click()
        await picture(page, f"{name}-options")
        await page.keyboard.press("Escape")
        await say(page, "plan a trip")
        await page.wait_for_url("**/s/*")
        session = page.url.rpartition("/")[2]
        # In the transcript, or above the message box where that is out of view.
        card = page.get_by_role("group", name=PROPOSES)
        await expect(card.get_by_role("heading", name="a trip")).to_be_visible(timeout=PATIENT_MS)
        await page.reload()
        await expect(card).to_be_visible(timeout=PATIENT_MS)
        assert (await api.json("GET", f"/sessions/{session}"))["status"] == "waiting"
        await picture(page, f"{name}-proposed")
        feedback = card.get_by_role("textbox")
        await feedback.fill("by train")
        await feedback.press("Tab")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await expect(transcript(page).get_by_text("I leave everything as it is")).to_be_visible(timeout=PATIENT_MS)
        await expect(transcript(page).get_by_text("by train", exact=True)).to_be_visible()

        await expect(composer(page)).to_be_editable()
        await say(page, "plan a trip by train")
        await card.get_by_role("button", name="Approve the plan").click(timeout=PATIENT_MS)
        await expect(transcript(page).get_by_text("All steps are done")).to_be_visible(timeout=PATIENT_MS)
        await page.get_by_text("2 of 2 steps").click()
        steps = page.get_by_role("list", name="Steps of the plan")
        await expect(steps.get_by_text("plan.md is written")).to_be_visible()
        await picture(page, f"{name}-done")
        await page.reload()
        await expect(page.get_by_text("2 of 2 steps")).to_be_visible(timeout=PATIENT_MS)
        await expect(transcript(page).get_by_role("group", name=PROPOSED)).to_have_count(2)

        state = await api.json("GET", f"/sessions/{session}/state")
        assert [step["status"] for step in state["plan"]["steps"]] == ["done", "done"]
        assert state["session"]["options"]["enable_plan_mode"] is False
        decided = [one for one in await api.stored_events(session) if one["type"] == "plan.decided"]
        assert [(one["decision"], one["feedback"]) for one in decided] == [("reject", "by train"), ("approve", None)]
