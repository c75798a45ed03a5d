"""A day of somebody who works at the page whatever is cut: begins conversations, writes, queues, changes, attaches and
approves, and leaves drafts half written. What they did is known, so that it can be looked for afterwards."""

from __future__ import annotations

import asyncio
import difflib
import random
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import httpx
from playwright.async_api import Error, Page

from support.api_client import ApiClient
from support.chaos.brain import tokens
from support.chaos.sandboxes import ProcessSandboxes
from support.chaos.shown import difference, path_of, said_events, said_rows
from support.chaos.tab import Tab
from support.page import composer, transcript

INSISTS_S = 150.0
SETTLES_S = 150.0
ASKS = "The agent asks before it does this"
ASKED = "The agent asked first"
LONG_LINES = 40
TOLD_TO_ONE = ("This was already decided", "Since your last visit")
TROUBLES = (
    "Not sent",
    "could not be opened",
    "Will be sent when",
    "You are offline",
    "Reconnecting",
    "can’t be reached",
    "The server is starting again",
)


@dataclass(slots=True, kw_only=True)
class Talk:
    """A conversation, and all that was said in it: in this order, beside it in the queue, and by changing a message."""

    id: str
    asks: bool = False
    said: list[str] = field(default_factory=list[str])
    queued: list[str] = field(default_factory=list[str])
    changed: list[str] = field(default_factory=list[str])
    files: dict[str, str] = field(default_factory=dict[str, str])
    draft: str = ""
    approved: int = 0


