"""The desktop's tools as the endpoint calls them, with a real screen, window manager and Chrome."""

from __future__ import annotations

import asyncio
import base64
import io
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from urllib.parse import quote

from PIL import Image

from contracts.tools import DesktopDisplay, ToolResult
from support.desktops import desktop_settings
from tool_api.desktop.supervisor import Desktop
from tool_api.desktop_turn import DesktopTurn
from tool_api.tools.browser.downloads import Downloads
from tool_api.tools.browser.tabs import Tabs
from tool_api.tools.desktop.controller import DesktopController
from tool_api.tools.desktop.screen import Screen
from tool_api.tools.desktop.tools import desktop_tools
from tool_api.tools.tool import CallContext
from tool_api.viewer_control import ViewerControl
from tool_api.workspace import Workspace


class DesktopTools:
    def __init__(self, desktop: Desktop | None, tabs: Tabs | None) -> None:
        self.desktop, self.control, self.turn = desktop, ViewerControl(), DesktopTurn()
        self._tabs = tabs
        controller = DesktopController(Screen(desktop, self.control, self.turn))
        self._tools = {tool.name: tool for tool in desktop_tools(controller)}

    async def call(self, name: str, deadline_s: float = 60, **arguments: object) -> ToolResult:
        async def ignore(_: str) -> None:
            return

        tool = self._tools[f"desktop_{name}"]
        context = CallContext(call_id="c", deadline=time.monotonic() + deadline_s, write_output=ignore)
        return await tool.handler(context, tool.arguments.model_validate(arguments))

    async def page(self, script: str) -> object:
        """What a script says in the page that is shown."""
        assert self._tabs is not None
        tab = await self._tabs.current(15)
        answer = await tab.send("Runtime.evaluate", {"expression": script, "returnByValue": True})
        return answer["result"].get("value")


@asynccontextmanager
async def open_desktop(page: str) -> AsyncGenerator[DesktopTools]:
    """A desktop whose Chrome shows this HTML."""

    async def room(_: int) -> int | None:
        return None

    with desktop_settings() as made:
        settings = replace(made, start_page=f"data:text/html;charset=utf-8,{quote(page)}")
        async with Desktop(settings) as desktop:
            assert await desktop.wait_settled(40), desktop.reason
            tabs = Tabs(desktop.cdp_address, Downloads(Workspace(settings.workspace), room))
            try:
                tools = DesktopTools(desktop, tabs)
                async with asyncio.timeout(30):
                    while picture_of(await tools.call("screenshot")).getextrema() == ((0, 0), (0, 0), (0, 0)):
                        await asyncio.sleep(0.2)
                yield tools
            finally:
                await tabs.close()


@asynccontextmanager
async def open_bare_screen() -> AsyncGenerator[DesktopTools]:
    """A screen without windows, window manager or browser."""
    with desktop_settings() as made:
        folder = made.run_dir.parent / "programs"
        folder.mkdir()
        (folder / "Xvnc").symlink_to("/usr/bin/Xvnc")
        async with Desktop(replace(made, search_path=str(folder))) as desktop:
            assert await desktop.wait_settled(40), desktop.reason
            yield DesktopTools(desktop, None)


def view_of(result: ToolResult) -> DesktopDisplay:
    assert isinstance(result.display, DesktopDisplay), result.output
    return result.display


def picture_of(result: ToolResult) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(view_of(result).image or "")))
