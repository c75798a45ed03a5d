"""What waits for the person stays above the message box while its place is scrolled away, and is decided there."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import expect

from support.api_client import ApiClient
from support.page import PHONE, WIDE, chromium, transcript
from support.stack import run_stack

PATIENT_MS = 60_000
ASKS = "The agent asks before it does this"
SCROLL = "(top) => document.querySelector('[data-conversation]').scrollTo(0, top)"


@pytest.mark.timeout(240)
async def test_a_card_is_decided_above_the_box_while_its_place_is_out_of_sight(tmp_path: Path) -> None:
    with run_stack(tmp_path / "stack", SANDBOX_DESKTOP="false") as stack:
        async with chromium() as browser, ApiClient(stack.base_url) as api:
            for number, size in enumerate((WIDE, PHONE)):
                session = str(
                    (await api.json("POST", "/sessions", json={"options": {"enable_approval": True}}, expect=201))["id"]
                )
                for text in ("A line that takes room.\n\n" * 40, f"run: echo {number} > seen.txt"):
                    sent = await api.json("POST", f"/sessions/{session}/messages", json={"text": text}, expect=202)
                    ends = "approval.requested" if text.startswith("run:") else "run.finished"
                    await api.until(session, ends, after=sent["seq"])
                page = await (await browser.new_context(viewport=size, locale="en")).new_page()
                await page.goto(f"{stack.base_url}/s/{session}")
                card = transcript(page).get_by_role("group", name=ASKS)
                await expect(card).to_be_visible(timeout=PATIENT_MS)
                dock = page.get_by_role("region", name="What waits for you")
                await expect(dock).to_have_count(0)
                await page.evaluate(SCROLL, 0)
                await expect(dock.get_by_role("group", name=ASKS)).to_be_visible()
                where = dock.get_by_role("button", name="Where it was asked")
                await where.click()
                await expect(card).to_be_visible()
                await expect(dock).to_have_count(0)
                await page.evaluate(SCROLL, 0)
                await dock.get_by_role("button", name="Approve", exact=False).first.click()
                await expect(dock).to_have_count(0)
                await api.until(session, "run.finished", after=sent["seq"])
                answer = await api.http.get(f"/sessions/{session}/files/content", params={"path": "seen.txt"})
                assert answer.json()["content"] == f"{number}\n"
