"""Files of the workspace are made, edited, moved and deleted in the panel of the computer."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from support.api_client import ApiClient
from support.page import WIDE, chromium
from support.stack import Stack

PATIENT_MS = 60_000


@pytest.mark.timeout(300)
async def test_a_file_is_made_edited_and_never_saved_over_a_newer_one(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session = await api.new_session()
        await api.ask(session, "run echo one > notes.py")
        page = await (await browser.new_context(viewport=WIDE, locale="en")).new_page()
        await page.goto(f"{stack.base_url}/s/{session}?panel=files")
        await page.get_by_role("button", name="notes.py", exact=True).first.click(timeout=PATIENT_MS)
        await page.get_by_role("button", name="Edit notes.py").click(timeout=PATIENT_MS)
        text = page.get_by_role("textbox", name="Text of notes.py")
        await expect(text).to_contain_text("one", timeout=PATIENT_MS)
        await expect(page.locator(".cm-lineNumbers")).to_contain_text("1")
        await text.press("Control+End")
        await page.keyboard.type("mine = 2")
        await page.keyboard.press("Control+s")
        await expect(page.get_by_text("Saved", exact=True)).to_be_visible(timeout=PATIENT_MS)

        # Somebody else is faster.
        body = {"path": "notes.py", "content": "theirs = 3\n", "if_match": None}
        read = await api.json("GET", f"/sessions/{session}/files/text", params={"path": "notes.py"})
        assert read["content"] == "one\nmine = 2"
        await api.json("PUT", f"/sessions/{session}/files/text", json=body | {"if_match": read["etag"]})
        await page.keyboard.type("5")
        await page.get_by_role("button", name="Save", exact=True).click()
        await expect(page.get_by_text("This file was changed while you edited it")).to_be_visible(timeout=PATIENT_MS)
        difference = page.get_by_role("region", name="Difference")
        await expect(difference).to_contain_text("theirs = 3")
        await expect(difference).to_contain_text("mine = 25")
        kept = await api.json("GET", f"/sessions/{session}/files/text", params={"path": "notes.py"})
        assert kept["content"] == "theirs = 3\n"
        await page.get_by_role("button", name="Save mine over it").click()
        await expect(difference).to_be_hidden(timeout=PATIENT_MS)
        kept = await api.json("GET", f"/sessions/{session}/files/text", params={"path": "notes.py"})
        assert kept["content"] == "one\nmine = 25"

        await page.get_by_role("button", name="Stop editing").click()
        await page.get_by_role("button", name="Back to files").click()
        await page.get_by_role("region", name="Files").get_by_role("listitem").filter(has_text="notes.py").hover()
        await page.get_by_role("button", name="More about notes.py").click()
        await page.get_by_role("menuitem", name="Rename or move").click()
        await page.get_by_role("textbox", name="Path in the workspace").fill("old/notes.py")
        await page.get_by_role("button", name="Move", exact=True).click()
        folder = page.get_by_role("region", name="Files").get_by_role("listitem").filter(has_text="old")
        await expect(folder).to_be_visible(timeout=PATIENT_MS)
        await folder.hover()
        await page.get_by_role("button", name="More about old").click()
        await page.get_by_role("menuitem", name="Delete").click()
        await page.get_by_role("button", name="Delete", exact=True).click()
        await expect(folder).to_be_hidden(timeout=PATIENT_MS)
