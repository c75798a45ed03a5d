"""The desktop tools' rows of the registry."""

from __future__ import annotations

from contracts.sandboxes import Scope
from tool_api.tools.desktop import types
from tool_api.tools.desktop.controller import DesktopController
from tool_api.tools.tool import AnyTool, Tool

_DEADLINE_MS = 60_000


def desktop_tools(controller: DesktopController) -> tuple[AnyTool, ...]:
    """The tools of the desktop that the user sees."""
    return (
        Tool(
            name="desktop_screenshot",
            description="Look at the whole desktop, or at a part of it in full detail. For web pages the browser's "
            "tools are surer; these are for all other windows, and for what is drawn and not written.",
            arguments=types.DesktopScreenshot,
            phrase="Looking at the desktop",
            scope=Scope.BROWSER,
            deadline_ms=_DEADLINE_MS,
            handler=controller.screenshot,
            read_only=True,
        ),
        Tool(
            name="desktop_mouse",
            description="Move, click, drag or scroll on the desktop at a point of the latest screenshot, and see it "
            "afterwards. press and release hold a button from one call to another.",
            arguments=types.DesktopMouse,
            phrase="Using the mouse",
            scope=Scope.BROWSER,
            deadline_ms=_DEADLINE_MS,
            handler=controller.mouse,
        ),
        Tool(
            name="desktop_keyboard",
            description="Type a text into what has the focus on the desktop, or press or hold keys, and see it "
            "afterwards. A text with characters that keys lack, such as Chinese, is pasted.",
            arguments=types.DesktopKeyboard,
            phrase="Using the keyboard",
            scope=Scope.BROWSER,
            deadline_ms=_DEADLINE_MS,
            handler=controller.keyboard,
        ),
        Tool(
            name="desktop_windows",
            description="List the windows of the desktop: number, title, program, place, and which has the focus.",
            arguments=types.DesktopWindows,
            phrase="Looking at the windows",
            scope=Scope.BROWSER,
            deadline_ms=_DEADLINE_MS,
            handler=controller.windows,
            read_only=True,
        ),
        Tool(
            name="desktop_window",
            description="Bring a window to the front, or ask it to close, by its number in desktop_windows.",
            arguments=types.DesktopWindow,
            phrase="Using a window",
            scope=Scope.BROWSER,
            deadline_ms=_DEADLINE_MS,
            handler=controller.window,
        ),
    )
