"""Presses whatever can be pressed in the states of the page, and tells of what does nothing or goes wrong."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from pathlib import Path
from typing import Any

from playwright.async_api import BrowserContext, ConsoleMessage, Page, Request, Response
from playwright.async_api import Error as PageError

from support.api_client import ApiClient
from support.page_rest import until_at_rest
from support.page_states import Made, Places, State, ask_for_decision, make, make_papers, make_schedule, make_talk, show

CONTROLS = Path(__file__).with_name("page_controls.js").read_text(encoding="utf-8")
CAME_MS = 3_000
CALM_S = 1.5
AGAIN_S = 20.0
PRESSED_MS = 5_000
DEEP = 2
"""What a press has brought is pressed, too, such as the entries of a menu. What is deeper has a state of its own."""

OTHER = "(one) => [...one.options].findIndex(({ disabled }, at) => at !== one.selectedIndex && !disabled)"
MARKS = "() => JSON.stringify([...document.querySelectorAll('input, select')].map((one) => [one.checked, one.value]))"


@dataclass(frozen=True, slots=True)
class Control:
    key: str
    """One and the same in the same place of another state; one for each place in rows of one kind."""
    name: str
    at: int
    is_off: bool
    is_chosen: bool
    reason: str
    kind: str


@dataclass(slots=True)
class Walk:
    """What was pressed, and what came of it."""

    places: Places
    api: ApiClient
    context: BrowserContext
    made: Made
    pressed: set[str] = field(default_factory=set[str])
    off: set[str] = field(default_factory=set[str])
    """Those that could not be pressed where they were seen first."""
    wrong: list[str] = field(default_factory=list[str])

    async def through(self, state: State) -> None:
        await self._level(state, ())

    async def _level(self, state: State, path: Sequence[Control]) -> None:
        """Presses each control that is seen after those of the path have been pressed, once in the whole walk."""
        page: _Watched | None = None
        deeper: list[Control] = []
        try:
            while True:
                page = page or await self._at(state, path)
                if page is None:
                    break
                there = await page.controls()
                control = next((one for one in there if self._is_new(one, page.before_path)), None)
                if control is None:
                    break
                came = await self._press(page, control, [state.name, *(one.name for one in path)])
                before = {one.key for one in there}
                brought = set[str]() if came.is_elsewhere or came.is_sent else await page.keys() - before
                if len(path) + 1 < DEEP and any(key not in self.pressed for key in brought):
                    deeper.append(control)
                if came.is_elsewhere or came.is_sent or came.is_marked or not await page.goes_back_to(before):
                    await page.close()
                    page = None
        finally:
            if page is not None:
                await page.close()
        for control in deeper:
            await self._level(state, (*path, control))

    async def _press(self, page: _Watched, control: Control, places: Sequence[str]) -> Came:
        self.pressed.add(control.key)
        came = await page.press(control)
        where = " > ".join([*places, control.name])
        self.wrong += [f"{where}: {told}" for told in came.wrong]
        if not came.anything:
            self.wrong.append(f"{where}: nothing comes of it ({control.key})")
        if came.is_sent:
            self.made = await mended(self.api, self.made)
        return came

    def _is_new(self, one: Control, before: set[str]) -> bool:
        if one.key in self.pressed or one.key in before:
            return False
        if one.is_off and one.key not in self.off:
            self.off.add(one.key)
            if not one.reason:
                self.wrong.append(f"{one.name}: can't be pressed, and nothing says why ({one.key})")
        # What is chosen already is pressed where another one is.
        return not one.is_off and not one.is_chosen

    async def _at(self, state: State, path: Sequence[Control]) -> _Watched | None:
        """The state with the controls of the path pressed; None if one of them does not come again, which is wrong."""
        page = _Watched(await self.context.new_page())
        await show(page.page, self.places, state, self.made)
        await page.page.evaluate(CONTROLS)
        for step in path:
            try:
                again = await page.again(step)
            except TimeoutError:
                self.wrong.append(f"{state.name}: {step.name} is not there again ({step.key})")
                await page.close()
                return None
            page.before_path |= await page.keys()
            await page.press(again)
        page.wrong.clear()
        return page


@dataclass(slots=True)
class Came:
    """Of one press."""

    anything: bool = False
    is_elsewhere: bool = False
    is_sent: bool = False
    is_marked: bool = False
    """A check box, or the like, is not as it was."""
    wrong: list[str] = field(default_factory=list[str])


class _Watched:
    """A page that keeps what goes wrong on it and what leaves it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.before_path: set[str] = set()
        self.wrong: list[str] = []
        self._left = asyncio.Event()
        self._is_sent = False
        page.on("pageerror", self._on_error)
        page.on("console", self._on_console)
        page.on("response", self._on_response)
        page.on("request", self._on_request)
        page.on("download", self._on_left)
        page.on("filechooser", self._on_left)
        page.on("popup", self._on_popup)
        page.on("dialog", self._on_dialog)

    async def controls(self) -> list[Control]:
        found: list[dict[str, Any]] = await self.page.evaluate("controls.find()")
        return [
            Control(
                key=one["key"],
                name=one["name"],
                at=at,
                is_off=one["isOff"],
                is_chosen=one["isChosen"],
                reason=one["reason"],
                kind=one["kind"],
            )
            for at, one in enumerate(found)
        ]

    async def again(self, control: Control) -> Control:
        """The same one, which comes later where a socket brings it, as the desktop does."""
        async with asyncio.timeout(AGAIN_S):
            while True:
                for one in await self.controls():
                    if one.key == control.key:
                        return one
                await asyncio.sleep(0.2)

    async def keys(self) -> set[str]:
        with contextlib.suppress(PageError):
            return {one.key for one in await self.controls()}
        return set()

    async def goes_back_to(self, keys: set[str]) -> bool:
        """Whether it shows these and no others, once what a press has opened is closed."""
        if await self.keys() == keys:
            return True
        await self.page.keyboard.press("Escape")
        with contextlib.suppress(AssertionError, PageError):
            await until_at_rest(self.page, within_s=CALM_S)
        return await self.keys() == keys

    async def press(self, control: Control) -> Came:
        page, came = self.page, Came()
        self.wrong.clear()
        address = page.url
        await page.evaluate("at => controls.ready(at)", control.at)
        hand: Any = await page.evaluate_handle("at => controls.hand(at)", control.at)
        marked = await page.evaluate(MARKS)
        try:
            await hand.hover(timeout=PRESSED_MS)
            with contextlib.suppress(AssertionError):
                await until_at_rest(page, within_s=CALM_S)
            self._left.clear()
            self._is_sent = False
            await page.evaluate("at => controls.begin(at)", control.at)
            await self._touch(hand, control)
        except PageError as error:
            came.wrong.append(f"can't be pressed: {str(error).splitlines()[0]}")
            came.anything = True
            came.is_elsewhere = True
            return came
        looked = asyncio.create_task(self._is_changed())
        left = asyncio.create_task(self._left.wait())
        await asyncio.wait({looked, left}, return_when=asyncio.FIRST_COMPLETED)
        came.anything = self._left.is_set() or await looked
        left.cancel()
        with contextlib.suppress(AssertionError, PageError):
            await until_at_rest(page, within_s=CALM_S)
        came.is_elsewhere = page.url != address
        came.is_sent = self._is_sent
        with contextlib.suppress(PageError):
            came.is_marked = await page.evaluate(MARKS) != marked
        came.wrong += self.wrong
        return came

    async def _touch(self, hand: Any, control: Control) -> None:
        if control.kind == "select":
            other = await hand.evaluate(OTHER)
            if other >= 0:
                await hand.select_option(index=other, timeout=PRESSED_MS)
        elif control.kind == "range":
            await hand.press("ArrowLeft")
        else:
            await hand.click(timeout=PRESSED_MS)

    async def _is_changed(self) -> bool:
        try:
            return bool(await self.page.evaluate("within => came(within)", CAME_MS))
        except PageError:
            # Another document is there.
            return True

    async def close(self) -> None:
        await self.page.close()

    def _on_error(self, error: PageError) -> None:
        self.wrong.append(f"an error of the page: {error}")

    def _on_console(self, message: ConsoleMessage) -> None:
        # What a server refuses is shown by the page, and told of by the browser in any case.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.wrong.append(f"an error on the console: {message.text[:300]}")

    def _on_response(self, response: Response) -> None:
        if response.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            self.wrong.append(f"{response.request.method} {response.url} has answered {response.status}")

    def _on_request(self, request: Request) -> None:
        if request.method not in ("GET", "HEAD", "OPTIONS"):
            self._is_sent = True
            self._left.set()

    def _on_left(self, _: object) -> None:
        self._left.set()

    async def _on_popup(self, popup: Page) -> None:
        self._left.set()
        await popup.close()

    async def _on_dialog(self, dialog: Any) -> None:
        self._left.set()
        await dialog.accept()


