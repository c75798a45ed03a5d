"""Keys and settings of a person, in the page."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import expect

from support.model_server import Answer, ModelServer
from support.page import WIDE, chromium, composer, say, transcript
from support.stack import run_stack

KEY = "sk-page-0a1b2c3d4e5f6g7h8i9j"
PATIENT_MS = 30_000


@pytest.mark.timeout(240)
async def test_a_key_that_is_set_in_the_page_answers_at_once_and_follows_into_another_browser(tmp_path: Path) -> None:
    refused = Answer(status=401, message=f"Incorrect API key provided: {KEY}")
    async with ModelServer(Answer(texts=("of a provider",))) as model, chromium() as browser:
        with run_stack(tmp_path / "stack", SANDBOX_DESKTOP="false") as stack:
            page = await browser.new_page(viewport=WIDE, locale="en")
            await page.goto(stack.base_url)
            await page.get_by_role("button", name="Set a key for a real model").click()
            await page.wait_for_url("**/?settings=models")
            form = page.get_by_role("form", name="OpenAI")
            await form.get_by_label("Key", exact=True).fill(KEY)
            await form.get_by_label("Address").fill(model.openai_url)
            await form.get_by_label("Models").fill("scripted")
            model.answer(refused)
            await form.get_by_role("button", name="Test").click()
            await expect(form.get_by_role("alert")).to_contain_text("The key was refused.", timeout=PATIENT_MS)
            await expect(form.get_by_role("alert")).not_to_contain_text(KEY[3:12])
            await form.get_by_role("button", name="Test").click()
            await expect(form.get_by_role("status")).to_contain_text("It works: scripted has answered.")
            await form.get_by_role("button", name="Save").click()
            await expect(form).to_contain_text(f"Your key, ending in {KEY[-4:]}", timeout=PATIENT_MS)
            # Its last part may still be on its way: who leaves then is asked.
            await expect(form.get_by_role("status")).to_contain_text("Saved.", timeout=PATIENT_MS)
            await page.get_by_role("tab", name="Appearance").click()
            await page.get_by_role("group", name="Theme").get_by_text("Dark").click()
            await page.keyboard.press("Escape")

            await expect(page.get_by_role("button", name="Model: scripted")).to_be_visible()
            await expect(page.get_by_text("Demo model")).to_have_count(0)
            await say(page, "hello")
            await expect(transcript(page)).to_contain_text("of a provider", timeout=PATIENT_MS)
            assert model.headers[-1]["authorization"] == f"Bearer {KEY}"

            other = await (await browser.new_context(viewport=WIDE, locale="en")).new_page()
            await other.goto(stack.base_url)
            await expect(composer(other)).to_be_visible()
            await expect(other.locator("html")).to_have_attribute("data-theme", "dark")
            await expect(other.get_by_role("button", name="Model: scripted")).to_be_visible()
        logs = "".join(log.read_text(errors="replace") for log in (stack.data_dir / "logs").glob("gateway*"))
        assert KEY[3:12] not in logs


@pytest.mark.thorough
@pytest.mark.timeout(240)
async def test_four_presses_lead_from_an_empty_page_to_the_first_answer_of_a_model(tmp_path: Path) -> None:
    async with ModelServer(Answer(texts=("of a provider",))) as model, chromium() as browser:
        model.listed = [{"id": "scripted", "created": 2}, {"id": "text-embedding-3", "created": 3}]
        with run_stack(tmp_path / "stack", SANDBOX_DESKTOP="false") as stack:
            page = await browser.new_page(viewport=WIDE, locale="en")
            await page.goto(stack.base_url)
            await page.get_by_role("button", name="Set a key for a real model").click()
            form = page.get_by_role("form", name="Connect a model")
            await form.get_by_role("button", name="Another service").click()
            await expect(form.get_by_label("Address")).to_be_focused()
            await form.get_by_label("Address").fill(model.openai_url)
            await form.get_by_label("Key, if it needs one").fill(KEY)
            await form.get_by_role("button", name="Use scripted").click(timeout=PATIENT_MS)

            await expect(page.get_by_role("dialog")).to_have_count(0, timeout=PATIENT_MS)
            await expect(page.get_by_role("button", name="Model: scripted")).to_be_visible()
            await composer(page).fill("hello")
            await page.get_by_role("button", name="Send").click()
            await expect(transcript(page)).to_contain_text("of a provider", timeout=PATIENT_MS)
            assert {sent["authorization"] for sent in model.headers} == {f"Bearer {KEY}"}
