"""The one place where the parts of the tool API are put together."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

from tool_api import __version__
from tool_api.access import Access
from tool_api.activity import Activity
from tool_api.bootstrap.settings import Settings
from tool_api.calls import Calls
from tool_api.changes import WorkspaceChanges
from tool_api.desktop.printer import HeadlessPrinter
from tool_api.desktop.settings import DesktopSettings
from tool_api.desktop.supervisor import Desktop
from tool_api.desktop_turn import DesktopTurn
from tool_api.documents.programs import DocumentPrograms
from tool_api.documents.reader import DocumentReader
from tool_api.files.folder_instructions import instructions_for
from tool_api.http.body_limit import MAX_BODY_BYTES
from tool_api.http.services import Services
from tool_api.mcp.endpoint import McpEndpoint
from tool_api.navigation.programs import SourcePrograms
from tool_api.ports.rules import PortRules, ports_of
from tool_api.ports.tunnel import TunnelLimits, Tunnels
from tool_api.registry import tool_table
from tool_api.skills.folders import SKILLS
from tool_api.terminals.terminals import Terminals
from tool_api.tools.background.commands import BackgroundCommands
from tool_api.tools.background.controller import BackgroundController
from tool_api.tools.browser.downloads import Downloads
from tool_api.tools.browser.driver import BrowserDriver
from tool_api.tools.browser.tabs import Tabs
from tool_api.tools.code.controller import CodeController
from tool_api.tools.code.kernels import Kernels
from tool_api.tools.desktop.controller import DesktopController
from tool_api.tools.desktop.screen import Screen
from tool_api.tools.documents.controller import DocumentController
from tool_api.tools.files.controller import FileController
from tool_api.tools.navigation.controller import NavigationController
from tool_api.tools.shell.controller import ShellController
from tool_api.tools.shell.shells import Shells
from tool_api.upkeep.disk import DiskWatch
from tool_api.upkeep.keep_alive import KeepAliveResponder
from tool_api.upkeep.watchdog import Watchdog
from tool_api.viewer_control import ViewerControl
from tool_api.vnc.fitting import ScreenFitting
from tool_api.vnc.sizes import ScreenSize
from tool_api.workspace import Workspace

TEMPORARY = Path("/tmp")


@asynccontextmanager
async def open_services(settings: Settings) -> AsyncGenerator[Services]:
    """Start all parts; at the end, cancel the calls first, then end kernels, shells and the desktop with all they
    run."""
    async with AsyncExitStack() as stack:
        desktop = None
        desktop_settings = DesktopSettings(workspace=settings.workspace)
        if settings.sandbox_desktop:
            desktop = await stack.enter_async_context(Desktop(desktop_settings))

        def display() -> str | None:
            return desktop.display if desktop is not None else None

        workspace = Workspace(settings.workspace)
        readable = Workspace(settings.workspace, TEMPORARY, SKILLS)
        disk = DiskWatch(settings.workspace, settings.sandbox_disk_bytes, settings.sandbox_max_files)
        address = desktop.cdp_address if desktop is not None else _no_browser
        turn, control = DesktopTurn(), ViewerControl()
        fitting = ScreenFitting(turn, ScreenSize(desktop_settings.width, desktop_settings.height))
        stack.push_async_callback(fitting.close)
        tabs = Tabs(address, Downloads(workspace, disk.room), lambda: control.is_taken)
        stack.push_async_callback(tabs.close)
        shells = await stack.enter_async_context(Shells(settings.workspace, display=display))
        terminals = await stack.enter_async_context(Terminals(settings.workspace, display=display))
        kernels = await stack.enter_async_context(
            Kernels(settings.workspace, settings.sandbox_kernel_python, Path.home(), display=display)
        )
        background = await stack.enter_async_context(BackgroundCommands(settings.workspace, shells.environment))
        changes = WorkspaceChanges(settings.workspace)
        calls = await stack.enter_async_context(Calls(partial(instructions_for, workspace), changes))
        programs, printer = DocumentPrograms(), HeadlessPrinter(desktop_settings)

        def own_ports() -> frozenset[int]:
            listens_on = {settings.tcp_endpoint[1]} if settings.inherited_endpoint is None else set[int]()
            of_desktop = desktop.control_address if desktop is not None else None
            return ports_of(of_desktop, printer.control_address) | {desktop_settings.cdp_port} | listens_on

        tools = tool_table(
            shells=ShellController(
                shells=shells,
                default_timeout_s=settings.bash_timeout,
                allowed=settings.allowed_command_names,
                notice=lambda: disk.notice,
                bound=disk.write_bound,
            ),
            code=CodeController(
                kernels=kernels,
                default_timeout_s=settings.bash_timeout,
                allowed=settings.allowed_command_names,
                notice=lambda: disk.notice,
                bound=disk.write_bound,
            ),
            background=BackgroundController(
                commands=background,
                allowed=settings.allowed_command_names,
                notice=lambda: disk.notice,
                bound=disk.write_bound,
            ),
            browser=BrowserDriver(tabs, lambda: desktop is not None and desktop.has_browser, turn),
            desktop=DesktopController(Screen(desktop, control, turn)),
            workspace=workspace,
            restart=desktop.restart_browser if desktop is not None else _do_nothing,
            files=FileController(
                workspace=readable,
                documents=DocumentReader(programs),
                room=disk.demand,
            ),
            navigation=NavigationController(workspace=readable, programs=SourcePrograms()),
            documents=DocumentController(
                workspace=workspace,
                programs=programs,
                printer=printer,
                room=disk.demand,
            ),
        )
        mcp = await stack.enter_async_context(
            McpEndpoint(tools, calls, version=__version__, max_body_bytes=MAX_BODY_BYTES)
        )
        access = Access(
            sandbox_id=settings.sandbox_id,
            generation=settings.sandbox_generation,
            public_key_pem=settings.sandbox_public_key,
        )
        yield Services(
            access=access,
            tools=tools,
            calls=calls,
            mcp=mcp,
            shells=shells,
            terminals=terminals,
            kernels=kernels,
            background=background,
            workspace=workspace,
            changes=changes,
            desktop=desktop,
            control=control,
            fitting=fitting,
            tunnels=Tunnels(PortRules(own_ports=own_ports), TunnelLimits()),
            keep_alive=KeepAliveResponder(
                access=access,
                activity=Activity(lambda: shells.is_busy or kernels.is_busy or background.is_busy or terminals.is_busy),
                watchdog=Watchdog(settings.sandbox_orphan_s),
                disk=disk,
                desktop_rests=lambda: desktop is None or desktop.rests,
            ),
            max_upload_bytes=settings.max_upload_bytes,
            allowed_commands=settings.allowed_command_names,
        )


async def _no_browser(_: float) -> None:
    return None


async def _do_nothing() -> None:
    return
