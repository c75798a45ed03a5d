"""The base of all browser tools: one action at a time on the tab in front; wait for its end, then report the page."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from contracts.tools import BrowserDisplay, ToolResult
from tool_api.tools.browser.addresses import AddressError, why_unreachable
from tool_api.tools.browser.cdp import CdpClosedError, CdpError
from tool_api.tools.browser.dialogs import BY_DEFAULT, DialogAnswer
from tool_api.tools.browser.downloads import Download
from tool_api.tools.browser.keys import UnknownKeyError, parse_key
from tool_api.tools.browser.report import MAX_ELEMENTS, SHORT_TEXT, PageView, describe
from tool_api.tools.browser.tab import StaleViewError, Tab
from tool_api.tools.browser.tabs import NoBrowserError, Tabs
from tool_api.tools.tool import CallContext, done, failed

CONNECT_S = 15.0
SETTLE_S = 4.0
FRAMES_S = 4.0
"""Seconds to wait for what a frame of the page began to load."""
DOWNLOAD_S = 3.0
"""Seconds for which a result waits for a download that its call began."""
DIALOG_S = 1.0
LOOKS = 3
"""Attempts to find the tab in front, if tabs are closed meanwhile."""
NO_RESPONSE = "The page does not respond. Open another one, or try again in a moment."
UNANSWERED = "A dialog is open, which holds the page until it is answered. Try again in a moment."
NOTHING = "Nothing changed in the elements of the page."
CHOOSER = "The page asks for a file: use browser_upload."
MAX_URL = 500
Action = Callable[[Tab], Awaitable[ToolResult]]
Work = Callable[[], Awaitable[ToolResult]]


class RefusedError(Exception):
    """The request can't be done on this page; the message is for the model."""


@dataclass(frozen=True, slots=True)
class _Watch:
    """The page that an action works on: its address before, and the file chooser that it opens, if any."""

    tab: Tab
    url: str
    chooser: asyncio.Future[int]


