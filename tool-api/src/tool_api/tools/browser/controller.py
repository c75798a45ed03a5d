"""The browser tools' work: act, let the page come to rest, describe the page."""

from __future__ import annotations

import json
from typing import Any

from contracts.tools import BrowserDisplay, ToolResult
from tool_api.tools.browser import types
from tool_api.tools.browser.addresses import address_of, why_unreachable
from tool_api.tools.browser.cdp import CdpError
from tool_api.tools.browser.driver import BrowserDriver, RefusedError
from tool_api.tools.browser.report import MAX_TEXT
from tool_api.tools.browser.tab import StaleViewError, Tab
from tool_api.tools.browser.text_fields import TextFields
from tool_api.tools.tool import CallContext, failed

LOAD_S = 20.0
SETTLE_S = 4.0
NAVIGATE_S = 30.0
RESERVE_S = 8.0
_NOT_SCROLLED = "Nothing was scrolled: what is in the middle of the page ends there, or does not scroll that way."


class BrowserController:
    """Looks at a page, and uses it as a person does."""

    def __init__(self, driver: BrowserDriver) -> None:
        self._driver = driver
        self._fields = TextFields(driver)

    async def view(self, context: CallContext, _: types.BrowserView) -> ToolResult:
        return await self._driver.act(context, lambda tab: self._driver.observe(tab, "view", "", text=MAX_TEXT))

    async def screenshot(self, context: CallContext, _: types.BrowserScreenshot) -> ToolResult:
        async def act(tab: Tab) -> ToolResult:
            result = await self._driver.observe(tab, "screenshot", "", text=0)
            display = result.display
            assert isinstance(display, BrowserDisplay)
            if display.image is None:
                return failed(
                    "The page could not be captured. Try again, or use the text of the page.", display=display
                )
            said = f"Screenshot of {display.title or '(no title)'} at {display.url}."
            return result.model_copy(update={"output": said})

        return await self._driver.act(context, act)

    async def navigate(self, context: CallContext, arguments: types.BrowserNavigate) -> ToolResult:
        async def act(tab: Tab) -> ToolResult:
            url = address_of(arguments.url)
            if not await tab.responds():
                tab = await self._driver.tabs.replace(tab)
            limit = max(1.0, min(NAVIGATE_S, context.remaining_s - RESERVE_S))
            try:
                answer = await tab.send("Page.navigate", {"url": url}, timeout_s=limit)
            except TimeoutError:
                await tab.send("Page.stopLoading")
                raise RefusedError(f"{url} did not answer within {limit:.0f} s.") from None
            if answer.get("isDownload"):
                return await self._driver.observe(tab, "navigate", f"{url} is a file, which is downloaded.")
            if error := answer.get("errorText"):
                raise RefusedError(why_unreachable(url, str(error)))
            rested = await tab.settle(max(1.0, min(LOAD_S, context.remaining_s - RESERVE_S)))
            said = "Opened the page." if rested else "Opened the page; parts of it are still loading."
            return await self._driver.observe(tab, "navigate", said, text=MAX_TEXT)

        return await self._driver.act(context, act, arguments.answer)

    async def back(self, context: CallContext, arguments: types.BrowserBack) -> ToolResult:
        async def act(tab: Tab) -> ToolResult:
            history = await tab.send("Page.getNavigationHistory")
            current = int(history["currentIndex"])
            if current == 0:
                raise RefusedError("There is no page to go back to.")
            await tab.send("Page.navigateToHistoryEntry", {"entryId": history["entries"][current - 1]["id"]})
            await tab.settle(LOAD_S)
            history = await tab.send("Page.getNavigationHistory")
            if int(history["currentIndex"]) == current:
                raise RefusedError("The page was not left.")
            return await self._driver.observe(tab, "back", "Went back.")

        return await self._driver.act(context, act, arguments.answer)

    async def click(self, context: CallContext, arguments: types.BrowserClick) -> ToolResult:
        async def act(tab: Tab) -> ToolResult:
            x, y, what = await self._driver.target(tab, arguments.index, arguments.x, arguments.y)
            async with self._driver.watched(tab, arguments.index):
                await self._driver.press(tab, x, y, arguments.button, 2 if arguments.double else 1)
                return await self._driver.after(tab, "click", f"Clicked {what}.")

        return await self._driver.act(context, act, arguments.answer)

    async def move(self, context: CallContext, arguments: types.BrowserMove) -> ToolResult:
        async def act(tab: Tab) -> ToolResult:
            x, y, what = await self._driver.target(tab, arguments.index, arguments.x, arguments.y)
            await tab.send("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": y})
            return await self._driver.after(tab, "move", f"Moved the mouse to {what}.")

        return await self._driver.act(context, act)

    async def select(self, context: CallContext, arguments: types.BrowserSelect) -> ToolResult:
        async def act(tab: Tab) -> ToolResult:
            await self._driver.locate(tab, arguments.index, is_pressed=False)
            return await self._choose(tab, arguments.index, arguments.options)

        return await self._driver.act(context, act, arguments.answer)

    async def type(self, context: CallContext, arguments: types.BrowserType) -> ToolResult:
        async def act(tab: Tab) -> ToolResult:
            if arguments.index is not None:
                place = await self._driver.locate(tab, arguments.index, is_pressed=False)
                if place["tag"] == "select":
                    return await self._choose(tab, arguments.index, [arguments.text])
            async with self._driver.watched(tab, arguments.index):
                said = await self._fields.fill(tab, arguments.index, arguments.text, clear=arguments.clear)
                if arguments.submit:
                    await self._driver.key(tab, "Enter")
                    said = f"{said} Pressed Enter."
                return await self._driver.after(tab, "type", said)

        return await self._driver.act(context, act, arguments.answer)

    async def key(self, context: CallContext, arguments: types.BrowserKey) -> ToolResult:
        async def act(tab: Tab) -> ToolResult:
            async with self._driver.watched(tab, scrolls=True):
                await self._driver.key(tab, arguments.key)
                return await self._driver.after(tab, "key", f"Pressed {arguments.key}.")

        return await self._driver.act(context, act, arguments.answer)

    async def scroll(self, context: CallContext, arguments: types.BrowserScroll) -> ToolResult:
        async def act(tab: Tab) -> ToolResult:
            view = (await tab.send("Page.getLayoutMetrics"))["cssLayoutViewport"]
            width, height = float(view["clientWidth"]), float(view["clientHeight"])
            sign = -1 if arguments.direction in ("up", "left") else 1
            vertical = arguments.direction in ("up", "down")
            wheel: dict[str, Any] = {"type": "mouseWheel", "x": width / 2, "y": height / 2}
            wheel["deltaX"] = 0 if vertical else sign * arguments.pages * width
            wheel["deltaY"] = sign * arguments.pages * height if vertical else 0
            await tab.call_in_new_context("watch(true)")
            await tab.send("Input.dispatchMouseEvent", wheel)
            await tab.settle(SETTLE_S)
            found = await tab.call_in_new_context("watched()")
            said = f"Scrolled {arguments.direction}." if found["changed"] else _NOT_SCROLLED
            return await self._driver.after(tab, "scroll", said, text=MAX_TEXT)

        return await self._driver.act(context, act)

    async def _choose(self, tab: Tab, index: int, options: list[str]) -> ToolResult:
        found = await tab.call(f"choose({index}, {json.dumps(options)})")
        match found:
            case {"chosen": [*chosen]}:
                async with self._driver.watched(tab, index):
                    found = await tab.call(f"choose({index}, {json.dumps(options)}, true)")
                    await tab.settle(SETTLE_S)
                    return await self._driver.after(tab, "select", await self._chosen(tab, index, chosen))
            case {"missing": missing, "options": [*there]}:
                names = ", ".join(repr(str(name)[:60]) for name in there)
                raise RefusedError(
                    f"The list [{index}] has no option {str(missing)[:100]!r} to choose. It has: {names}."
                )
            case {"single": True}:
                raise RefusedError(f"The list [{index}] takes one option only.")
            case _:
                raise RefusedError(
                    f"Element [{index}] is not a native list. Click it, and then the option that it shows."
                )

    async def _chosen(self, tab: Tab, index: int, chosen: list[Any]) -> str:
        names = ", ".join(repr(str(name)[:100]) for name in chosen)
        try:
            now = await tab.call(f"chosen({index})")
        except (StaleViewError, CdpError):
            return f"Chose {names}."
        if now is None or now == chosen:
            return f"Chose {names}."
        there = ", ".join(repr(str(name)[:100]) for name in now) or "nothing"
        return f"Chose {names}, but the page has changed that: {there} is chosen now."
