"""Every page and state of the page, each by the address and the few steps that lead to it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import urljoin, urlsplit

from playwright.async_api import Browser, BrowserContext, Locator, Page, expect

from support.api_client import ApiClient, register
from support.page import PHONE, WIDE
from support.page_rest import until_at_rest, watch_traffic
from support.photographs import png
from support.stack import Stack

PATIENT_MS = 60_000
SHOWN_MS = 20_000
READER, PASSWORD, PASSPHRASE = "reader", "correct horse battery", "open sesame"
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
UNHURRIED = {
    "RATE_LIMITS": "messages=0,sessions=0",
    "APPROVAL_TIMEOUT": "20000",
}
"""Settings of a stack whose states are looked at for long."""
ACCOUNTS = {
    "AUTH_MODE": "password",
    "SANDBOX_DESKTOP": "false",
    "LLM_PROVIDER": "openai",
    "OPENAI_API_KEY": "sk-of-nobody-0123456789",
    "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
    "MODEL": "large",
    "RATE_LIMITS": "messages=0,sessions=0,login=0",
}
"""Settings of a stack that people log in to. Nothing is said to its model."""
DECISIONS: dict[str, tuple[str, dict[str, bool]]] = {
    "approval": ("run df -h", {"enable_approval": True}),
    "question": ("ask me which tea I like", {}),
    "plan": ("plan a garden", {"enable_plan_mode": True}),
}
"""What leads to each of them: what is said, and how the agent is to work."""
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
class Places:
    """Where the states are."""

    stack: Stack
    """Of one person, with the demo model alone."""
    accounts: str
    """Where a stack is that people log in to, and that has a model of a provider."""


@dataclass(frozen=True, slots=True)
class Made:
    """What the addresses of states name."""

    tools: str
    """A conversation with tool calls, a changed file, a list of to-dos and sub-agents, that goes on with nothing."""
    tools_end: int
    """Of its history."""
    preset: str | None
    """Of that conversation, as it began."""
    approval: str
    question: str
    plan: str
    research: str
    """A conversation in which papers were kept and a draft was written."""
    share: str
    """The path and secret of a shared conversation."""
    locked_share: str
    """Those of one that asks for a passphrase."""
    project: str
    """A project without a section."""
    draft: str
    """The project of the research."""
    paper: str


Step = Callable[[Page], Awaitable[object]]
Part = Callable[[Page], Locator]


@dataclass(frozen=True, slots=True)
class State:
    name: str
    address: Callable[[Made], str]
    shown: Part = lambda page: page.locator("main")
    """What is there once it is whole, or a step leads on from there."""
    step: Step | None = None
    then: Part | None = None
    """What the step leads to."""
    has_accounts: bool = False


def _by_key(keys: str) -> Step:
    return lambda page: page.keyboard.press(keys)


def _click(part: Part) -> Step:
    return lambda page: part(page).first.click()


def _steps(*steps: Step) -> Step:
    async def take(page: Page) -> None:
        for step in steps:
            await step(page)

    return take


def _button(words: str) -> Part:
    return lambda page: page.get_by_role("button", name=re.compile(words))


def _composer(page: Page) -> Locator:
    return page.get_by_role("textbox", name=re.compile("^(Message|消息)"))


def _log(page: Page) -> Locator:
    return page.get_by_role("log")


def _dialog(page: Page) -> Locator:
    return page.get_by_role("dialog")


def _menu(page: Page) -> Locator:
    return page.get_by_role("menu")


def _field_of_password(page: Page) -> Locator:
    return page.locator("input[type=password]")


def _panel(name: str, of: Callable[[Made], str] = lambda made: made.tools) -> State:
    return State(
        f"panel {name}",
        lambda made: f"/s/{of(made)}?panel={name}",
        lambda page: page.get_by_role("tab", selected=True),
    )


def _settings(name: str) -> State:
    return State(f"settings {name}", lambda _: f"/?settings={name}", _dialog)


def _new_of_settings(of: str, page_of_it: str) -> State:
    """Its form is open, with nothing in it."""
    return State(
        f"new {of}",
        lambda _: f"/?settings={page_of_it}",
        lambda page: page.locator("[data-add]"),
        _click(lambda page: page.locator("[data-add]")),
        lambda page: _dialog(page).locator("form"),
    )


def _card(of: str, name: Callable[[Made], str], words: str) -> State:
    return State(of, lambda made: f"/s/{name(made)}", _button(words))


def _in_conversation(name: str, step: Step, then: Part) -> State:
    return State(name, lambda made: f"/s/{made.tools}", _log, step, then)


async def _drawer(page: Page) -> None:
    """The list of conversations, which stands beside the conversation where there is room."""
    menu = page.get_by_role("button", name=re.compile("^(Show conversations|显示对话)"))
    if await menu.count():
        await menu.click()


async def _menu_of_row(page: Page) -> None:
    await _drawer(page)
    await _button("^More for |的更多操作$")(page).filter(visible=True).first.click()


async def _search(page: Page) -> None:
    await page.keyboard.press("Control+k")
    await page.get_by_role("combobox").fill("one")


async def _log_in(page: Page) -> None:
    await page.locator("#account-username").fill(READER)
    await page.locator("#account-password").fill(PASSWORD)
    await page.keyboard.press("Enter")


def _logged_in(name: str, address: str, then: Part) -> State:
    return State(name, lambda _: address, _field_of_password, _log_in, then, has_accounts=True)


STATES: tuple[State, ...] = (
    State("first screen", lambda _: "/", _composer),
    _logged_in("first screen of a provider's model", "/", _composer),
    State("log in", lambda _: "/login", _field_of_password, has_accounts=True),
    State("register", lambda _: "/register", _field_of_password, has_accounts=True),
    State("list of conversations", lambda _: "/", _composer, _drawer),
    State("menu of a conversation", lambda _: "/", _composer, _menu_of_row, _menu),
    State(
        "conversation to delete",
        lambda _: "/",
        _composer,
        _steps(_menu_of_row, _click(lambda page: _menu(page).get_by_role("menuitem").last)),
        lambda page: page.get_by_role("dialog", name=re.compile("^(Delete this|删除这个)")),
    ),
    State(
        "new folder",
        lambda _: "/",
        _composer,
        _steps(_drawer, _click(_button("^(New folder|新建文件夹)$"))),
        lambda page: _dialog(page).locator("form"),
    ),
    State("conversation", lambda made: f"/s/{made.tools}", _log),
    _in_conversation(
        "message editor",
        _click(_button("^(Edit|编辑)$")),
        lambda page: page.get_by_role("textbox", name=re.compile("^(Your message|你的消息)$")),
    ),
    _in_conversation("lightbox", _click(_button("^(Enlarge: tea.png|放大.*tea.png)")), _dialog),
    _in_conversation("share dialog", _click(_button("^(Share or export|分享或导出)$")), _dialog),
    _in_conversation("palette", _by_key("Control+k"), _dialog),
    _in_conversation("palette with results", _search, lambda page: page.get_by_role("option").locator("mark")),
    _card("approval", lambda made: made.approval, "^(Approve|批准)"),
    _card("question", lambda made: made.question, "^(Answer|回答)"),
    _card("plan", lambda made: made.plan, "^(Approve the plan|批准)"),
    *(_panel(name) for name in PANELS),
    *(_panel(name, lambda made: made.research) for name in ("draft", "papers")),
    *map(_settings, SETTINGS),
    _logged_in("settings account", "/?settings=account", _dialog),
    _new_of_settings("schedule", "schedules"),
    _new_of_settings("MCP server", "mcp"),
    _new_of_settings("target", "targets"),
    _new_of_settings("kind of agent", "agents"),
    State(
        "new resource",
        lambda made: f"/s/{made.tools}?panel=resources",
        lambda page: page.locator("[data-add]"),
        _click(lambda page: page.locator("[data-add]")),
        lambda page: page.get_by_role("tabpanel").locator("form"),
    ),
    State("shared", lambda made: made.share, lambda page: page.get_by_text("make a to-do list").first),
    State("shared with a passphrase", lambda made: made.locked_share, _field_of_password),
    State("papers", lambda _: "/corpus"),
    State("paper", lambda made: f"/corpus?record={made.paper}", lambda page: page.get_by_role("article")),
    State("projects", lambda _: "/writing"),
    State("project", lambda made: f"/writing/{made.project}"),
    State(
        "project with sections",
        lambda made: f"/writing/{made.draft}",
        lambda page: page.locator(".cm-content").last,
    ),
    State("nothing there", lambda _: "/none/at/all"),
)


async def make(api: ApiClient, places: Places) -> Made:
    """All that the states show."""
    await make_schedule(api)
    await _be_known(places.accounts)
    decisions = {name: await ask_for_decision(api, name) for name in DECISIONS}
    return Made(**decisions, **await make_talk(api), **await make_papers(api))


async def make_schedule(api: ApiClient) -> None:
    """The only one."""
    when: dict[str, Any] = {"text": "Sum up the news", "cron": "0 8 * * 1", "timezone": "Europe/Berlin"}
    await api.json("POST", "/schedules", json=when, expect=201)


async def make_talk(api: ApiClient) -> dict[str, Any]:
    """The conversation with tool calls, and what is shared of it."""
    tools = await api.new_session()
    for text in ("write a file one.txt saying hello", "run ls -la", "make a to-do list", "ask two agents"):
        await api.ask(tools, text)
    await api.ask(tools, "run something in the background")
    await _attach_picture(api, tools)
    return {
        "tools": tools,
        "preset": (await api.json("GET", f"/sessions/{tools}"))["preset"],
        "tools_end": await _end_of_background(api, tools),
        "share": await _share(api, tools),
        "locked_share": await _share(api, tools, passphrase=PASSPHRASE),
    }


async def _end_of_background(api: ApiClient, session: str) -> int:
    """The end of its history, once what was begun in the background has ended and the agent has told of that."""
    async with asyncio.timeout(PATIENT_MS / 1000):
        while True:
            events = await api.stored_events(session)
            kinds = [event["type"] for event in events if event["type"] in ("background.finished", "run.finished")]
            is_at_work = (await api.json("GET", f"/sessions/{session}"))["status"] == "running"
            if "background.finished" in kinds and kinds[-1] == "run.finished" and not is_at_work:
                return int(events[-1]["seq"])
            await asyncio.sleep(0.2)


async def make_papers(api: ApiClient) -> dict[str, Any]:
    """What is kept and what is written."""
    research = await api.new_session()
    await api.ask(research, "research how machines learned language")
    papers = {"file": ("one.bib", BIBTEX.encode())}
    await api.http.post("/corpus/import", params={"format": "bibtex"}, files=papers)
    project = await api.json("POST", "/writing", json={"title": "A review of deep nets"}, expect=201)
    return {
        "research": research,
        "draft": (await api.json("GET", "/writing", params={"session_id": research}))["items"][0]["id"],
        "paper": (await api.json("GET", "/corpus", params={"q": "Deep learning"}))["items"][0]["id"],
        "project": project["id"],
    }


async def ask_for_decision(api: ApiClient, name: str) -> str:
    """A conversation that waits for such a decision."""
    text, options = DECISIONS[name]
    session = await api.new_session(options=options)
    await api.send(session, text)
    async with asyncio.timeout(PATIENT_MS / 1000):
        while (await api.json("GET", f"/sessions/{session}"))["status"] != "waiting":
            await asyncio.sleep(0.2)
    return session


async def _attach_picture(api: ApiClient, session: str) -> None:
    picture = {"files": ("tea.png", png(320, 200, shade=120), "image/png")}
    await api.json("POST", f"/sessions/{session}/files", files=picture, expect=201)
    said = await api.send(session, "what is on this picture?", attachments=["tea.png"])
    await api.until(session, "run.finished", after=said["seq"] - 1)


async def _share(api: ApiClient, session: str, **more: str) -> str:
    """Its path and secret."""
    body = {"mode": "snapshot", **more}
    shared = await api.json("POST", f"/sessions/{session}/shares", json=body, expect=201)
    return "/share/" + str(shared["url"]).partition("/share/")[2]


async def _be_known(accounts: str) -> None:
    async with ApiClient(accounts) as anybody:
        known = {"username": READER, "password": PASSWORD}
        if (await anybody.http.post("/auth/login", json=known)).status_code != HTTPStatus.OK:
            await (await register(accounts, READER, PASSWORD)).http.aclose()


async def _forget(page: Page, address: str) -> None:
    """What the browser keeps of that place: whoever comes next has not been there, nor logged in."""
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(address))
    browser: Any = await page.context.new_cdp_session(page)
    await browser.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "cookies,local_storage"})
    await browser.detach()


async def show(page: Page, places: Places, state: State, made: Made) -> None:
    """That state, at rest, as somebody finds it who has just come."""
    watch_traffic(page)
    address = urljoin(places.accounts if state.has_accounts else places.stack.base_url, state.address(made))
    await _forget(page, address)
    await page.goto(address)
    await expect(state.shown(page).first, state.name).to_be_visible(timeout=SHOWN_MS)
    if state.step is not None:
        await state.step(page)
    if state.then is not None:
        await expect(state.then(page).first, state.name).to_be_visible(timeout=SHOWN_MS)
    await until_at_rest(page)
