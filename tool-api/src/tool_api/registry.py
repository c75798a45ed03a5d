"""The literal table of all tools; building it opens nothing, so the manifest can be written without a sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tool_api.tools.browser.controller import BrowserController
from tool_api.tools.browser.tabs import Tabs
from tool_api.tools.browser.tools import browser_tools
from tool_api.tools.files.controller import FileController
from tool_api.tools.files.tools import file_tools
from tool_api.tools.shell.controller import ShellController
from tool_api.tools.shell.shells import Shells
from tool_api.tools.shell.tools import shell_tools
from tool_api.tools.tool import AnyTool
from tool_api.workspace import Workspace


def tool_table(*, shells: ShellController, files: FileController, browser: BrowserController) -> Mapping[str, AnyTool]:
    """All tools by name.

    Raises:
        ValueError: two tools share a name.
    """
    tools = (
        *shell_tools(shells),
        *file_tools(files),
        *browser_tools(browser),
    )
    table = {tool.name: tool for tool in tools}
    if len(table) != len(tools):
        raise ValueError("two tools share a name")
    return table


def idle_tool_table() -> Mapping[str, AnyTool]:
    """The same table over parts nobody started: good for its specifications only."""
    root = Path("/")
    return tool_table(
        shells=ShellController(shells=Shells(root), default_timeout_s=60, allowed=frozenset()),
        files=FileController(workspace=Workspace(root)),
        browser=BrowserController(Tabs(_no_browser, root), lambda: False),
    )


async def _no_browser(_: float) -> None:
    return None
