"""Models for single tasks and notifications that a person sets in the page act; the tabs of the settings fit phones."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.async_api import Browser, Page, ViewportSize, expect

from support.api_client import ApiClient
from support.model_server import Answer, ModelServer
from support.page import PHONE, WIDE, chromium, composer, say, transcript
from support.stack import Stack, run_stack

PATIENT_MS = 60_000
KEY = "sk-settings-0a1b2c3d4e5f6g7h"
TOLD = """
window.told = []
window.Notification = class extends Notification {
  constructor(title, options) {
    super(title, options)
    window.told.push({ title, body: options.body, click: () => this.onclick() })
  }
}
"""
HIDE = """
Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'hidden' })
document.dispatchEvent(new Event('visibilitychange'))
"""


Pictured = tuple[str, ViewportSize, str, Literal["light", "dark"]]
PICTURED: tuple[Pictured, ...] = (
    ("wide-light", {"width": 1440, "height": 900}, "en", "light"),
    ("wide-dark", {"width": 1440, "height": 900}, "zh-CN", "dark"),
    ("phone-light", {"width": 390, "height": 844}, "zh-CN", "light"),
    ("phone-dark", {"width": 390, "height": 844}, "en", "dark"),
)


async def look(browser: Browser, address: str, name: str) -> None:
    """Pictures in both languages, light and dark, wide and on a phone, where SCREENSHOTS names a folder."""
    if not (folder := os.environ.get("SCREENSHOTS")):
        return
    for kind, viewport, locale, scheme in PICTURED:
        context = await browser.new_context(viewport=viewport, locale=locale, color_scheme=scheme)
        page = await context.new_page()
        await page.goto(address)
        await expect(page.get_by_role("tabpanel")).to_be_visible(timeout=PATIENT_MS)
        await page.wait_for_timeout(800)
        await page.screenshot(path=Path(folder) / f"{name}-{kind}.png")
        await context.close()


async def until_kept(page: Page, name: str, value: object) -> None:
    kept = "async ([name, value]) => (await (await fetch('/api/settings/' + name)).json()).value === value"
    await page.wait_for_function(kept, arg=[name, value], timeout=PATIENT_MS)


async def fits(page: Page) -> bool:
    return await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


@pytest.mark.timeout(300)
async def test_a_model_chosen_for_titles_gives_them_and_one_that_is_gone_is_said(tmp_path: Path) -> None:
    async with ModelServer(Answer(texts=("of a provider",))) as model, chromium() as browser:
        model.title = Answer(texts=("A greeting",))
        named = {"MODEL": "large", "MODELS": "small", "SUBAGENT_MODEL": "small"}
        with run_stack(
            tmp_path / "stack", OPENAI_API_KEY=KEY, OPENAI_BASE_URL=model.openai_url, SANDBOX_DESKTOP="false", **named
        ) as stack:
            async with ApiClient(stack.base_url) as api:
                page = await browser.new_page(viewport=WIDE, locale="en")
                await page.goto(f"{stack.base_url}/?settings=models")
                agents, titles = (page.get_by_role("combobox", name=name) for name in ("Sub-agents", "Titles"))
                await expect(agents.locator("option").first).to_have_text("Server default: small")
                await expect(titles.locator("option:checked")).to_have_text("Server default: the conversation’s")
                await expect(titles.locator("option")).to_have_count(3)
                await titles.focus()
                await page.keyboard.type("small")
                await expect(titles).to_have_value("small")
                await until_kept(page, "models/title_model", "small")
                await page.keyboard.press("Escape")
                await say(page, "hello")
                await expect(page.get_by_role("heading", name="A greeting")).to_be_visible(timeout=PATIENT_MS)
                assert [sent["model"] for sent in model.title_requests] == ["small"]
                assert model.requests[0]["model"] == "large"

                await look(browser, f"{stack.base_url}/?settings=models", "models")
                await api.json("PUT", "/settings/models/openai_models", json={"value": ["large"]})
                await api.json("PUT", "/settings/models/openai_api_key", json={"value": KEY})
                phone = await browser.new_context(viewport=PHONE, locale="zh-CN")
                other = await phone.new_page()
                await other.goto(f"{stack.base_url}/?settings=models")
                await expect(other.get_by_text("所选的模型已不可用")).to_be_visible(timeout=PATIENT_MS)
                gone = other.get_by_role("combobox", name="标题")
                await expect(gone.locator("option:checked")).to_have_text("small（已不可用）")
                assert await fits(other)
                await look(browser, f"{stack.base_url}/?settings=models", "models-gone")
                await gone.select_option("")
                await expect(other.get_by_text("所选的模型已不可用")).to_have_count(0)


@pytest.mark.timeout(240)
async def test_notifications_tell_what_asks_for_the_person_while_the_page_is_hidden(tmp_path: Path) -> None:
    with run_stack(tmp_path / "stack", SANDBOX_DESKTOP="false") as stack:
        async with chromium() as browser, ApiClient(stack.base_url) as api:
            context = await browser.new_context(viewport=WIDE, locale="en")
            await context.grant_permissions(["notifications"])
            page = await context.new_page()
            await page.add_init_script(TOLD)
            await page.goto(f"{stack.base_url}/?settings=notifications")
            for name in ("When the agent waits for you", "When the agent’s work has ended"):
                group = page.get_by_role("group", name=name)
                await expect(group.get_by_role("radio", name="No")).to_be_checked()
                await group.get_by_role("radio", name="No").press("ArrowRight")
                await expect(group.get_by_role("radio", name="Yes")).to_be_checked()
            for key in ("waiting", "finished"):
                await until_kept(page, f"notifications/{key}", True)
            await look(browser, f"{stack.base_url}/?settings=notifications", "notifications")
            await page.keyboard.press("Escape")

            async def told() -> list[dict[str, Any]]:
                return await page.evaluate("told.map(({ title, body }) => body ?? title)")

            samples = ["This is how you are told."] * 2
            assert await told() == samples
            await say(page, "ask me whether to go on")
            await page.wait_for_url("**/s/*")
            session = page.url.rpartition("/")[2]
            await expect(transcript(page).get_by_role("form", name="The agent asks")).to_be_visible(timeout=PATIENT_MS)
            # Seen as it came, it is not told.
            assert await told() == samples
            await page.evaluate(HIDE)
            other = await api.new_session()
            await api.json("POST", f"/sessions/{other}/messages", json={"text": "ask me whether to stop"}, expect=202)
            await page.wait_for_function("() => told.length === 3", timeout=PATIENT_MS)
            asked = (await api.until(session, "question.asked"))[-1]
            answers = {question["id"]: "Yes" for question in asked["questions"]}
            path = f"/sessions/{session}/questions/{asked['question_id']}"
            await api.http.post(path, json={"answers": answers})
            await page.wait_for_function("() => told.length === 4", timeout=PATIENT_MS)
            assert await told() == [*samples, "The agent waits for you.", "The agent’s work here has ended."]
            await page.evaluate("told[2].click()")
            await page.wait_for_url(f"**/s/{other}")


@pytest.mark.timeout(180)
async def test_notifications_stay_off_where_the_browser_refuses_which_is_said(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        page = await browser.new_page(viewport=PHONE, locale="en")
        await page.goto(f"{stack.base_url}/?settings=notifications")
        group = page.get_by_role("group", name="When the agent waits for you")
        await group.get_by_text("Yes", exact=True).click()
        await expect(page.get_by_text("This browser refuses notifications")).to_be_visible(timeout=PATIENT_MS)
        await expect(group.get_by_role("radio", name="No")).to_be_checked()
        assert (await api.json("GET", "/settings/notifications/waiting"))["source"] == "deployment"
        assert await fits(page)


@pytest.mark.timeout(120)
async def test_the_chosen_tab_of_the_settings_stands_whole_on_a_phone_which_shows_where_they_go_on(
    stack: Stack,
) -> None:
    async with chromium() as browser:
        page = await browser.new_page(viewport=PHONE, locale="en")
        for name, more in (("usage", "before"), ("appearance", "after")):
            await page.goto(f"{stack.base_url}/?settings={name}")
            tab = page.get_by_role("tab", selected=True)
            await expect(page.locator(f"[data-more={more}]")).to_be_visible()
            await expect(page.locator("[data-more]")).to_have_count(1)
            box = await tab.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= PHONE["width"]
        await look(browser, f"{stack.base_url}/?settings=usage", "usage")
        await page.keyboard.press("Escape")
        await expect(composer(page)).to_be_visible()