async def mended(api: ApiClient, made: Made) -> Made:
    """With all that a press has ended or deleted there again, and settings as they come."""
    for one in await api.json("GET", "/settings"):
        if one["source"] == "user" and (one["category"], one["key"]) != ("appearance", "face"):
            await api.http.delete(f"/settings/{one['category']}/{one['key']}")
    await api.json("PUT", "/settings/appearance/face", json={"value": "developer"})
    if not (await api.json("GET", "/schedules"))["items"]:
        await make_schedule(api)
    is_there = await _is_there(api, f"/sessions/{made.tools}")
    is_as_it_was = is_there and await _is_shared(api, made) and not await _is_told_otherwise(api, made)
    if not is_as_it_was or await _is_chosen_otherwise(api, made):
        await api.http.delete(f"/sessions/{made.tools}")
        made = replace(made, **await make_talk(api))
    papers = (f"/sessions/{made.research}", f"/writing/{made.project}", f"/writing/{made.draft}")
    are_there = all([await _is_there(api, path) for path in (*papers, f"/corpus/{made.paper}")])
    if not are_there or not await _has_suggestion(api, made.draft):
        await api.http.delete(f"/sessions/{made.research}")
        made = replace(made, **await make_papers(api))
    for name in ("approval", "question", "plan"):
        session = getattr(made, name)
        found = await api.http.get(f"/sessions/{session}")
        if found.status_code != HTTPStatus.OK or found.json()["status"] != "waiting":
            await api.http.delete(f"/sessions/{session}")
            made = replace(made, **{name: await ask_for_decision(api, name)})
    return made


