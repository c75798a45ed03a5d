"""Without a key each part of the page can be tried, and a conversation gets its title while it is looked at."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping

import pytest
from playwright.async_api import Browser, Page, expect

from support.api_client import ApiClient
from support.page import PHONE, WIDE, chromium, composer, say, transcript
from support.stack import Stack

PATIENT_MS = 60_000


async def begun(browser: Browser, stack: Stack, example: str, *, locale: str = "en", width: int = 1440) -> Page:
    """A conversation that began with an example of the front page."""
    page = await browser.new_page(viewport={**WIDE, "width": width}, locale=locale)
    await page.goto(stack.base_url)
    await page.get_by_role("button", name="More examples" if locale == "en" else "更多示例").click()
    await page.get_by_role("button", name=example).click()
    await page.wait_for_url("**/s/*")
    return page


async def titled(page: Page, title: str) -> None:
    """Above the conversation, in the list and in the browser's tab."""
    await expect(page.locator("header").get_by_role("heading", name=title, exact=True)).to_be_visible(
        timeout=PATIENT_MS
    )
    await expect(page.get_by_role("link", name=title).first).to_be_visible()
    await expect(page).to_have_title(re.compile(re.escape(title)))


async def an_approval(page: Page) -> None:
    await titled(page, "Run df -h")
    await transcript(page).get_by_role("button", name="Approve", exact=True).click(timeout=PATIENT_MS)
    await expect(transcript(page).get_by_text("The command says")).to_be_visible(timeout=PATIENT_MS)
    await titled(page, "Running df -h")


async def a_plan(page: Page) -> None:
    await transcript(page).get_by_role("button", name="Approve the plan").click(timeout=PATIENT_MS)
    await expect(transcript(page).get_by_text("All steps are done")).to_be_visible(timeout=PATIENT_MS)
    await titled(page, "A plan: a herb garden")


async def a_question(page: Page) -> None:
    card = transcript(page).get_by_role("form", name="The agent asks")
    await card.get_by_text("Oolong", exact=True).click(timeout=PATIENT_MS)
    await card.get_by_role("button", name="Answer").click()
    await expect(transcript(page).get_by_text("I heard")).to_be_visible(timeout=PATIENT_MS)


async def two_agents(page: Page) -> None:
    await expect(transcript(page).get_by_text("They are done")).to_be_visible(timeout=PATIENT_MS)
    await expect(transcript(page).get_by_role("button", name="run uname -a")).to_have_count(1)
    await titled(page, "Work for two agents")


async def a_thought(page: Page) -> None:
    thought = transcript(page).get_by_role("button", name=re.compile("^Thought")).first
    await thought.click(timeout=PATIENT_MS)
    await expect(transcript(page).get_by_text("The person wants me to think about green tea").first).to_be_visible()
    await titled(page, "Thinking about green tea")


async def a_list(page: Page) -> None:
    await expect(page.get_by_text("2 of 4 to-dos")).to_be_visible(timeout=PATIENT_MS)
    await titled(page, "A to-do list: a tea party")


async def a_long_answer(page: Page) -> None:
    await expect(transcript(page).get_by_text("That is all I can say about green tea.")).to_be_visible(
        timeout=PATIENT_MS
    )
    await expect(transcript(page).get_by_role("table")).to_be_visible()
    await titled(page, "A long answer about green tea")
    await say(page, "sum up our conversation about the table")
    await expect(transcript(page).get_by_role("button", name="Summed up")).to_be_visible(timeout=PATIENT_MS)
    await expect(transcript(page).get_by_text("Done: what stands above the line")).to_be_visible(timeout=PATIENT_MS)


async def a_skill(page: Page) -> None:
    await expect(transcript(page).get_by_text("The skill's program says")).to_be_visible(timeout=PATIENT_MS)
    await expect(transcript(page).get_by_text("degrees").last).to_be_visible()
    await titled(page, "A skill at work")


async def in_the_background(page: Page) -> None:
    """It has its line in its panel, and wakes the conversation."""
    await expect(transcript(page).get_by_text("It runs. The panel")).to_be_visible(timeout=PATIENT_MS)
    await page.get_by_role("tab", name="Background").click()
    panel = page.get_by_role("region", name="Commands in the background")
    await expect(panel.get_by_role("listitem")).to_have_count(1)
    await expect(transcript(page).get_by_text("has ended, and that woke me")).to_be_visible(timeout=PATIENT_MS)
    await expect(transcript(page).get_by_text("Cup 4 is poured.").last).to_be_visible()
    await expect(panel.get_by_text("Done ·", exact=True)).to_be_visible()
    await titled(page, "A command in the background")


