"""The page beside a life that goes on elsewhere: cut in, other tabs, a restart, unread answers, files brought back."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from support.api_client import ApiClient
from support.page import WIDE, chromium, composer, say, transcript
from support.stack import Stack, run_stack

PATIENT_MS = 60_000


async def opened(browser: Browser, stack: Stack, session: str) -> Page:
    page = await browser.new_page(viewport=WIDE, locale="en")
    await page.goto(f"{stack.base_url}/s/{session}")
    await expect(composer(page)).to_be_visible()
    return page


async def kinds(page: Page) -> list[str]:
    """What stands in the transcript, in order, with the first words of each."""
    return (
        await transcript(page)
        .locator("[data-kind]")
        .evaluate_all("all => all.map(one => `${one.dataset.kind}: ${one.innerText.slice(0, 24).trim()}`)")
    )


@pytest.mark.timeout(180)
async def test_a_message_cuts_in_at_once_and_survives_a_reload(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session = await api.new_session()
        page = await opened(browser, stack, session)
        other = await opened(browser, stack, session)
        await say(page, "stream 2000")
        await expect(transcript(page).locator("[data-kind=assistant]")).to_contain_text(" 20", timeout=PATIENT_MS)
        await expect(composer(page)).to_be_editable()
        await expect(composer(page)).to_have_attribute("placeholder", re.compile("interrupt"))

        await say(page, "run echo cut in")
        await expect(page.get_by_text("run echo cut in", exact=True)).to_be_visible(timeout=5_000)
        await api.until(session, "run.finished", timeout_s=60)

        stored = await api.stored_events(session)
        assert [one["text"] for one in stored if one["type"] == "message.user"] == ["stream 2000", "run echo cut in"]
        cut = next(one for one in stored if one["type"] == "message.completed")
        assert cut["partial"]
        assert cut["text"]
        await expect(transcript(page).locator("[data-kind=end]")).to_have_count(1, timeout=PATIENT_MS)
        shown = await kinds(page)
        assert [one.partition(":")[0] for one in shown][:3] == ["user", "assistant", "user"]
        await expect(transcript(other)).to_have_text(await transcript(page).text_content() or "")
        await page.reload()
        await expect(transcript(page).locator("[data-kind=end]")).to_have_count(1, timeout=PATIENT_MS)
        assert await kinds(page) == shown


@pytest.mark.timeout(180)
async def test_two_tabs_and_the_list_show_the_same(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        first, second = await api.new_session(title="Watched"), await api.new_session(title="Elsewhere")
        here, there = await opened(browser, stack, first), await opened(browser, stack, second)
        row = here.get_by_role("link", name="Elsewhere")
        await expect(row).to_be_visible()

        # Other tests may have left conversations unread.
        found = re.match(r"\((\d+)\)", await here.title())
        before = int(found[1]) if found else 0

        await say(there, "stream 100")
        await expect(row.get_by_text("Working")).to_be_attached(timeout=PATIENT_MS)
        await expect(here).to_have_title(re.compile("1 working"))
        await there.goto(f"{stack.base_url}/")
        await api.until(second, "run.finished", timeout_s=60)
        await expect(row.get_by_text("unread")).to_be_attached(timeout=PATIENT_MS)
        await expect(here).to_have_title(re.compile(rf"^\({before + 1}\)"))

        await there.get_by_role("link", name="Elsewhere").click()
        await expect(transcript(there).locator("[data-kind=end]")).to_be_attached(timeout=PATIENT_MS)
        await expect(row.get_by_text("unread")).not_to_be_attached(timeout=PATIENT_MS)
        await expect(here).to_have_title(re.compile(rf"^\({before}\)" if before else r"^[^(]"))

        made = await api.new_session(title="From afar")
        await expect(here.get_by_role("link", name="From afar")).to_be_visible(timeout=PATIENT_MS)
        await api.json("PATCH", f"/sessions/{made}", json={"title": "Renamed afar"})
        await expect(here.get_by_role("link", name="Renamed afar")).to_be_visible(timeout=PATIENT_MS)
        await api.json("DELETE", f"/sessions/{second}", expect=204)
        await expect(row).to_be_hidden(timeout=PATIENT_MS)
        await expect(there.get_by_text("This conversation is not here")).to_be_visible(timeout=PATIENT_MS)


@pytest.mark.thorough
@pytest.mark.timeout(240)
async def test_a_restart_in_mid_answer_is_told_and_passes(tmp_path: Path) -> None:
    with run_stack(tmp_path / "stack", SANDBOX_DESKTOP="false") as own:
        async with chromium() as browser, ApiClient(own.base_url) as api:
            session = await api.new_session()
            page = await opened(browser, own, session)
            await say(page, "stream 400")
            await expect(transcript(page).locator("[data-kind=assistant]")).to_contain_text(" 20", timeout=PATIENT_MS)

            await own.kill("gateway")

            # Beside it the header says in a word that the page reconnects.
            told = page.get_by_role("status").filter(has_text=re.compile("Reconnecting…|reached|starting again"))
            await expect(told).to_be_visible(timeout=PATIENT_MS)
            await expect(told).to_be_hidden(timeout=PATIENT_MS)
            await expect(transcript(page).locator("[data-kind=end]")).to_be_attached(timeout=2 * PATIENT_MS)
            fresh = await opened(browser, own, session)
            await expect(transcript(fresh).locator("[data-kind=end]")).to_be_attached(timeout=PATIENT_MS)
            assert await transcript(page).inner_text() == await transcript(fresh).inner_text()


@pytest.mark.thorough
@pytest.mark.timeout(240)
async def test_looking_at_files_starts_no_computer_and_a_snapshot_brings_them_back(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session = await api.new_session()
        page = await opened(browser, stack, session)
        await page.get_by_role("button", name="Show computer").click()
        await page.get_by_role("tab", name="Files").click()
        await expect(page.get_by_text("No computer yet")).to_be_visible()
        await asyncio.sleep(1)  # long enough for a start that should not be to show
        assert (await api.json("GET", f"/sessions/{session}/sandbox"))["status"] == "none"

        await page.get_by_role("button", name="Start it").click()
        await expect(page.get_by_text("No files yet")).to_be_visible(timeout=PATIENT_MS)
        files = {"files": ("plan.txt", b"first")}
        await api.json("POST", f"/sessions/{session}/files", files=files, expect=201)
        await expect(page.get_by_role("button", name="plan.txt").first).to_be_visible(timeout=PATIENT_MS)
        await page.get_by_role("button", name="Snapshots").click()
        dialog = page.get_by_role("dialog", name="Snapshots")
        await dialog.get_by_role("textbox").fill("before")
        await dialog.get_by_role("button", name="Take snapshot").click()
        await expect(dialog.get_by_role("listitem").filter(has_text="before")).to_be_visible(timeout=PATIENT_MS)

        files = {"files": ("later.txt", b"second")}
        await api.json("POST", f"/sessions/{session}/files", files=files, expect=201)
        await dialog.get_by_role("button", name="Restore", exact=True).click()
        await dialog.get_by_role("button", name="Restore these files").click()
        await expect(dialog.get_by_text("The files are back")).to_be_visible(timeout=PATIENT_MS)
        await page.keyboard.press("Escape")
        await expect(page.get_by_text("The computer was shut down")).to_be_visible(timeout=PATIENT_MS)
        await page.get_by_role("button", name="Start it").click()
        await expect(page.get_by_role("button", name="plan.txt").first).to_be_visible(timeout=PATIENT_MS)
        await expect(page.get_by_text("later.txt")).to_be_hidden()
