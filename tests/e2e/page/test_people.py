"""Agents that work for the agent are rows: each text is there as it comes, and the panel has who has which task."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Page, ViewportSize, expect

from support.api_client import ApiClient, Json
from support.model_server import Answer, ModelServer
from support.page import PHONE, WIDE, chromium, say, transcript
from support.scripted_stack import call, calls, tools_of
from support.stack import Stack, run_stack
from support.team_scripts import plays, says, spawn

PATIENT_MS = 60_000
MOST_MS = 300
"""From a piece of a sub-agent's text on the model's way to the page."""
NAMES = ("amy", "bob", "cy")
WORDS = tuple(f"word{number} " for number in range(12))
PACE_S = 0.15
SEEN = """
window.seen = {}
new MutationObserver(() => {
  const said = document.querySelector('[data-now]')?.textContent ?? ''
  for (const [word] of said.matchAll(/word\\d+/g))
    if (!(word in window.seen)) {
      window.seen[word] = 0
      requestAnimationFrame(() => (window.seen[word] = Date.now()))
    }
}).observe(document, { subtree: true, childList: true, characterData: true })
"""
"""When each word was first painted in a row."""


async def picture(page: Page, name: str) -> None:
    if folder := os.environ.get("SCREENSHOTS"):
        await page.screenshot(path=Path(folder) / f"people-{name}.png")


@asynccontextmanager
async def scripted(model: ModelServer, folder: Path) -> AsyncIterator[Stack]:
    settings = {
        "LLM_PROVIDER": "openai",
        "OPENAI_API_KEY": "sk-scripted",
        "OPENAI_BASE_URL": model.openai_url,
        "MODEL": "scripted",
        "SANDBOX_DESKTOP": "false",
    }
    with run_stack(folder / "stack", ordinary=False, **settings) as stack:
        yield stack


@pytest.mark.quiet
@pytest.mark.timeout(240)
async def test_what_a_sub_agent_writes_is_painted_at_once_and_whole_for_who_comes_in_the_middle(tmp_path: Path) -> None:
    begun: list[float] = []

    def writes(request: Json) -> Answer:
        if "task" not in tools_of(request):
            begun.append(time.time())
            return Answer(texts=WORDS, delay_s=PACE_S)
        said = sum(message["role"] == "assistant" for message in request["messages"])
        return says("All done.") if said else calls(call("task", description="write it", prompt="Write it."))

    async with ModelServer(respond=writes) as model, scripted(model, tmp_path) as stack, chromium() as browser:
        page = await (await browser.new_context(viewport=WIDE, locale="en")).new_page()
        await page.add_init_script(SEEN)
        await page.goto(stack.base_url)
        await say(page, "hand it on")
        row = transcript(page).get_by_role("list", name="Agents at work").get_by_role("button").first
        await expect(row).to_contain_text("word3", timeout=PATIENT_MS)
        late = await (await browser.new_context(viewport=PHONE, locale="en")).new_page()
        await late.goto(page.url)
        await expect(transcript(late).get_by_role("button", name="write it")).to_contain_text("word0 word1 word2")
        await row.press("Enter")
        work = transcript(page).get_by_role("list", name="What the sub-agent does")
        await expect(work).to_contain_text("word0 word1 word2 word3")
        await expect(row).to_contain_text("Done", timeout=PATIENT_MS)
        await expect(work).to_contain_text("".join(WORDS).strip())
        assert await work.get_by_text("word0", exact=False).count() == 1
        await expect(transcript(page).get_by_text("All done.")).to_be_visible(timeout=PATIENT_MS)
        seen: dict[str, float] = await page.evaluate("window.seen")
    # Before each word stood as many pauses as frames: it was sent no sooner, so that this is the longest it took.
    took = [seen[word.strip()] - 1000 * (begun[0] + (at + 1) * PACE_S) for at, word in enumerate(WORDS[:-1])]
    assert max(took) < MOST_MS, took


@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    ("name", "viewport", "is_dark"), [("wide", WIDE, False), ("phone", PHONE, True)], ids=["wide", "phone"]
)
async def test_a_team_of_three_is_four_rows_and_the_panel_says_who_has_which_task(
    tmp_path: Path, name: str, viewport: ViewportSize, is_dark: bool
) -> None:
    async with ModelServer() as model:
        digs = [
            calls(call("task_create", subject="Dig the bed")),
            calls(call("task_update", taskId="1", owner="amy")),
        ]
        plays(
            model,
            lead=[*digs, spawn(*NAMES), says("They are at it."), *[says("All is done.")] * 8],
            **{one: [says(f"I am {one}.")] * 8 for one in NAMES},
        )
        async with (
            scripted(model, tmp_path) as stack,
            chromium() as browser,
            ApiClient(stack.base_url) as api,
        ):
            scheme = "dark" if is_dark else "light"
            page = await (await browser.new_context(viewport=viewport, locale="en", color_scheme=scheme)).new_page()
            session = await api.new_session(options={"enable_teams": True})
            await page.goto(f"{stack.base_url}/s/{session}")
            await say(page, "tend the garden")
            team = transcript(page).get_by_role("list", name="Agents at work")
            rows = team.locator("[data-agent]")
            await expect(rows).to_have_count(3, timeout=PATIENT_MS)
            for one in NAMES:
                await expect(team.get_by_role("button", name=one)).to_contain_text(f"I am {one}.", timeout=PATIENT_MS)
            # Three rows of the team and the folded work it came from.
            folds = await transcript(page).locator("[data-kind=work], [data-kind=team]").count()
            assert await rows.count() + folds <= 4
            assert await page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
            await picture(page, name)
            await team.get_by_role("button", name="bob").press("Enter")
            await expect(team.get_by_role("list", name="What the teammate bob does")).to_contain_text("I am bob.")
            await opens_board(page)
            board = page.get_by_role("region", name="Who has which task")
            await expect(board).to_contain_text("Dig the bed")
            await expect(board.locator("dl > div").filter(has_text="amy")).to_contain_text("Dig the bed")
            await picture(page, f"{name}-board")


async def opens_board(page: Page) -> None:
    """The panel Agents, wherever its tab stands at this width."""
    await page.goto(f"{page.url.split('?')[0]}?panel=agents")
