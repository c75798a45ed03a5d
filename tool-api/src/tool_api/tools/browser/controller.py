"""The browser tools' work: act, let the page come to rest, say what is there now."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from contracts.tools import BrowserDisplay, ToolResult
from tool_api.tools.browser import types
from tool_api.tools.browser.addresses import AddressError, address_of, why_unreachable
from tool_api.tools.browser.cdp import CdpClosedError, CdpError
from tool_api.tools.browser.keys import UnknownKeyError, parse_key
from tool_api.tools.browser.report import MAX_ELEMENTS, MAX_TEXT, SHORT_TEXT, PageView, describe
from tool_api.tools.browser.tab import StaleViewError, Tab
from tool_api.tools.browser.tabs import NoBrowserError, Tabs
from tool_api.tools.tool import CallContext, done, failed

CONNECT_S = 15.0
SETTLE_S = 4.0
LOAD_S = 20.0
NAVIGATE_S = 30.0
RESERVE_S = 8.0
Action = Callable[[Tab], Awaitable[ToolResult]]


class RefusedError(Exception):
    """What was asked can't be done on this page; the message tells the model."""


class BrowserController:
    """One browser, one action at a time."""

    def __init__(self, tabs: Tabs, has_browser: Callable[[], bool]) -> None:
        self._tabs = tabs
        self._has_browser = has_browser
        self._turn = asyncio.Lock()

    async def view(self, context: CallContext, _: types.BrowserView) -> ToolResult:
        return await self._act(context, lambda tab: self._observe(tab, "view", "", text=MAX_TEXT))

    async def screenshot(self, context: CallContext, _: types.BrowserScreenshot) -> ToolResult:
        async def act(tab: Tab) -> ToolResult:
            result = await self._observe(tab, "screenshot", "", text=0)
            display = result.display
            assert isinstance(display, BrowserDisplay)
            if display.image is None:
                return failed("The page gave no screenshot.", display=display)
            return done(f"Screenshot of {display.title or '(no title)'} at {display.url}.", display=display)

        return await self._act(context, act)

    async def navigate(self, context: CallContext, arguments: types.BrowserNavigate) -> ToolResult:
        async def act(tab: Tab) -> ToolResult:
            url = address_of(arguments.url)
            if not await tab.responds():
                tab = await self._tabs.replace(tab)
            limit = max(1.0, min(NAVIGATE_S, context.remaining_s - RESERVE_S))
            try:
                answer = await tab.send("Page.navigate", {"url": url}, timeout_s=limit)
            except TimeoutError:
                await tab.send("Page.stopLoading")
                raise RefusedError(f"{url} did not answer within {limit:.0f} s.") from None
            if answer.get("isDownload"):
                return await self._observe(tab, "navigate", f"{url} is a file and is being downloaded.")
            if error := answer.get("errorText"):
                raise RefusedError(why_unreachable(url, str(error)))
            rested = await tab.settle(max(1.0, min(LOAD_S, context.remaining_s - RESERVE_S)))
            said = "Opened the page." if rested else "Opened the page; parts of it are still loading."
            return await self._observe(tab, "navigate", said, text=MAX_TEXT)

        return await self._act(context, act)

    async def back(self, context: CallContext, _: types.BrowserBack) -> ToolResult:
        async def act(tab: Tab) -> ToolResult:
            history = await tab.send("Page.getNavigationHistory")
            current = int(history["currentIndex"])
            if current == 0:
                raise RefusedError("There is no page to go back to.")
            await tab.send("Page.navigateToHistoryEntry", {"entryId": history["entries"][current - 1]["id"]})
            await tab.settle(LOAD_S)
            return await self._observe(tab, "back", "Went back.")

        return await self._act(context, act)

    async def click(self, context: CallContext, arguments: types.BrowserClick) -> ToolResult:
        async def act(tab: Tab) -> ToolResult:
            if arguments.index is None:
                x, y, what = float(arguments.x or 0), float(arguments.y or 0), f"({arguments.x}, {arguments.y})"
            else:
                place = await self._locate(tab, arguments.index)
                x, y, what = place["x"], place["y"], f"[{arguments.index}] {place['label']}".strip()
            await self._press(tab, x, y, arguments.button, 2 if arguments.double else 1)
            return await self._after(tab, "click", f"Clicked {what}.")

        return await self._act(context, act)

    async def type(self, context: CallContext, arguments: types.BrowserType) -> ToolResult:
        async def act(tab: Tab) -> ToolResult:
            if arguments.index is not None:
                place = await self._locate(tab, arguments.index)
                if place["tag"] == "select":
                    return await self._choose(tab, arguments.index, arguments.text)
                await self._press(tab, place["x"], place["y"], "left", 1)
                if not await tab.call(f"focus({arguments.index}, {json.dumps(arguments.clear)})"):
                    raise RefusedError(f"Element [{arguments.index}] does not take text.")
                if arguments.clear:
                    await self._key(tab, "Delete")
            if arguments.text:
                await tab.send("Input.insertText", {"text": arguments.text})
            if arguments.submit:
                await self._key(tab, "Enter")
            return await self._after(tab, "type", "Typed and pressed Enter." if arguments.submit else "Typed.")

        return await self._act(context, act)

    async def key(self, context: CallContext, arguments: types.BrowserKey) -> ToolResult:
        async def act(tab: Tab) -> ToolResult:
            await self._key(tab, arguments.key)
            return await self._after(tab, "key", f"Pressed {arguments.key}.")

        return await self._act(context, act)

    async def scroll(self, context: CallContext, arguments: types.BrowserScroll) -> ToolResult:
        async def act(tab: Tab) -> ToolResult:
            view = (await tab.send("Page.getLayoutMetrics"))["cssLayoutViewport"]
            width, height = float(view["clientWidth"]), float(view["clientHeight"])
            sign = -1 if arguments.direction in ("up", "left") else 1
            vertical = arguments.direction in ("up", "down")
            wheel: dict[str, Any] = {"type": "mouseWheel", "x": width / 2, "y": height / 2}
            wheel["deltaX"] = 0 if vertical else sign * arguments.pages * width
            wheel["deltaY"] = sign * arguments.pages * height if vertical else 0
            await tab.send("Input.dispatchMouseEvent", wheel)
            return await self._after(tab, "scroll", f"Scrolled {arguments.direction}.", text=MAX_TEXT)

        return await self._act(context, act)

    async def _act(self, context: CallContext, action: Action) -> ToolResult:
        if not self._has_browser():
            return failed("This sandbox has no browser, or it can't be started.")
        try:
            async with self._turn, asyncio.timeout(max(1.0, context.remaining_s - 1)):
                return await action(await self._tabs.current(CONNECT_S))
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

    async def _after(self, tab: Tab, action: str, said: str, *, text: int = SHORT_TEXT) -> ToolResult:
        await tab.settle(SETTLE_S)
        # The action may have opened another tab, which is in front now.
        current = await self._tabs.current(CONNECT_S)
        if current is not tab:
            await current.settle(SETTLE_S)
        return await self._observe(current, action, said, text=text)

    async def _observe(self, tab: Tab, action: str, said: str, *, text: int = SHORT_TEXT) -> ToolResult:
        limits = json.dumps({"elements": MAX_ELEMENTS, "text": text})
        try:
            found = await tab.call_afresh(f"view({limits})")
        except StaleViewError:
            # It moved on to another page just now.
            await tab.settle(SETTLE_S)
            found = await tab.call_afresh(f"view({limits})")
        view = PageView.from_script(found)
        image = await tab.screenshot()
        display = BrowserDisplay(
            url=view.url,
            title=view.title,
            action=action,
            image=image,
            image_media_type="image/jpeg" if image else None,
        )
        return done(describe(view, said, self._tabs.take_notes()), display=display)

    async def _locate(self, tab: Tab, index: int) -> dict[str, Any]:
        place: dict[str, Any] | None = await tab.call(f"locate({index})")
        if place is None:
            raise RefusedError(f"There is no element [{index}] any more. View the page again.")
        if place["disabled"]:
            raise RefusedError(f"Element [{index}] is disabled.")
        if not place["visible"]:
            raise RefusedError(f"Element [{index}] is hidden now. View the page again.")
        return place

    async def _choose(self, tab: Tab, index: int, text: str) -> ToolResult:
        chosen = await tab.call(f"choose({index}, {json.dumps(text)})")
        if chosen is None:
            raise RefusedError(f"The list [{index}] has no option {text!r}.")
        return await self._after(tab, "type", f"Chose {chosen!r}.")

    async def _press(self, tab: Tab, x: float, y: float, button: str, clicks: int) -> None:
        await tab.send("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": y})
        for count in range(1, clicks + 1):
            same = {"x": x, "y": y, "button": button, "clickCount": count}
            await tab.send("Input.dispatchMouseEvent", {"type": "mousePressed", **same})
            await tab.send("Input.dispatchMouseEvent", {"type": "mouseReleased", **same})

    async def _key(self, tab: Tab, written: str) -> None:
        for event in parse_key(written).events():
            await tab.send("Input.dispatchKeyEvent", event)