EXAMPLES = (
    {"Read a long answer": a_long_answer, "Answer a question": a_question},
    {"Decide what it may do": an_approval, "Agree on a plan first": a_plan, "Follow its thinking": a_thought},
    {"Let two agents work at once": two_agents, "Watch it use a skill": a_skill},
    {"Let it work in the background": in_the_background, "Keep an eye on its to-do list": a_list},
)
"""Most of their time the model talks as slowly as a person reads, and sandboxes start: four are tried at once."""


@pytest.mark.timeout(300)
async def test_each_example_of_the_front_page_shows_its_part(stack: Stack) -> None:
    async def one_after_the_other(browser: Browser, examples: Mapping[str, Callable[[Page], Awaitable[None]]]) -> None:
        for example, shows_its_part in examples.items():
            page = await begun(browser, stack, example)
            await shows_its_part(page)
            await page.close()

    async with chromium() as browser, asyncio.TaskGroup() as group:
        for examples in EXAMPLES:
            group.create_task(one_after_the_other(browser, examples))


@pytest.mark.timeout(240)
async def test_they_are_there_in_chinese_on_a_phone_too(stack: Stack) -> None:
    async with chromium() as browser:
        page = await begun(browser, stack, "由你决定它能做什么", locale="zh-CN", width=PHONE["width"])
        await transcript(page).get_by_role("button", name="批准", exact=True).click(timeout=PATIENT_MS)
        await expect(transcript(page).get_by_text("完成。命令输出")).to_be_visible(timeout=PATIENT_MS)
        await expect(page.get_by_role("heading", name="运行 df -h")).to_be_visible(timeout=PATIENT_MS)
        await page.close()
        page = await begun(browser, stack, "看它怎么想", locale="zh-CN", width=PHONE["width"])
        await expect(transcript(page).get_by_text("关于绿茶，我想过了")).to_be_visible(timeout=PATIENT_MS)
        await expect(page.get_by_role("heading", name="想一想绿茶")).to_be_visible(timeout=PATIENT_MS)


@pytest.mark.timeout(240)
async def test_a_picture_of_a_page_is_shown(desktop_stack: Stack) -> None:
    async with chromium() as browser, ApiClient(desktop_stack.base_url) as api:
        page = await browser.new_page(viewport=WIDE, locale="en")
        session = await api.new_session()
        await page.goto(f"{desktop_stack.base_url}/s/{session}")
        await expect(composer(page)).to_be_visible()
        await say(page, "take a screenshot")
        await expect(transcript(page).get_by_text("That is what I see.")).to_be_visible(timeout=2 * PATIENT_MS)
        shown = [event for event in await api.stored_events(session) if event["type"] == "tool.finished"]
        assert shown[-1]["body"]["media_type"].startswith("image/")
        await titled(page, "A picture of a page")
        picture = transcript(page).get_by_role("img", name="Screenshot", exact=False)
        await expect(picture).to_be_in_viewport(timeout=PATIENT_MS)
        await page.reload()
        await expect(picture).to_be_visible(timeout=PATIENT_MS)


@pytest.mark.timeout(120)
async def test_a_title_that_is_given_while_it_answers_stays(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        page = await browser.new_page(viewport=WIDE, locale="en")
        session = await api.new_session()
        await page.goto(f"{stack.base_url}/s/{session}")
        await say(page, "stream 200")
        await expect(transcript(page).get_by_text("word20")).to_be_visible(timeout=PATIENT_MS)
        await api.json("PATCH", f"/sessions/{session}", json={"title": "Mine"})
        await api.until(session, "run.finished", timeout_s=60)
        await titled(page, "Mine")
        before = (await api.json("GET", f"/sessions/{session}"))["last_seq"]
        await say(page, "stream 2")
        await api.until(session, "run.finished", after=before)
        await titled(page, "Mine")
        told = [one["title"] for one in await api.stored_events(session) if one["type"] == "session.updated"]
        assert told == ["stream 200", "Mine"]
