"""The browser tools' rows of the registry."""

from __future__ import annotations

from contracts.sandboxes import Scope
from tool_api.tools.browser import types
from tool_api.tools.browser.controller import BrowserController
from tool_api.tools.tool import AnyTool, Tool

_SHORT_MS = 30_000
_LONG_MS = 60_000


def browser_tools(controller: BrowserController) -> tuple[AnyTool, ...]:
    """View, navigate, back, click, type, key, scroll and screenshot of the Chrome the user sees."""
    return (
        Tool(
            name="browser_view",
            description="Look at the current page of the browser: address, title, numbered elements that can be "
            "clicked or typed into, text, and a screenshot.",
            arguments=types.BrowserView,
            phrase="Looking at the page",
            scope=Scope.BROWSER,
            deadline_ms=_SHORT_MS,
            handler=controller.view,
            read_only=True,
        ),
        Tool(
            name="browser_navigate",
            description="Open an address in the browser and look at the page.",
            arguments=types.BrowserNavigate,
            phrase="Opening {url}",
            scope=Scope.BROWSER,
            deadline_ms=_LONG_MS,
            handler=controller.navigate,
        ),
        Tool(
            name="browser_click",
            description="Click an element by its index in the latest view, or a point by x and y on the screenshot.",
            arguments=types.BrowserClick,
            phrase="Clicking on the page",
            scope=Scope.BROWSER,
            deadline_ms=_SHORT_MS,
            handler=controller.click,
        ),
        Tool(
            name="browser_type",
            description="Type text into an element by its index in the latest view (a list chooses the option of "
            "that text), replacing what is there unless clear is false; submit presses Enter.",
            arguments=types.BrowserType,
            phrase="Typing into the page",
            scope=Scope.BROWSER,
            deadline_ms=_SHORT_MS,
            handler=controller.type,
        ),
        Tool(
            name="browser_key",
            description="Press a key such as Enter, Escape, Tab, ArrowDown or Control+A in the browser.",
            arguments=types.BrowserKey,
            phrase="Pressing {key}",
            scope=Scope.BROWSER,
            deadline_ms=_SHORT_MS,
            handler=controller.key,
        ),
        Tool(
            name="browser_scroll",
            description="Scroll the page, and look at what is visible then.",
            arguments=types.BrowserScroll,
            phrase="Scrolling {direction}",
            scope=Scope.BROWSER,
            deadline_ms=_SHORT_MS,
            handler=controller.scroll,
        ),
        Tool(
            name="browser_back",
            description="Go back to the page before.",
            arguments=types.BrowserBack,
            phrase="Going back",
            scope=Scope.BROWSER,
            deadline_ms=_SHORT_MS,
            handler=controller.back,
        ),
        Tool(
            name="browser_screenshot",
            description="Take a picture of the visible part of the page.",
            arguments=types.BrowserScreenshot,
            phrase="Taking a screenshot",
            scope=Scope.BROWSER,
            deadline_ms=_SHORT_MS,
            handler=controller.screenshot,
            read_only=True,
        ),
    )
