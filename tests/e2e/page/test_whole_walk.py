"""One conversation in which a person decides all they can: a plan, a question, a refusal, a summary, another model.

The model is a server that refuses what providers refuse, so that every history on the way is one that they take. At
each wait the page is loaded anew, and has to say the same.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from support.api_client import ApiClient
from support.model_server import Answer, Call, ModelServer
from support.page import EVERY_STEP, PHONE, WIDE, chromium, composer, say, transcript
from support.stack import Stack, run_stack

PATIENT_MS = 60_000
PLAN = "# A greeting\n1. Ask for the tone\n2. Write the file"
STEPS = [{"title": "Ask for the tone", "status": "done", "result": "friendly"}, {"title": "Write the file"}]
QUESTION = {"questions": [{"question": "Which tone?", "options": ["Formal", "Friendly"]}]}
SUMMARY = "The person wants a greeting; greeting.txt holds it."


def last_text(body: dict[str, Any]) -> str:
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else json.dumps(content)


def call(name: str, number: int, **arguments: Any) -> Answer:
    return Answer(texts=[], calls=[Call(name=name, arguments=json.dumps(arguments), id=f"call_{number}")])


def respond(body: dict[str, Any]) -> Answer:
    """What this agent does next follows from what it was told last, whichever model is asked."""
    said = last_text(body)
    if "summary" in said and "continued" in said:
        return Answer(texts=[SUMMARY])
    if "who are you" in said:
        return Answer(texts=[f"I am {body['model']}."])
    if "write a greeting" in said:
        return call("exit_plan_mode", 1, plan=PLAN)
    done = [message["content"] for message in body["messages"] if message["role"] == "tool"]
    match len(done):
        case 1:
            return call("plan_update", 2, steps=STEPS)
        case 2:
            return call("ask_user", 3, **QUESTION)
        case 3:
            return call("shell_exec", 4, command="echo Dear Sir > greeting.txt")
        case 4:
            return call("shell_exec", 5, command="echo Hi there > greeting.txt")
        case _:
            return Answer(texts=["The greeting is written."])


@asynccontextmanager
async def own_stack(folder: Path) -> AsyncGenerator[tuple[Stack, ModelServer]]:
    async with ModelServer(respond=respond) as models:
        settings = {
            "LLM_PROVIDER": "openai",
            "OPENAI_API_KEY": "sk-scripted",
            "OPENAI_BASE_URL": models.openai_url,
            "MODEL": "first-model",
            "MODELS": "second-model",
        }
        with run_stack(folder, SANDBOX_DESKTOP="false", **settings) as running:
            yield running, models


async def picture(page: Page, name: str) -> None:
    """For looking at, where SCREENSHOTS names a folder."""
    if folder := os.environ.get("SCREENSHOTS"):
        await page.screenshot(path=Path(folder) / f"{name}.png")


async def reload_alike(page: Page, waits: Locator) -> None:
    """What waits is there again after a reload, and the conversation reads as before."""
    await expect(waits).to_be_visible(timeout=PATIENT_MS)

    async def now() -> tuple[list[str], list[str]]:
        # The keys that decide come once the browser knows that the card is in view, and want Enter in the message box.
        shown = [line for line in (await waits.inner_text()).splitlines() if line.removesuffix(" ⏎") not in ("Y", "N")]
        return shown, await said_by_people(page)

    before = await now()
    await page.reload()
    await expect(waits).to_be_visible(timeout=PATIENT_MS)
    await expect(composer(page)).to_be_editable()
    assert await now() == before


async def choose(page: Page, former: str, model: str) -> None:
    await page.get_by_role("button", name=f"Model: {former}").click()
    await page.get_by_role("menuitem", name=model).click()


async def choose_by_keys(page: Page, former: str, model: str) -> None:
    """The menu opens on the first one; a letter goes to the one that begins with it."""
    button = page.get_by_role("button", name=f"Model: {former}")
    await button.press("Enter")
    await expect(page.get_by_role("menuitem", name=former)).to_be_focused()
    await page.keyboard.press(model[0])
    await expect(page.get_by_role("menuitem", name=model)).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name=f"Model: {model}")).to_be_focused()


async def use(button: Locator, viewport: dict[str, int]) -> None:
    """By keys on the desktop, by a tap on a phone."""
    await (button.press("Enter") if viewport == WIDE else button.click())


async def said_by_people(page: Page) -> list[str]:
    return await transcript(page).get_by_role("article").all_inner_texts()


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("name", "viewport"), [("wide", WIDE), ("phone", PHONE)])
async def test_a_person_decides_all_along_and_each_wait_survives_a_reload(
    tmp_path: Path, name: str, viewport: dict[str, int]
) -> None:
    async with own_stack(tmp_path) as (stack, models), chromium() as browser, ApiClient(stack.base_url) as api:
        page = await (await browser.new_context(viewport=viewport, locale="en")).new_page()
        await page.add_init_script(EVERY_STEP)
        await page.goto(stack.base_url)
        await page.get_by_role("button", name="How the agent works here").click()
        await page.get_by_text("Plan first", exact=True).click()
        await page.get_by_text("Yes", exact=True).click()
        await page.keyboard.press("Escape")
        await say(page, "write a greeting")
        await page.wait_for_url("**/s/*")
        session = page.url.rpartition("/")[2]
        talk = transcript(page)

        plan = talk.get_by_role("group", name="The agent proposes a plan")
        await reload_alike(page, plan)
        await picture(page, f"walk-{name}-plan")
        await use(plan.get_by_role("button", name="Approve the plan"), viewport)

        question = talk.get_by_role("form", name="The agent asks")
        await reload_alike(page, question)
        await expect(page.get_by_text("1 of 2 steps")).to_be_visible()
        await picture(page, f"walk-{name}-question")
        await question.get_by_text("Friendly", exact=True).click()
        await use(question.get_by_role("button", name="Answer"), viewport)

        asks = talk.get_by_role("group", name="The agent asks before it does this")
        await expect(asks.get_by_text("Dear Sir").last).to_be_visible(timeout=PATIENT_MS)
        await reload_alike(page, asks)
        await picture(page, f"walk-{name}-approval")
        await asks.get_by_role("textbox").fill("less stiff, please")
        await use(asks.get_by_role("button", name="Refuse"), viewport)
        await expect(asks.get_by_text("Hi there").last).to_be_visible(timeout=PATIENT_MS)
        await reload_alike(page, asks)
        await use(asks.get_by_role("button", name="Approve", exact=True), viewport)
        await expect(talk.get_by_text("The greeting is written.")).to_be_visible(timeout=PATIENT_MS)

        await page.get_by_role("button", name="Context").click()
        await page.get_by_role("textbox", name="Sum up now").fill("the tone")
        await page.keyboard.press("Enter")
        divider = talk.get_by_role("button", name="Summed up")
        await expect(divider).to_be_visible(timeout=PATIENT_MS)

        async with page.expect_response(lambda answer: answer.request.method == "PATCH"):
            await (choose_by_keys if viewport == WIDE else choose)(page, "first-model", "second-model")
        await say(page, "who are you")
        await expect(talk.get_by_text("I am second-model.")).to_be_visible(timeout=PATIENT_MS)
        await picture(page, f"walk-{name}-end")
        await page.reload()
        await expect(talk.get_by_text("I am second-model.")).to_be_visible(timeout=PATIENT_MS)
        await expect(divider).to_be_visible()

        stored = await api.stored_events(session)
        assert models.refusals == []
        assert [one["status"] for one in stored if one["type"] == "run.finished"] == ["completed"] * 3
        decided = [(one["decision"], one["feedback"]) for one in stored if one["type"] == "approval.resolved"]
        assert decided == [("deny", "less stiff, please"), ("approve", None)]
        (compacted,) = [one for one in stored if one["type"] == "context.compacted"]
        assert (compacted["kind"], compacted["focus"]) == ("manual", "the tone")
        written = await api.json("GET", f"/sessions/{session}/files/content", params={"path": "greeting.txt"})
        assert written["content"] == "Hi there\n"
        told = json.dumps(models.requests[-1]["messages"])
        assert SUMMARY in told
        assert "Dear Sir" not in told, "what was summed up is not sent again"
