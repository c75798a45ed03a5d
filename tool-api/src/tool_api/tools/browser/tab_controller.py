"""The browser's tabs, and the browser as a whole."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from contracts.tools import ToolResult
from tool_api.tools.browser import types
from tool_api.tools.browser.addresses import address_of, why_unreachable
from tool_api.tools.browser.cdp import CdpError
from tool_api.tools.browser.driver import CONNECT_S, BrowserDriver, RefusedError
from tool_api.tools.browser.report import MAX_TEXT
from tool_api.tools.browser.tab import Tab
from tool_api.tools.browser.tabs import NoBrowserError, TabLine
from tool_api.tools.tool import CallContext, done

LIST_S = 5.0
OPEN_S = 20.0
Restart = Callable[[], Awaitable[None]]


class TabController:
    """Works on tabs; `restart` ends Chrome, which is then restarted."""

    def __init__(self, driver: BrowserDriver, restart: Restart) -> None:
        self._driver = driver
        self._restart = restart

    async def list(self, context: CallContext, _: types.BrowserTabs) -> ToolResult:
        async def work() -> ToolResult:
            lines = await self._driver.tabs.list(CONNECT_S)
            notes = self._driver.tabs.take_notes()
            return done("\n".join([*notes, _list_tabs(lines)]), changed_paths=self._driver.tabs.downloads.take_paths())

        return await self._driver.work(context, work)

    async def open(self, context: CallContext, arguments: types.BrowserTabOpen) -> ToolResult:
        async def work() -> ToolResult:
            url = address_of(arguments.url)
            tab = await self._driver.tabs.open(CONNECT_S)
            try:
                answer = await tab.send("Page.navigate", {"url": url}, timeout_s=OPEN_S)
            except TimeoutError:
                await tab.send("Page.stopLoading")
                raise RefusedError(f"{url} did not answer; tab {tab.number} is empty.") from None
            if (error := answer.get("errorText")) and not answer.get("isDownload"):
                raise RefusedError(why_unreachable(url, str(error)))
            await tab.settle(OPEN_S)
            said = f"Opened tab {tab.number}."
            if answer.get("isDownload"):
                said = f"{said} {url} is a file, which is downloaded."
            return await self._driver.observe(tab, "tab_open", said, text=MAX_TEXT)

        return await self._driver.work(context, work)

    async def switch(self, context: CallContext, arguments: types.BrowserTabSwitch) -> ToolResult:
        async def work() -> ToolResult:
            tab = await self._tab(arguments.tab)
            await self._driver.tabs.show(tab)
            if not await tab.responds():
                raise RefusedError(f"Tab {tab.number} is shown, but its page does not respond.")
            return await self._driver.observe(tab, "tab_switch", f"Tab {tab.number} is shown now.", text=MAX_TEXT)

        return await self._driver.work(context, work)

    async def close(self, context: CallContext, arguments: types.BrowserTabClose) -> ToolResult:
        async def work() -> ToolResult:
            tab = await self._tab(arguments.tab)
            await self._driver.tabs.close_tab(tab)
            lines = await self._driver.tabs.list(CONNECT_S)
            said = f"Closed tab {tab.number}."
            if any(line.number == tab.number for line in lines):
                raise RefusedError(f"Tab {tab.number} is still open.\n{_list_tabs(lines)}")
            paths = self._driver.tabs.downloads.take_paths()
            return done("\n".join([said, *self._driver.tabs.take_notes(), _list_tabs(lines)]), changed_paths=paths)

        return await self._driver.work(context, work)

    async def restart(self, context: CallContext, _: types.BrowserRestart) -> ToolResult:
        async def work() -> ToolResult:
            try:
                had = _list_tabs(await self._driver.tabs.list(LIST_S))
            except (CdpError, NoBrowserError, TimeoutError):
                had = "Its tabs are not known: it did not answer."
            await self._driver.tabs.close()
            await self._restart()
            said = f"The browser was restarted, with an empty tab. Before that:\n{had}"
            return await self._driver.observe(await self._driver.tabs.current(CONNECT_S), "restart", said)

        return await self._driver.work(context, work)

    async def _tab(self, number: int) -> Tab:
        tab = await self._driver.tabs.find(number, CONNECT_S)
        if tab is None:
            raise RefusedError(f"There is no tab {number}.\n{_list_tabs(await self._driver.tabs.list(CONNECT_S))}")
        return tab


def _list_tabs(lines: list[TabLine]) -> str:
    shown = [f"[{line.number}] {line.title or '(no title)'} {line.url}{' (shown)' * line.is_shown}" for line in lines]
    return "\n".join(["Tabs by number:", *shown])
