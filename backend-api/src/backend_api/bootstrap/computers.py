"""The way to the computers: the manager for their lives, their doors for what is inside."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from backend_api.bootstrap.settings import Settings
from backend_api.domain.sandbox.news import NewsMarks, NewsSource
from backend_api.domain.sandbox.ports import Computers, SandboxTools, Screens, Workspace
from backend_api.domain.sandbox.snapshots import Snapshots
from backend_api.infrastructure.sandbox_manager.client import SandboxManagerClient, manager_http
from backend_api.infrastructure.sandbox_manager.news import ManagerNews
from backend_api.infrastructure.sandbox_manager.snapshots import ManagerSnapshots
from backend_api.infrastructure.tool_api.doors import Doors
from backend_api.infrastructure.tool_api.sandbox_tools import DoorTools
from backend_api.infrastructure.tool_api.screens import DoorScreens
from backend_api.infrastructure.tool_api.workspace import DoorWorkspace
from backend_api.interfaces.http.use_cases import Probe


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputerPorts:
    """What the gateway and the agent need of computers."""

    computers: Computers
    workspace: Workspace
    snapshots: Snapshots
    screens: Screens
    tools: SandboxTools
    news: NewsSource
    probe: Probe


@asynccontextmanager
async def open_computers(settings: Settings, marks: NewsMarks) -> AsyncGenerator[ComputerPorts]:
    """Connections to the manager and the doors, closed at the end."""
    token = settings.sandbox_manager_token.get_secret_value()
    async with manager_http(settings.sandbox_manager_url, token) as http:
        client = SandboxManagerClient(http)

        async def probe() -> None:
            response = await http.get("/healthz")
            response.raise_for_status()

        async with Doors(client) as doors:
            yield ComputerPorts(
                computers=client,
                workspace=DoorWorkspace(doors),
                snapshots=ManagerSnapshots(http, client.forget_session),
                screens=DoorScreens(doors),
                tools=DoorTools(doors),
                news=ManagerNews(http, marks),
                probe=probe,
            )