@dataclass(slots=True, kw_only=True)
class Day:
    """Each scene is acted on while things are cut; `check` afterwards."""

    tab: Tab
    url: str
    api: ApiClient
    chance: random.Random
    sandboxes: ProcessSandboxes
    talks: list[Talk] = field(default_factory=list[Talk])
    acted: Counter[str] = field(default_factory=Counter[str])
    scenes: int = 0
    """Done in the conversation that is at hand."""
    _tasks: int = 0
    _at: Talk | None = None

    @property
    def talk(self) -> Talk:
        assert self._at is not None
        return self._at

    @property
    def is_in_a_talk(self) -> bool:
        return self._at is not None

    def give_up(self) -> None:
        """What went wrong in the conversation at hand is told; nothing more of it is."""
        if self._at in self.talks:
            self.talks.remove(self._at)
        self._at = None

    # What a person does.

    async def begin(self) -> None:
        """A conversation, from its first message on."""
        text = self._task("R")
        await self.tab.go(self.url)
        self._at = None
        await self._write(text, "")

        async def begun(page: Page) -> bool:
            if "/s/" not in page.url and await composer(page).input_value() == text:
                # The page was left before it could begin: what waited is a draft again.
                await composer(page).press("Enter")
            await page.wait_for_url("**/s/*")
            return True

        await self._insist("a conversation begins", begun)
        async with self.tab.held() as page:
            self._at = Talk(id=page.url.rpartition("/")[2], said=[text])
        self.talks.append(self.talk)

    async def begin_careful(self) -> None:
        """One where the agent asks before it acts."""
        self._at = Talk(id=await self._new_session(options={"enable_approval": True}), asks=True)
        self.talks.append(self.talk)
        await self.tab.go(self._url_of(self.talk))
        await self.approve()

    async def say(self) -> None:
        """Two messages, the second perhaps while the first is answered."""
        for _ in range(2):
            await self._say(self._task(self.chance.choice(("", "R", "W"))))
            await asyncio.sleep(self.chance.uniform(0, 2))

    async def give_much_work(self) -> None:
        """A run with many calls."""
        await self._say(self._task("".join(self.chance.choices("WRP", k=6))))
        await asyncio.sleep(self.chance.uniform(0.5, 3))

    async def queue(self) -> None:
        """Two messages for after the run at work."""
        await self._say(self._task("SWS"))
        await self._insist("the agent is at work", self._is_at_work)
        for _ in range(2):
            text = self._task("")
            self.talk.queued.append(text)
            await self._write(text, self.talk.draft)
            self.talk.draft = ""

    async def change(self) -> None:
        """The last message, which is a branch."""
        await self._until_idle(self.talk)
        text = self._task("R")
        self.talk.changed.append(text)

        async def changed(page: Page) -> bool:
            log = transcript(page)
            field = log.get_by_role("textbox", name="Your message")
            there = log.locator("[data-kind=user] [dir=auto]").filter(has_text=text).and_(log.locator("div"))
            if await there.count():
                return True
            if not await field.count():
                await log.locator("[data-kind=user]").last.get_by_role("button", name="Edit").click(timeout=5_000)
            await field.fill(text)
            await field.press("Control+Enter")
            await there.first.wait_for(timeout=8_000)
            return True

        await self._insist("a message is changed", changed)

    async def attach(self) -> None:
        """A file with the next message."""
        self._tasks += 1
        name, content = f"file{self._tasks}.txt", f"contents {self._tasks}"
        given: Any = {"name": name, "mimeType": "text/plain", "buffer": content.encode()}

        async def attached(page: Page) -> bool:
            chips = page.get_by_role("list", name="Attached files").get_by_role("listitem").filter(has_text="file")
            if not await chips.count():
                await page.locator("form input[type=file]").set_input_files(files=[given])
                await chips.first.wait_for()
            again = chips.get_by_role("button", name=re.compile("again"))
            if await again.count():
                await again.first.click()
            await chips.filter(has_text=re.compile("%|storing")).first.wait_for(state="hidden")
            return await chips.count() == 1 and not await again.count()

        await self._insist("a file arrives", attached)
        text = self._task("R")
        self.talk.files[text] = content
        await self._say(text)

    async def approve(self) -> None:
        """What the agent asks for."""
        await self._say(self._task("W"))
        self.talk.approved += 1

        async def approved(page: Page) -> bool:
            log = transcript(page)
            if await log.get_by_role("group", name=ASKED).count() >= self.talk.approved:
                return True
            card = log.get_by_role("group", name=ASKS)
            button = card.get_by_role("button", name="Approve", exact=True)
            if await button.count() and await button.first.is_enabled():
                await button.first.click(timeout=5_000)
            return False

        await self._insist("a call is approved", approved)

    async def leave_draft(self) -> None:
        """Half a message, and then another conversation is looked at, where there is one."""
        text = self._task("")
        half = text[: len(text) - 4]
        if not self.talk.draft:
            await self._insist("half is written", lambda page: self._fill(page, half, ""))
            self.talk.draft = half
        await self.look(self.chance.choice(self.talks))

    async def look(self, talk: Talk) -> None:
        """At another conversation."""
        self._at = talk
        await self.tab.go(self._url_of(talk))

    # What must be true afterwards.

    async def check(self, talk: Talk) -> list[str]:
        """Once all is calm: everything wrong that is found in that conversation."""
        wrong: list[str] = []
        if self._at is not talk:
            await self.look(talk)
        try:
            await self._let_queue_go(talk)
            await self._until_idle(talk)
        except (AssertionError, TimeoutError) as late:
            wrong.append(f"it does not come to rest: {late}")
        events = await self.api.stored_events(talk.id)
        wrong += _lost_or_doubled(talk, events)
        wrong += await self._page_differs(talk)
        wrong += await self._files_differ(talk, events)
        done = Counter(tokens(await asyncio.to_thread(self.sandboxes.ledger, talk.id)))
        wrong += [f"{token} was done {count} times" for token, count in done.items() if count > 1]
        wrong += self.tab.wrong
        self.tab.wrong.clear()
        return [f"{talk.id[:8]}: {one}" for one in wrong]

    async def _page_differs(self, talk: Talk) -> list[str]:
        """The page comes to show what is stored, and a page that is opened now shows the same."""
        wrong = ["nothing was compared"]
        for _ in range(60):
            async with self.tab.held() as page:
                wrong = await self._differs(talk, page)
            if not wrong:
                break
            await asyncio.sleep(0.5)
        if wrong:
            return wrong
        async with self.tab.held() as page:
            fresh = await self.tab.context.new_page()
            shown, anew = list[str](), list[str]()
            try:
                await fresh.goto(self._url_of(talk))
                for _ in range(60):
                    shown, anew = [_shown(await transcript(one).inner_text()) for one in (page, fresh)]
                    if _agree(shown, anew):
                        return []
                    await asyncio.sleep(0.5)
            finally:
                await fresh.close()
        differs = list(difflib.unified_diff(shown, anew, "this page", "one opened now", lineterm="", n=1))
        return [f"a page opened now shows something else: {differs[:40]}"]

    async def _differs(self, talk: Talk, page: Page) -> list[str]:
        wrong: list[str] = []
        if told := difference(await said_rows(page), said_events(await path_of(self.api, talk.id))):
            wrong.append(f"the page shows {told}")
        queue = await self.api.json("GET", f"/sessions/{talk.id}/queue")
        rows = page.get_by_role("region", name="Queued messages").get_by_role("listitem")
        if await rows.count() != len(queue["items"]):
            wrong.append(f"{await rows.count()} rows of a queue of {len(queue['items'])}")
        box = composer(page)
        value = await box.input_value() if await box.count() else None
        if value != talk.draft:
            wrong.append(f"the draft is {value!r} instead of {talk.draft!r}")
        for trouble in TROUBLES:
            if await page.get_by_text(trouble).count():
                wrong.append(f"the page says {trouble!r} though all is well")
        return wrong

    async def _files_differ(self, talk: Talk, events: list[dict[str, Any]]) -> list[str]:
        wrong: list[str] = []
        sent = {one["text"]: one["attachments"] for one in events if one["type"] == "message.user"}
        for text, content in talk.files.items():
            paths = sent.get(text, [])
            found = [await self._content(talk.id, path) for path in paths]
            if found != [content]:
                wrong.append(f"{text} came with {paths}, which hold {found} instead of {content!r}")
        return wrong

    async def _content(self, session: str, path: str) -> str:
        answer = await self.api.http.get(f"/sessions/{session}/files/content", params={"path": path})
        return str(answer.json()["content"]) if answer.status_code == 200 else f"status {answer.status_code}"

    # The rest.

    def _url_of(self, talk: Talk) -> str:
        return f"{self.url}/s/{talk.id}"

    def _task(self, steps: str) -> str:
        self._tasks += 1
        return f"task t{self._tasks} steps={steps} please"

    async def _new_session(self, **body: Any) -> str:
        async with asyncio.timeout(INSISTS_S):
            while True:
                with suppress(httpx.HTTPError):
                    answer = await self.api.http.post("/sessions", json=body)
                    if answer.status_code == 201:
                        return str(answer.json()["id"])
                await asyncio.sleep(0.3)

    async def _say(self, text: str) -> None:
        self.talk.said.append(text)
        await self._write(text, self.talk.draft)
        self.talk.draft = ""

    async def _write(self, text: str, before: str) -> None:
        """In two halves, between which anything may happen, and sent."""
        half = text[: self.chance.randrange(5, len(text) - 2)]
        await self._insist("half is written", lambda page: self._fill(page, half, before))
        await asyncio.sleep(self.chance.uniform(0, 0.8))

        async def sent(page: Page) -> bool:
            await self._fill(page, text, half)
            await composer(page).press("Enter")
            return True

        await self._insist("it is written and sent", sent)

    async def _fill(self, page: Page, text: str, before: str) -> bool:
        """Over what stands there: a draft that is not what was written is a lost one."""
        box = composer(page)
        await box.wait_for()
        value = await box.input_value()
        for _ in range(40):
            if value in (before, text):
                break
            await asyncio.sleep(0.25)
            value = await box.input_value()
        else:
            raise AssertionError(f"the draft is {value!r} instead of {before!r}")
        await box.fill(text)
        return True

    async def _is_at_work(self, page: Page) -> bool:
        await page.get_by_role("button", name="Stop", exact=True).wait_for(timeout=5_000)
        return True

    async def _insist(self, what: str, act: Callable[[Page], Awaitable[bool]]) -> None:
        """Again and again until it is done: a page that does not come back by itself is not helped."""
        last: object = None
        deadline = asyncio.get_running_loop().time() + INSISTS_S
        while asyncio.get_running_loop().time() < deadline:
            try:
                async with self.tab.held() as page:
                    if await act(page):
                        self.acted[what] += 1
                        return
            except Error as error:
                last = error
            await asyncio.sleep(0.3)
        async with self.tab.held() as page:
            looks = await page.locator("body").inner_text()
        raise AssertionError(
            f"within {INSISTS_S:g} s not: {what}; last {str(last)[:500]}\nThe page says: {looks[-3000:]}"
        )

    async def _until_idle(self, talk: Talk) -> None:
        deadline = asyncio.get_running_loop().time() + SETTLES_S
        state: dict[str, Any] = {}
        while asyncio.get_running_loop().time() < deadline:
            with suppress(httpx.HTTPError, AssertionError):
                state = await self.api.json("GET", f"/sessions/{talk.id}/state")
                if state["session"]["status"] == "idle" and await self._has_said(talk):
                    return
            await asyncio.sleep(0.3)
        raise AssertionError(f"{talk.id} is {state.get('session', {}).get('status')}, of {talk}")

    async def _has_said(self, talk: Talk) -> bool:
        """All of it has arrived."""
        events = await self.api.stored_events(talk.id)
        there = {one["text"] for one in events if one["type"] == "message.user"}
        queue = await self.api.json("GET", f"/sessions/{talk.id}/queue")
        there |= {one["text"] for one in queue["items"]}
        waits = queue["items"] and not queue["held"]
        return not waits and there.issuperset([*talk.said, *talk.queued])

    async def _let_queue_go(self, talk: Talk) -> None:
        """What is held as its run did not end well goes when the person says so."""
        await self._until_idle(talk)
        for _ in range(10):
            queue = await self.api.json("GET", f"/sessions/{talk.id}/queue")
            if not queue["items"]:
                return
            async with self.tab.held() as page:
                button = page.get_by_role("button", name=re.compile("^Send “.*” now"))
                await button.first.click(timeout=30_000)
            await self._until_idle(talk)


def _shown(text: str) -> list[str]:
    """The lines of a transcript, but what is told to whoever asked alone."""
    return [line for line in text.splitlines() if line and not line.startswith(TOLD_TO_ONE)]


def _agree(one: list[str], other: list[str]) -> bool:
    """Of a long conversation a page has the last part alone, the longer the longer it is open."""
    common = min(len(one), len(other))
    return one == other or (common >= LONG_LINES and one[-common:] == other[-common:])


def _lost_or_doubled(talk: Talk, events: list[dict[str, Any]]) -> list[str]:
    users = [one for one in events if one["type"] == "message.user"]
    texts = Counter(one["text"] for one in users)
    ids = Counter(one["client_message_id"] for one in users if one["client_message_id"])
    meant = [*talk.said, *talk.queued, *talk.changed]
    wrong = [f"{text!r} stands there {texts[text]} times" for text in meant if texts[text] != 1]
    wrong += [f"{text!r} was never written so" for text in texts if text not in meant]
    wrong += [f"{name} was taken {count} times" for name, count in ids.items() if count > 1]
    order = [one["text"] for one in users if one["text"] in talk.said]
    if order != talk.said:
        wrong.append(f"said in the order {order} instead of {talk.said}")
    return wrong
