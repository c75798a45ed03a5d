"""A team in the page: each teammate stands below the call that began it, and what they tell each other can be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.async_api import Page, ViewportSize, expect

from support.api_client import Json
from support.model_server import Answer, ModelServer
from support.page import EVERY_STEP, PHONE, WIDE, chromium, say, transcript
from support.scripted_stack import call, calls, said_in
from support.stack import Stack, run_stack
from support.team_scripts import answering, plays, says, spawn

PATIENT_MS = 60_000


async def picture(page: Page, name: str) -> None:
    """For looking at, where SCREENSHOTS names a folder."""
    if folder := os.environ.get("SCREENSHOTS"):
        await page.screenshot(path=Path(folder) / f"{name}.png")


class Leads:
    """Reviews the plan once it is there, then writes to bob, and is done, whoever of the two is heard first."""

    def __init__(self) -> None:
        self._left = [
            calls(call("send_message", to="bob", content="Amy digs. **Stay** with the water.")),
            answering("plan_review", approve=True, feedback="Mind the cat."),
        ]

    def __call__(self, request: Json) -> Answer:
        if not self._left or "request_id req_" not in said_in(request):
            return says("All is done.")
        step = self._left.pop()
        return step(request) if callable(step) else step


@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    ("name", "viewport", "is_dark"), [("wide", WIDE, False), ("phone", PHONE, True)], ids=["wide", "phone"]
)
async def test_a_team_is_switched_on_and_seen_at_work(
    tmp_path: Path, name: str, viewport: ViewportSize, is_dark: bool
) -> None:
    async with ModelServer() as model:
        plays(
            model,
            lead=[spawn("amy", "bob"), says("Both are at it."), *[Leads()] * 8],
            amy=[
                calls(call("submit_plan", plan="1. Dig\n2. Look")),
                calls(call("shell_exec", command="echo dug")),
                calls(call("send_message", to="lead", content="It is dug.", msg_type="result")),
            ],
            bob=[says("The water is on.")],
        )
        settings = {
            "LLM_PROVIDER": "openai",
            "OPENAI_API_KEY": "sk-scripted",
            "OPENAI_BASE_URL": model.openai_url,
            "MODEL": "scripted",
            "SANDBOX_DESKTOP": "false",
        }
        with run_stack(tmp_path / "stack", ordinary=False, **settings) as stack:
            async with chromium() as browser:
                context = await browser.new_context(
                    viewport=viewport, locale="en", color_scheme="dark" if is_dark else "light"
                )
                await walk(await context.new_page(), stack, name)


async def walk(page: Page, stack: Stack, name: str) -> None:
    await page.add_init_script(EVERY_STEP)
    await page.goto(stack.base_url)
    await page.get_by_role("button", name="How the agent works here").click()
    await page.get_by_text("As a team", exact=True).click()
    await picture(page, f"team-{name}-options")
    await page.keyboard.press("Escape")
    await say(page, "tend the garden")
    shown = transcript(page)
    await expect(shown.get_by_text("Added amy to the team")).to_be_visible(timeout=PATIENT_MS)
    await expect(shown.get_by_text("Finished", exact=True)).to_have_count(2, timeout=PATIENT_MS)
    plan = shown.get_by_role("button", name="amy submits a plan")
    await plan.click()
    await expect(shown.get_by_text("Look", exact=True)).to_be_visible()
    inner = shown.get_by_role("list", name="What the teammate amy does")
    await expect(inner.get_by_role("button", name="The agent approved the plan of amy")).to_be_visible()
    await expect(inner.get_by_text("Ran echo dug")).to_be_visible()
    await picture(page, f"team-{name}")
    await page.reload()
    await expect(inner.get_by_text("Ran echo dug")).to_be_visible(timeout=PATIENT_MS)
    bob = shown.get_by_role("list", name="What the teammate bob does")
    message = bob.get_by_role("button", name="the agent to bob")
    await message.scroll_into_view_if_needed()
    await message.click()
    await expect(bob.get_by_text("Stay", exact=True)).to_be_visible()
    await picture(page, f"team-{name}-message")
