"""The services behind the routes, made once at the start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from fastapi import Request

from tool_api.access import Access
from tool_api.calls import Calls
from tool_api.changes import WorkspaceChanges
from tool_api.desktop.supervisor import Desktop
from tool_api.mcp.endpoint import McpEndpoint
from tool_api.ports.tunnel import Tunnels
from tool_api.skills.folders import SKILLS
from tool_api.terminals.terminals import Terminals
from tool_api.tools.background.commands import BackgroundCommands
from tool_api.tools.code.kernels import Kernels
from tool_api.tools.shell.shells import Shells
from tool_api.tools.tool import AnyTool
from tool_api.upkeep.keep_alive import KeepAliveResponder
from tool_api.viewer_control import ViewerControl
from tool_api.vnc.fitting import ScreenFitting
from tool_api.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The living parts of the tool API.

    `workspace` is what the files routes see: the workspace alone. `desktop` is None if none is wanted.
    """

    access: Access
    tools: Mapping[str, AnyTool]
    calls: Calls
    mcp: McpEndpoint
    shells: Shells
    terminals: Terminals
    kernels: Kernels
    background: BackgroundCommands
    workspace: Workspace
    changes: WorkspaceChanges
    desktop: Desktop | None
    control: ViewerControl
    fitting: ScreenFitting
    tunnels: Tunnels
    keep_alive: KeepAliveResponder
    max_upload_bytes: int
    allowed_commands: frozenset[str] = frozenset()
    """Commands that may be run; empty for all."""
    skills: Path = SKILLS


async def services_of(request: Request) -> Services:
    """The dependency that hands the services to a route; a coroutine, as plain functions are called in a thread."""
    return cast("Services", request.app.state.services)