async def _has_suggestion(api: ApiClient, project: str) -> bool:
    """Whether a change of its text waits to be decided."""
    return any(section["suggestion"] for section in (await api.json("GET", f"/writing/{project}"))["sections"])


async def _is_there(api: ApiClient, path: str) -> bool:
    return (await api.http.get(path)).status_code == HTTPStatus.OK


async def _is_shared(api: ApiClient, made: Made) -> bool:
    """Whether both links to the conversation hold."""
    shares = (await api.json("GET", f"/sessions/{made.tools}/shares"))["items"]
    links = {path.partition("#")[0].removeprefix("/share/") for path in (made.share, made.locked_share)}
    return links <= {one["id"] for one in shares}


async def _is_told_otherwise(api: ApiClient, made: Made) -> bool:
    """Whether what was said in the conversation is not what it was."""
    after = {"format": "json", "after": made.tools_end, "limit": 500}
    page = await api.json("GET", f"/sessions/{made.tools}/events", params=after)
    return any(event["type"].startswith(("message.", "branch.", "path.", "run.")) for event in page["items"])


async def _is_chosen_otherwise(api: ApiClient, made: Made) -> bool:
    """Whether something is chosen for the conversation: what is pressed to choose it has another name then."""
    session = await api.json("GET", f"/sessions/{made.tools}")
    return bool(session["options"] or session["model"]) or session["preset"] != made.preset


@asynccontextmanager
async def walking(places: Places, context: BrowserContext) -> AsyncGenerator[Walk]:
    async with ApiClient(places.stack.base_url) as api:
        await api.json("PUT", "/settings/appearance/face", json={"value": "developer"})
        yield Walk(places, api, context, await make(api, places))
