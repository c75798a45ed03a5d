"""The panel of the computer turns to the tool at work, and shows each call as it was, after a reload too."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from support.api_client import ApiClient
from support.model_server import Answer, ModelServer
from support.page import EVERY_STEP, WIDE, chromium, opened, say, transcript
from support.scripted_stack import call, calls, model_settings
from support.stack import run_stack

PATIENT_MS = 90_000
TURNS_MS, SCRUBS_MS = 2_000, 1_000
"""From the card of a call to the tab of its tool, and from a key to what it shows, on a machine that does much else.
Where nobody else works it is to be 300 and 150. Where nothing follows that tab never comes."""
WATCH = """
window.turns = []
new MutationObserver(() => {
    const tab = document.querySelector('aside [role=tab][aria-selected=true]')?.textContent.trim()
    const cards = document.querySelectorAll('[role=log] [data-kind=tool]').length
    const last = window.turns.at(-1)
    if (last?.tab !== tab || last?.cards !== cards) window.turns.push({ tab, cards, at: performance.now() })
}).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['aria-selected'] })
"""
SCRUB = """
async ([steps, key]) => {
    const slider = document.querySelector('aside [role=slider]')
    slider.focus()
    const times = []
    for (let step = 0; step < steps; step += 1) {
        const begun = performance.now()
        slider.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
        const isShown = () => {
            const stage = document.querySelector('aside [data-stage]')
            const pictures = [...(stage?.querySelectorAll('img') ?? [])]
            const hasContent = stage?.querySelector('pre, img, code, [role=region]')
            return hasContent && pictures.every((one) => one.complete && one.naturalWidth > 0)
        }
        await new Promise((resolve) => {
            const look = () => (isShown() ? resolve() : requestAnimationFrame(look))
            requestAnimationFrame(look)
        })
        times.push(performance.now() - begun)
    }
    return times
}
"""
APART = {"first_delay_s": 1.0}
"""Before each call, so that a busy page shows it before the next one comes."""
RUN = (
    calls(call("file_write", path="tea.txt", content="green\nblack\n"), **APART),
    calls(call("shell_exec", command="echo poured; sleep 1"), **APART),
    calls(call("file_edit", path="tea.txt", old="black", new="oolong"), **APART),
    calls(call("browser_navigate", url="file:///workspace/tea.txt"), **APART),
    calls(call("shell_exec", command="cat tea.txt; sleep 1"), **APART),
    Answer(texts=("Tea is ready.",)),
)
PLACES = ("Editor", "Terminal", "Editor", "Desktop", "Terminal")


async def turns_of(page: Page) -> dict[int, float]:
    """How long after its card the tab of each call came; those that came with it are at 0."""
    turns = await page.evaluate("window.turns")
    took: dict[int, float] = {}
    for number, place in enumerate(PLACES, start=1):
        seen = [one for one in turns if one["cards"] == number]
        assert seen, f"call {number} was not seen"
        there = [one["at"] for one in turns if one["cards"] >= number and one["tab"] == place]
        assert there, f"{place} was not shown for call {number}: {turns}"
        took[number] = max(0.0, there[0] - seen[0]["at"])
    return took


@pytest.mark.timeout(300)
async def test_the_panel_follows_the_agent_and_scrubs_back_after_a_reload(tmp_path: Path) -> None:
    async with ModelServer(RUN[-1]) as model, chromium() as browser:
        with run_stack(tmp_path / "stack", **model_settings(model, "chat")) as stack:
            async with ApiClient(stack.base_url) as api:
                session = await api.new_session()
                await api.json("POST", f"/sessions/{session}/sandbox")
                model.answer(*RUN)
                page = await browser.new_page(viewport=WIDE, locale="en")
                await page.add_init_script(EVERY_STEP)
                await page.add_init_script(WATCH)
                await opened(page, stack, session)
                await say(page, "make tea")
                await expect(transcript(page).get_by_text("Tea is ready.").last).to_be_visible(timeout=PATIENT_MS)
                took = await turns_of(page)
                assert max(took.values()) < TURNS_MS, took

                side = page.locator("aside")
                chosen = side.get_by_role("tab", selected=True)
                await expect(chosen).to_have_text("Terminal")
                await expect(side.get_by_text("Following")).to_be_visible()
                slider = side.get_by_role("slider", name="What the agent did")
                await slider.press("ArrowLeft")
                await expect(chosen).to_have_text("Browser")
                await expect(side.get_by_role("img", name="Screenshot", exact=False)).to_be_visible()
                await slider.press("ArrowLeft")
                await expect(side.get_by_text("+oolong")).to_be_visible()

                await page.reload()
                await expect(side.get_by_text("+oolong")).to_be_visible(timeout=PATIENT_MS)
                times = [*await page.evaluate(SCRUB, [2, "ArrowLeft"]), *await page.evaluate(SCRUB, [4, "ArrowRight"])]
                assert sorted(times)[len(times) // 2] < SCRUBS_MS, times
                await side.get_by_role("button", name="Follow the agent").click()
                await expect(side.get_by_text("Following")).to_be_visible()

                await transcript(page).get_by_role("button", name="Wrote tea.txt").click()
                await expect(chosen).to_have_text("Editor")
                await expect(side.get_by_text("black")).to_be_visible()
                await side.get_by_role("tab", name="Files").click()
                await say(page, "thanks")
                await expect(transcript(page).locator("[data-kind=end]")).to_have_count(2, timeout=PATIENT_MS)
                await expect(chosen).to_have_text("Files")
