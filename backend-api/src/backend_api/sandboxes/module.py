"""The manager of sandboxes and the tool API inside each, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager

from pydantic import SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from backend_api.kit.http_address import check_http_address
from backend_api.module import Module, Parts
from backend_api.sandboxes.domain.changes import ChangeCursor
from backend_api.sandboxes.manager.changes import ManagerSandboxChanges
from backend_api.sandboxes.manager.choices import ManagerChoices
from backend_api.sandboxes.manager.client import SandboxManagerClient
from backend_api.sandboxes.manager.rest import BOUNDS, manager_http, raise_for
from backend_api.sandboxes.manager.snapshots import ManagerSnapshots
from backend_api.sandboxes.manager.start_announcer import Announce
from backend_api.sandboxes.remote import (
    Arrivals,
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


class SandboxSettings(BaseSettings):
    """Settings read from the environment."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    sandbox_manager_url: str = "http://127.0.0.1:8001"
    sandbox_manager_token: SecretStr = SecretStr("")

    @field_validator("sandbox_manager_url")
    @classmethod
    def _manager_url(cls, value: str) -> str:
        check_http_address(value.strip())
        return value.strip()


@asynccontextmanager
async def open_sandboxes(
    settings: SandboxSettings, announce_sandbox: Announce, change_cursor: ChangeCursor
) -> AsyncGenerator[Parts]:
    """Open the sandboxes. Ports: those of `ports.py`, named by their use; `host_routes`, by which sessions may have
    remote hosts; `arrivals`, by which files come into sandboxes; `sandbox_choices` and `sandbox_probe`. Connections to
    the manager and the endpoints are closed at the end."""
    token = settings.sandbox_manager_token.get_secret_value()
    async with aclosing(manager_http(settings.sandbox_manager_url, token)) as http:
        routes, arrivals = HostRoutes(), Arrivals()
        client = SandboxManagerClient(http, announce=announce_sandbox, configuration_of=routes.configuration_of)

        async def probe() -> None:
            raise_for(await http.ask("GET", "/healthz", BOUNDS))

        of_sessions = RoutedSandboxes(client, client, routes, arrivals)
        async with Endpoints(client) as endpoints:
            yield Parts(
                ports={
                    "sandboxes": of_sessions,
                    "running_sandboxes": of_sessions,
                    "workspace": RoutedWorkspace(ToolApiWorkspace(endpoints), routes),
                    "snapshots": ManagerSnapshots(http, client.forget_session),
                    "screens": RoutedScreens(ToolApiScreens(endpoints)),
                    "sandbox_tools": RoutedTools(ToolApiSandboxTools(endpoints), routes),
                    "endpoints": endpoints,
                    "sandbox_changes": ManagerSandboxChanges(http, change_cursor),
                    "host_routes": routes,
                    "arrivals": arrivals,
                    "sandbox_choices": ManagerChoices(http),
                    "sandbox_probe": probe,
                }
            )


SANDBOXES = Module(
    name="sandboxes",
    description="The manager of sandboxes, and the tool API in each.",
    settings=SandboxSettings,
    open=open_sandboxes,
)
