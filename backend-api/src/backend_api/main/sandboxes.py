"""The way to the sandboxes: the manager for their lives, their endpoints for what is inside."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from backend_api.agent.events import SandboxUpdated
from backend_api.conversations.ports import EventLog, SessionStream
from backend_api.kit.http.ports import Probe
from backend_api.kit.ids import SessionId
from backend_api.main.settings import Settings
from backend_api.sandboxes.domain.changes import ChangeCursor, SandboxChangeSource
from backend_api.sandboxes.domain.snapshots import Snapshots
from backend_api.sandboxes.manager.changes import ManagerSandboxChanges
from backend_api.sandboxes.manager.client import SandboxManagerClient
from backend_api.sandboxes.manager.rest import manager_http
from backend_api.sandboxes.manager.snapshots import ManagerSnapshots
from backend_api.sandboxes.ports import RunningSandboxes, Sandboxes, SandboxTools, Screens, Workspace
from backend_api.sandboxes.remote import (
    HostRoutes,
    RoutedSandboxes,
    RoutedScreens,
    RoutedTools,
    RoutedWorkspace,
)
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from backend_api.sandboxes.tool_api.sandbox_tools import ToolApiSandboxTools
from backend_api.sandboxes.tool_api.screens import ToolApiScreens
from backend_api.sandboxes.tool_api.workspace import ToolApiWorkspace


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxPorts:
    """What the gateway and the agent need of sandboxes."""

    sandboxes: Sandboxes
    workspace: Workspace
    snapshots: Snapshots
    screens: Screens
    tools: SandboxTools
    endpoints: Endpoints
    running: RunningSandboxes
    changes: SandboxChangeSource
    routes: HostRoutes
    probe: Probe


@asynccontextmanager
async def open_sandboxes(
    settings: Settings, cursor: ChangeCursor, log: EventLog, stream: SessionStream
) -> AsyncGenerator[SandboxPorts]:
    """Connections to the manager and the endpoints, closed at the end. Starts are announced in the stream."""

    async def announce(session_id: SessionId, event: SandboxUpdated) -> None:
        await stream.append(session_id, await log.append(session_id, [event]))

    token = settings.sandbox_manager_token.get_secret_value()
    async with manager_http(settings.sandbox_manager_url, token) as http:
        client = SandboxManagerClient(http, announce=announce)

        async def probe() -> None:
            response = await http.get("/healthz")
            response.raise_for_status()

        routes = HostRoutes()
        of_sessions = RoutedSandboxes(client, client, routes)
        async with Endpoints(client) as endpoints:
            yield SandboxPorts(
                sandboxes=of_sessions,
                workspace=RoutedWorkspace(ToolApiWorkspace(endpoints), routes),
                snapshots=ManagerSnapshots(http, client.forget_session),
                screens=RoutedScreens(ToolApiScreens(endpoints)),
                tools=RoutedTools(ToolApiSandboxTools(endpoints), routes),
                endpoints=endpoints,
                running=of_sessions,
                changes=ManagerSandboxChanges(http, cursor),
                routes=routes,
                probe=probe,
            )
