"""The browser tools as the endpoint calls them, with the real, visible Chrome and pages of a test's own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from contracts.tools import BrowserDisplay, ToolResult
from support.desktops import desktop_settings
from tool_api.desktop.settings import DesktopSettings
from tool_api.desktop.supervisor import Desktop
from tool_api.tools.browser.downloads import Downloads
from tool_api.tools.browser.driver import BrowserDriver
from tool_api.tools.browser.tabs import Tabs
from tool_api.tools.browser.tools import browser_tools
from tool_api.tools.tool import CallContext
from tool_api.workspace import Workspace


@asynccontextmanager
async def _pages(handler: type[BaseHTTPRequestHandler]) -> AsyncGenerator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        await asyncio.to_thread(server.shutdown)
        server.server_close()
        thread.join(5)


class Browser:
    """The tools as the endpoint calls them."""

    def __init__(self, driver: BrowserDriver, site: str, settings: DesktopSettings, desktop: Desktop) -> None:
        self.site, self.settings, self.desktop = site, settings, desktop
        self.tabs = driver.tabs
        self.has_person = False
        """Whether a person controls the desktop."""
        self._tools = {
            tool.name: tool for tool in browser_tools(driver, Workspace(settings.workspace), desktop.restart_browser)
        }

    async def call(self, name: str, deadline_s: float = 60, **arguments: object) -> ToolResult:
        async def ignore(_: str) -> None:
            return

        tool = self._tools[f"browser_{name}"]
        context = CallContext(call_id="c", deadline=time.monotonic() + deadline_s, write_output=ignore)
        return await tool.handler(context, tool.arguments.model_validate(arguments))

    async def open(self, path: str) -> ToolResult:
        return await self.call("navigate", url=self.site + path)


@asynccontextmanager
async def open_browser(handler: type[BaseHTTPRequestHandler], room: int | None = None) -> AsyncGenerator[Browser]:
    """A browser of its own; its workspace has room for so many bytes."""

    async def left(_: int) -> int | None:
        return room

    with desktop_settings() as settings:
        async with Desktop(settings) as desktop, _pages(handler) as site:
            assert await desktop.wait_settled(40), desktop.reason
            tabs = Tabs(desktop.cdp_address, Downloads(Workspace(settings.workspace), left), lambda: browser.has_person)
            browser = Browser(BrowserDriver(tabs, lambda: desktop.has_browser), site, settings, desktop)
            try:
                yield browser
            finally:
                await tabs.close()


def index_of(result: ToolResult, label: str) -> int:
    line = next(line for line in result.output.splitlines() if line.startswith("[") and label in line)
    return int(line[1 : line.index("]")])


def display_of(result: ToolResult) -> BrowserDisplay:
    assert isinstance(result.display, BrowserDisplay)
    return result.display


async def until(condition: Callable[[], object], timeout_s: float = 20) -> None:
    async with asyncio.timeout(timeout_s):
        while not condition():
            await asyncio.sleep(0.02)
