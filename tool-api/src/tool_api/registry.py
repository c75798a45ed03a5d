"""The literal table of all tools; building it opens nothing, so the manifest can be written without a sandbox."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from tool_api.desktop_turn import DesktopTurn
from tool_api.documents.programs import DocumentPrograms
from tool_api.documents.reader import DocumentReader
from tool_api.navigation.programs import SourcePrograms
from tool_api.tools.background.commands import BackgroundCommands
from tool_api.tools.background.controller import BackgroundController
from tool_api.tools.background.tools import background_tools
from tool_api.tools.browser.downloads import Downloads
from tool_api.tools.browser.driver import BrowserDriver
from tool_api.tools.browser.tab_controller import Restart
from tool_api.tools.browser.tabs import Tabs
from tool_api.tools.browser.tools import browser_tools
from tool_api.tools.code.controller import CodeController
from tool_api.tools.code.kernels import Kernels
from tool_api.tools.code.tools import code_tools
from tool_api.tools.desktop.controller import DesktopController
from tool_api.tools.desktop.screen import Screen
from tool_api.tools.desktop.tools import desktop_tools
from tool_api.tools.documents.controller import DocumentController, NotMadeError
from tool_api.tools.documents.drawings import Drawings
from tool_api.tools.documents.tools import document_tools
from tool_api.tools.files.controller import FileController
from tool_api.tools.files.tools import file_tools
from tool_api.tools.navigation.controller import NavigationController
from tool_api.tools.navigation.tools import navigation_tools
from tool_api.tools.shell.controller import ShellController
from tool_api.tools.shell.shells import Shells
from tool_api.tools.shell.tools import shell_tools
from tool_api.tools.tool import AnyTool
from tool_api.viewer_control import ViewerControl
from tool_api.workspace import Workspace


def tool_table(
    *,
    shells: ShellController,
    code: CodeController,
    background: BackgroundController,
    files: FileController,
    navigation: NavigationController,
    documents: DocumentController,
    browser: BrowserDriver,
    desktop: DesktopController,
    workspace: Workspace,
    restart: Restart,
) -> Mapping[str, AnyTool]:
    """All tools by name; `restart` restarts the browser.

    Raises:
        ValueError: two tools share a name.
    """
    tools = (
        *shell_tools(shells),
        *code_tools(code),
        *background_tools(background),
        *file_tools(files),
        *navigation_tools(navigation),
        *document_tools(documents),
        *browser_tools(browser, workspace, restart),
        *desktop_tools(desktop),
    )
    table = {tool.name: tool for tool in tools}
    if len(table) != len(tools):
        raise ValueError("two tools share a name")
    return table


def idle_tool_table() -> Mapping[str, AnyTool]:
    """The same table over parts that were not started: good for its specifications only."""
    root, programs = Path("/"), DocumentPrograms()
    return tool_table(
        shells=ShellController(shells=Shells(root), default_timeout_s=60, allowed=frozenset()),
        code=CodeController(kernels=Kernels(root, root, root), default_timeout_s=60, allowed=frozenset()),
        files=FileController(workspace=Workspace(root), documents=DocumentReader(programs)),
        navigation=NavigationController(workspace=Workspace(root), programs=SourcePrograms()),
        documents=DocumentController(
            workspace=Workspace(root), programs=programs, printer=_NoPrinter(), room=_any_size
        ),
        background=BackgroundController(commands=BackgroundCommands(root, dict[str, str]), allowed=frozenset()),
        browser=BrowserDriver(Tabs(_no_browser, Downloads(Workspace(root), _any_room)), lambda: False),
        desktop=DesktopController(Screen(None, ViewerControl(), DesktopTurn())),
        workspace=Workspace(root),
        restart=_do_nothing,
    )


class _NoPrinter:
    async def print_page(self, make_page: Callable[[], str], drawings: Drawings, within_s: float) -> bytes:
        raise NotMadeError("Nothing is started.")


async def _any_size(_: int) -> None:
    return


async def _no_browser(_: float) -> None:
    return None


async def _any_room(_: int) -> int | None:
    return None


async def _do_nothing() -> None:
    return
