"""The browser tools' rows of the registry."""

from __future__ import annotations

from contracts.sandboxes import Scope
from tool_api.tools.browser import types
from tool_api.tools.browser.controller import BrowserController
from tool_api.tools.browser.driver import BrowserDriver
from tool_api.tools.browser.file_controller import FileTransferController
from tool_api.tools.browser.script_controller import ScriptController
from tool_api.tools.browser.tab_controller import Restart, TabController
from tool_api.tools.tool import AnyTool, Tool
from tool_api.workspace import Workspace

_SHORT_MS = 30_000
_LONG_MS = 60_000
_DOWNLOAD_MS = 300_000


def browser_tools(driver: BrowserDriver, workspace: Workspace, restart: Restart) -> tuple[AnyTool, ...]:
    """The tools of the Chrome that the user sees."""
    return (
        *_page_tools(BrowserController(driver)),
        *_tab_tools(TabController(driver, restart)),
        *_script_tools(ScriptController(driver)),
        *_file_tools(FileTransferController(driver, workspace)),
    )


def _page_tools(controller: BrowserController) -> tuple[AnyTool, ...]:
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
            description="Type text into an element by its index in the latest view; a list chooses the option of "
            "that text.",
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
        Tool(
            name="browser_move",
            description="Move the mouse to an element by its index in the latest view, or to a point, "
            "for what shows under it.",
            arguments=types.BrowserMove,
            phrase="Moving the mouse",
            scope=Scope.BROWSER,
            deadline_ms=_SHORT_MS,
            handler=controller.move,
        ),
        Tool(
            name="browser_select",
            description="Choose one or more options of a list by its index in the latest view.",
            arguments=types.BrowserSelect,
            phrase="Choosing from a list",
            scope=Scope.BROWSER,
            deadline_ms=_SHORT_MS,
            handler=controller.select,
        ),
    )


def _tab_tools(controller: TabController) -> tuple[AnyTool, ...]:
    return (
        Tool(
            name="browser_tabs",
            description="List the tabs of the browser: number, title, address, and which is shown.",
            arguments=types.BrowserTabs,
            phrase="Looking at the tabs",
            scope=Scope.BROWSER,
            deadline_ms=_SHORT_MS,
            handler=controller.list,
            read_only=True,
        ),
        Tool(
            name="browser_tab_open",
            description="Open another tab, which is shown then.",
            arguments=types.BrowserTabOpen,
            phrase="Opening a tab",
            scope=Scope.BROWSER,
            deadline_ms=_LONG_MS,
            handler=controller.open,
        ),
        Tool(
            name="browser_tab_switch",
            description="Show another tab; all other tools work on the one that is shown.",
            arguments=types.BrowserTabSwitch,
            phrase="Switching to tab {tab}",
            scope=Scope.BROWSER,
            deadline_ms=_SHORT_MS,
            handler=controller.switch,
        ),
        Tool(
            name="browser_tab_close",
            description="Close a tab.",
            arguments=types.BrowserTabClose,
            phrase="Closing tab {tab}",
            scope=Scope.BROWSER,
            deadline_ms=_SHORT_MS,
            handler=controller.close,
        ),
        Tool(
            name="browser_restart",
            description="Start the browser anew where it hangs; its tabs are closed, and told.",
            arguments=types.BrowserRestart,
            phrase="Restarting the browser",
            scope=Scope.BROWSER,
            deadline_ms=_LONG_MS,
            handler=controller.restart,
        ),
    )


def _script_tools(controller: ScriptController) -> tuple[AnyTool, ...]:
    return (
        Tool(
            name="browser_script",
            description="Run JavaScript in the page and read what it returns, in JSON and cut where it is long.",
            arguments=types.BrowserScript,
            phrase="Running a script in the page",
            scope=Scope.BROWSER,
            deadline_ms=_LONG_MS,
            handler=controller.script,
        ),
        Tool(
            name="browser_console",
            description="Read the newest messages of the page's console: what it logged, warnings, errors, exceptions.",
            arguments=types.BrowserConsole,
            phrase="Reading the console",
            scope=Scope.BROWSER,
            deadline_ms=_SHORT_MS,
            handler=controller.console,
            read_only=True,
        ),
    )


def _file_tools(controller: FileTransferController) -> tuple[AnyTool, ...]:
    return (
        Tool(
            name="browser_upload",
            description="Give files of the workspace to a file field of the page, or to a button that asks for files, "
            "by its index in the latest view.",
            arguments=types.BrowserUpload,
            phrase="Uploading files",
            scope=Scope.BROWSER,
            deadline_ms=_SHORT_MS,
            handler=controller.upload,
        ),
        Tool(
            name="browser_download",
            description="Download a file into the folder downloads of the workspace: of an address, with the "
            "cookies of the browser, or by the index of a link or a button.",
            arguments=types.BrowserDownload,
            phrase="Downloading a file",
            scope=Scope.BROWSER,
            deadline_ms=_DOWNLOAD_MS,
            handler=controller.download,
        ),
    )
