"""What all browser tools share: one action at a time on the tab in front, its end awaited, what is there then told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from contracts.tools import BrowserDisplay, ToolResult
from tool_api.tools.browser.addresses import AddressError
from tool_api.tools.browser.cdp import CdpClosedError, CdpError
from tool_api.tools.browser.keys import UnknownKeyError, parse_key
from tool_api.tools.browser.report import MAX_ELEMENTS, SHORT_TEXT, PageView, describe
from tool_api.tools.browser.tab import StaleViewError, Tab
from tool_api.tools.browser.tabs import NoBrowserError, Tabs
from tool_api.tools.tool import CallContext, done, failed

CONNECT_S = 15.0
SETTLE_S = 4.0
Action = Callable[[Tab], Awaitable[ToolResult]]
Work = Callable[[], Awaitable[ToolResult]]


class RefusedError(Exception):
    """What was asked can't be done on this page; the message tells the model."""


class BrowserDriver:
    """One browser, one action at a time."""

    def __init__(self, tabs: Tabs, has_browser: Callable[[], bool], turn: asyncio.Lock | None = None) -> None:
        """`turn` is shared with whatever else uses the same desktop."""
        self.tabs = tabs
        self._has_browser = has_browser
        self._turn = turn or asyncio.Lock()

    async def act(self, context: CallContext, action: Action) -> ToolResult:
        """The action on the tab in front."""

        async def work() -> ToolResult:
            return await action(await self.tabs.current(CONNECT_S))

        return await self.work(context, work)

    async def work(self, context: CallContext, work: Work) -> ToolResult:
        """Work on the browser as a whole. It ends before the call's deadline, and what a page or Chrome does wrong is a
        result."""
        if not self._has_browser():
            return failed("This sandbox has no browser, or it can't be started.")
        try:
            async with asyncio.timeout(max(1.0, context.remaining_s - 1)), self._turn:
                return await work()
        except (RefusedError, AddressError, UnknownKeyError) as error:
            return failed(str(error))
        except StaleViewError:
            return failed("The page has changed since it was last viewed. View it again.")
        except (NoBrowserError, CdpClosedError):
            return failed("The browser, or the tab, was closed and is being opened again. View it again.")
        except TimeoutError:
            return failed("The page does not respond. Open another one, or try again in a moment.")
        except CdpError as error:
            return failed(f"The browser refused: {error}")

    async def after(self, tab: Tab, action: str, said: str, *, text: int = SHORT_TEXT) -> ToolResult:
        """What is there once the page has come to rest after an action, which may have opened or closed tabs."""
        try:
            await tab.settle(SETTLE_S)
        except CdpClosedError:
            said = f"{said} The page closed its tab."
        current = await self.tabs.current(CONNECT_S)
        if current is not tab:
            await current.settle(SETTLE_S)
        return await self.observe(current, action, said, text=text)

    async def observe(self, tab: Tab, action: str, said: str, *, text: int = SHORT_TEXT) -> ToolResult:
        """The page in words and as a picture."""
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
        notes = self.tabs.take_notes()
        return done(describe(view, said, notes), display=display, changed_paths=self.tabs.downloads.take_paths())

    async def locate(self, tab: Tab, index: int) -> dict[str, Any]:
        """Where an element of the latest view is, scrolled into sight. Raises `RefusedError`."""
        place: dict[str, Any] | None = await tab.call(f"locate({index})")
        if place is None:
            raise RefusedError(f"There is no element [{index}] any more. View the page again.")
        if place["disabled"]:
            raise RefusedError(f"Element [{index}] is disabled.")
        if not place["visible"]:
            raise RefusedError(f"Element [{index}] is hidden now. View the page again.")
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