class BrowserDriver:
    """One browser, one action at a time."""

    def __init__(self, tabs: Tabs, has_browser: Callable[[], bool], turn: asyncio.Lock | None = None) -> None:
        """The driver of these tabs; `turn` is shared with all other users of the desktop."""
        self.tabs = tabs
        self._has_browser = has_browser
        self._turn = turn or asyncio.Lock()
        self._watch: _Watch | None = None

    async def act(self, context: CallContext, action: Action, answer: DialogAnswer = BY_DEFAULT) -> ToolResult:
        """The action on the tab in front."""

        async def work() -> ToolResult:
            return await action(await self.tabs.current(CONNECT_S))

        return await self.work(context, work, answer)

    async def work(self, context: CallContext, work: Work, answer: DialogAnswer = BY_DEFAULT) -> ToolResult:
        """Run work on the browser as a whole. It ends before the call's deadline, and faults of a page or of Chrome
        become a result, with all else that happened. Dialogs are answered with `answer`."""
        if not self._has_browser():
            return failed("This sandbox has no browser, or it can't be started.")
        try:
            async with asyncio.timeout(max(1.0, context.remaining_s - 1)), self._turn, self.tabs.acting(answer):
                return await work()
        except (RefusedError, AddressError, UnknownKeyError) as error:
            said = str(error)
        except StaleViewError:
            said = "The page has changed since it was last viewed. View it again."
        except (NoBrowserError, CdpClosedError):
            said = "The browser, or the tab, was closed and is being opened again. View it again."
        except TimeoutError:
            said = UNANSWERED if self.tabs.dialogs.left else NO_RESPONSE
        except CdpError as error:
            said = f"The browser refused: {error}"
        await self.tabs.dialogs.wait_closed(DIALOG_S)
        return failed("\n".join([said, *self.tabs.take_notes()]), changed_paths=self.tabs.downloads.take_paths())

    @asynccontextmanager
    async def watched(self, tab: Tab, index: int | None = None, *, scrolls: bool = False) -> AsyncGenerator[None]:
        """Watch the page during the block, for `after` to report. With an index the watch is set in the world of the
        latest view, where its element is. Raises `StaleViewError`."""
        call = tab.call if index is not None else tab.call_in_new_context
        found = await call(f"watch({json.dumps(scrolls)})")
        tab.forget_frames()
        async with tab.file_choosers() as chooser:
            self._watch = _Watch(tab, str(found.get("url"))[:MAX_URL], chooser)
            try:
                yield
            finally:
                self._watch = None

    async def after(self, tab: Tab, action: str, said: str, *, text: int = SHORT_TEXT) -> ToolResult:
        """The page once it has come to rest after an action, which may have opened or closed tabs."""
        try:
            await tab.settle(SETTLE_S)
            await tab.rest_frames(FRAMES_S)
        except CdpClosedError:
            said = f"{said} The page closed its tab."
        for look in range(LOOKS):
            current = await self.tabs.current(CONNECT_S)
            try:
                if current is not tab:
                    await current.settle(SETTLE_S)
                change = await self._change(current)
                return await self.observe(current, action, said, text=text, change=change)
            except CdpClosedError:
                # A tab that was opened for a download is closed when that begins.
                if look == LOOKS - 1:
                    raise
        raise AssertionError

    async def _change(self, current: Tab) -> str:
        """The change of the watched page, in words."""
        watch = self._watch
        if watch is None or current is not watch.tab:
            return ""
        if watch.chooser.done():
            return CHOOSER
        found = await current.call_in_new_context("watched()")
        url = str(found["url"])[:MAX_URL]
        if error := found["error"]:
            return why_unreachable(await self._wanted(current), str(error)[:60])
        if found["isNew"]:
            return f"It opened {url}." if url != watch.url else "The page was reloaded."
        if url != watch.url:
            return f"The address of the page is {url} now."
        if found["refused"]:
            fields = "; ".join(f"{str(label)[:100]}: {str(said)[:200]}" for label, said in found["refused"][:5])
            return f"The form was not sent, as the browser does not take what is in it. {fields}"
        if found["frame"] is not None:
            return f"A frame of the page shows {str(found['frame'])[:MAX_URL] or 'another site'} now."
        return "" if found["changed"] else NOTHING

    async def _wanted(self, tab: Tab) -> str:
        """The address of a page that could not be opened."""
        history = await tab.send("Page.getNavigationHistory")
        return str(history["entries"][int(history["currentIndex"])]["url"])[:MAX_URL]

    async def _downloads(self) -> list[str]:
        """Notes on downloads that began; the end of those that have ended has a note of its own."""
        begun = self.tabs.downloads.take_begun()
        if not begun:
            return []
        ends = [asyncio.ensure_future(one.ended.wait()) for one in begun]
        try:
            await asyncio.wait(ends, timeout=DOWNLOAD_S)
        finally:
            for end in ends:
                end.cancel()
        return [
            f"{one.name} is being downloaded, {one.received:,} bytes by now{_of_size(one)}; its end is told later."
            for one in begun
            if not one.ended.is_set()
        ]

    async def observe(
        self, tab: Tab, action: str, said: str, *, text: int = SHORT_TEXT, change: str = ""
    ) -> ToolResult:
        """The page in words and as a picture. `change` describes its change."""
        await self.tabs.dialogs.wait_closed(DIALOG_S)
        under_way = await self._downloads()
        limits = json.dumps({"elements": MAX_ELEMENTS, "text": text})
        try:
            found = await tab.call_in_new_context(f"view({limits})")
        except StaleViewError:
            # It moved on to another page just now.
            await tab.settle(SETTLE_S)
            found = await tab.call_in_new_context(f"view({limits})")
        view = PageView.from_script(found)
        image = await tab.screenshot()
        display = BrowserDisplay(
            url=view.url,
            title=view.title,
            action=action,
            image=image,
            image_media_type="image/jpeg" if image else None,
        )
        notes = [*self.tabs.take_notes(tab), *under_way]
        if change and not (change == NOTHING and notes):
            notes.insert(0, change)
        return done(describe(view, said, notes), display=display, changed_paths=self.tabs.downloads.take_paths())

    async def locate(self, tab: Tab, index: int, *, is_pressed: bool = True) -> dict[str, Any]:
        """Scroll an element of the latest view into sight and return its place. Raises `RefusedError`, also if
        something else covers an element that is to be pressed."""
        place: dict[str, Any] | None = await tab.call(f"locate({index})")
        if place is None:
            raise RefusedError(f"There is no element [{index}] any more. View the page again.")
        if place["disabled"]:
            raise RefusedError(f"Element [{index}] is disabled.")
        if not place["visible"]:
            raise RefusedError(f"Element [{index}] is hidden now. View the page again.")
        if is_pressed and (covering := place.get("covered")):
            raise RefusedError(
                f"Element [{index}] is covered by {str(covering)[:200]}, which would be pressed instead. Close or move "
                "that first, or press a point by x and y."
            )
        return place

    async def target(self, tab: Tab, index: int | None, x: int | None, y: int | None) -> tuple[float, float, str]:
        """A point of the page and its name: an element's middle, or the point itself."""
        if index is None:
            return float(x or 0), float(y or 0), f"({x}, {y})"
        place = await self.locate(tab, index)
        return place["x"], place["y"], f"[{index}] {place['label']}".strip()

    async def press(self, tab: Tab, x: float, y: float, button: str = "left", clicks: int = 1) -> None:
        """A press of a mouse button, or two."""
        await tab.send("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": y})
        for count in range(1, clicks + 1):
            same = {"x": x, "y": y, "button": button, "clickCount": count}
            await tab.send("Input.dispatchMouseEvent", {"type": "mousePressed", **same})
            await tab.send("Input.dispatchMouseEvent", {"type": "mouseReleased", **same})

    async def key(self, tab: Tab, written: str) -> None:
        """A press of a key. Raises `UnknownKeyError`."""
        for event in parse_key(written).events():
            await tab.send("Input.dispatchKeyEvent", event)


def _of_size(download: Download) -> str:
    return f" of {download.size:,}" if download.size > download.received else ""
