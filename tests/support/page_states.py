"""Every page and state of the page, each by the address and the few steps that lead to it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Browser, BrowserContext, Locator, Page, expect

from support.api_client import ApiClient
from support.page import PHONE, WIDE
from support.stack import Stack

PATIENT_MS = 60_000
SHOWN_MS = 20_000
SETTINGS = (
    *("appearance", "models", "defaults", "skills", "memories", "agents", "mcp", "targets", "schedules"),
    *("notifications", "shares", "usage", "about"),
)
PANELS = (
    "desktop",
    "terminal",
    "editor",
    "agents",
    "background",
    "files",
    "resources",
    "ports",
    "model-calls",
    "events",
)
BIBTEX = "@article{lecun2015deep, title={Deep learning}, author={LeCun, Yann}, year={2015}, doi={10.1038/nature14539}}"


@dataclass(frozen=True, slots=True)
class Look:
    """How somebody sees the page."""

    width: str
    scheme: str
    locale: str

    @property
    def is_chinese(self) -> bool:
        return self.locale.startswith("zh")

    def __str__(self) -> str:
        return f"{self.width}-{self.scheme}-{self.locale}"

    async def context(self, browser: Browser) -> BrowserContext:
        scheme: Any = self.scheme
        viewport: Any = PHONE if self.width == "phone" else WIDE
        context = await browser.new_context(
            viewport=viewport, locale=self.locale, color_scheme=scheme, reduced_motion="reduce"
        )
        # A context has the clipboard where a person has allowed it.
        await context.grant_permissions(["clipboard-read", "clipboard-write"])
        return context


LOOKS = [
    Look(width, scheme, locale)
    for width in ("wide", "phone")
    for scheme in ("light", "dark")
    for locale in ("en", "zh-CN")
]


@dataclass(frozen=True, slots=True)
class Made:
    """What the addresses of states name."""

    tools: str
    """A conversation with tool calls, a changed file, a list of to-dos and sub-agents, that goes on with nothing."""
    approval: str
    question: str
    plan: str
    share: str
    """The path and secret of a shared conversation."""
    project: str


Step = Callable[[Page], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class State:
    name: str
    address: Callable[[Made], str]
    shown: Callable[[Page], Locator] = lambda page: page.locator("main")
    """What is there once it is whole."""
    step: Step | None = None


def _by_key(keys: str) -> Step:
    return lambda page: page.keyboard.press(keys)


def _composer(page: Page) -> Locator:
    return page.get_by_role("textbox", name=re.compile("^(Message|消息)"))


def _panel(name: str) -> State:
    return State(
        f"panel {name}",
        lambda made: f"/s/{made.tools}?panel={name}",
        lambda page: page.get_by_role("tab", selected=True),
    )


def _dialog(page: Page) -> Locator:
    return page.get_by_role("dialog")


def _settings(name: str) -> State:
    return State(f"settings {name}", lambda _: f"/?settings={name}", _dialog)


def _card(of: str, name: Callable[[Made], str], words: str) -> State:
    return State(
        of, lambda made: f"/s/{name(made)}", lambda page: page.get_by_role("button", name=re.compile(words)).first
    )


async def _drawer(page: Page) -> None:
    menu = page.get_by_role("button", name=re.compile("^(Show conversations|显示对话)"))
    if await menu.count():
        await menu.click()


STATES: tuple[State, ...] = (
    State("first screen", lambda _: "/", _composer),
    State("list of conversations", lambda _: "/", _composer, _drawer),
    State("conversation", lambda made: f"/s/{made.tools}", lambda page: page.get_by_role("log")),
    _card("approval", lambda made: made.approval, "^(Approve|批准)"),
    _card("question", lambda made: made.question, "^(Answer|回答)"),
    _card("plan", lambda made: made.plan, "^(Approve the plan|批准)"),
    *(_panel(name) for name in PANELS),
    *map(_settings, SETTINGS),
    State("palette", lambda made: f"/s/{made.tools}", _composer, _by_key("Control+k")),
    State("shared", lambda made: made.share),
    State("papers", lambda _: "/corpus"),
    State("projects", lambda _: "/writing"),
    State("project", lambda made: f"/writing/{made.project}"),
    State("nothing there", lambda _: "/none/at/all"),
)


async def make(api: ApiClient) -> Made:
    """All that the states show."""
    tools, question = await api.new_session(), await api.new_session()
    approval = await api.new_session(options={"enable_approval": True})
    plan = await api.new_session(options={"enable_plan_mode": True})
    for text in ("write a file one.txt saying hello", "run ls -la", "make a to-do list", "ask two agents"):
        await api.ask(tools, text)
    await api.ask(tools, "run something in the background")
    asked = {approval: "run df -h", question: "ask me which tea I like", plan: "plan a garden"}
    for session, text in asked.items():
        await api.send(session, text)
    async with asyncio.timeout(PATIENT_MS / 1000):
        for session in asked:
            while (await api.json("GET", f"/sessions/{session}"))["status"] != "waiting":
                await asyncio.sleep(0.2)
    shared = await api.json("POST", f"/sessions/{tools}/shares", json={"mode": "snapshot"}, expect=201)
    papers = {"file": ("one.bib", BIBTEX.encode())}
    await api.http.post("/corpus/import", params={"format": "bibtex"}, files=papers)
    project = await api.json("POST", "/writing", json={"title": "A review of deep nets"}, expect=201)
    when: dict[str, Any] = {"text": "Sum up the news", "cron": "0 8 * * 1", "timezone": "Europe/Berlin"}
    await api.json("POST", "/schedules", json=when, expect=201)
    address = "/share/" + shared["url"].partition("/share/")[2]
    return Made(tools, approval, question, plan, address, project["id"])


async def show(page: Page, stack: Stack, state: State, made: Made) -> None:
    """That state, at rest."""
    await page.goto(f"{stack.base_url}{state.address(made)}")
    await expect(state.shown(page).first, state.name).to_be_visible(timeout=SHOWN_MS)
    if state.step is not None:
        await state.step(page)
    await page.wait_for_load_state("load")
    # Parts of it come when they are first seen.
    await page.evaluate("document.fonts.ready")
    await page.wait_for_timeout(300)
