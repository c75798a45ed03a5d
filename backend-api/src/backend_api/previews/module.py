"""Opened ports of sandboxes, as a module of the gateway."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from pydantic import field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from backend_api.conversations.ports import SessionRepository, SessionStream
from backend_api.identity.application.connection_auth import AuthenticatedConnections
from backend_api.identity.application.limits import Limits, Quotas
from backend_api.identity.ports import RateLimiter
from backend_api.kit.mongo.database import Database
from backend_api.kit.notifier import Notifier
from backend_api.kit.signed_tokens import Signing
from backend_api.module import Module, Parts
from backend_api.previews.application.issue_address import IssueAddress
from backend_api.previews.application.open_port import ClosePort, OpenPort, PreviewPolicy
from backend_api.previews.application.preview_connections import PreviewConnections
from backend_api.previews.application.reach_port import ReachPort
from backend_api.previews.http.ports import router
from backend_api.previews.mongo.documents import DOCUMENTS
from backend_api.previews.mongo.opened_ports import MongoOpenedPorts
from backend_api.previews.ports import SandboxApps
from backend_api.previews.preview_tokens import JwtPreviewTokens
from backend_api.previews.proxy.app import PreviewHosts
from backend_api.previews.tool_api.port_tunnels import PortTunnels
from backend_api.previews.tool_api.sandbox_apps import ToolApiSandboxApps
from backend_api.previews.tools import PortTools, port_tools
from backend_api.sandboxes.ports import RemoteHosts, RunningSandboxes
from backend_api.sandboxes.tool_api.endpoints import Endpoints

_DOMAIN = re.compile(r"[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*(:[0-9]{1,5})?")
LOCAL_DOMAIN = "localhost"
"""Browsers resolve every name below it to this machine (RFC 6761, section 6.3)."""


class PreviewSettings(BaseSettings):
    """Settings read from the environment."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    preview_domain: str = ""

    @field_validator("preview_domain")
    @classmethod
    def _domain(cls, value: str) -> str:
        domain = value.strip().lower()
        name, _, port = domain.partition(":")
        # An IP address has no names below it.
        is_address = name.rpartition(".")[2].isdecimal()
        if domain and (not _DOMAIN.fullmatch(domain) or is_address or int(port or 1) not in range(1, 65_536)):
            raise ValueError(
                "is a domain whose names lead here, and no address, with a port or without, such as apps.example.org; "
                "or off"
            )
        return domain

    def policy(self, *, is_local: bool, most: int) -> PreviewPolicy:
        """The policy. If no domain is set, local mode uses names below that of this machine; otherwise no ports can be
        opened."""
        unnamed = LOCAL_DOMAIN if is_local else ""
        return PreviewPolicy(
            domain="" if self.preview_domain == "off" else self.preview_domain or unnamed,
            most=most,
        )


@asynccontextmanager
async def open_previews(
    *,
    settings: PreviewSettings,
    database: Database,
    sessions: SessionRepository,
    stream: SessionStream,
    notifier: Notifier,
    limiter: RateLimiter,
    limits: Limits,
    quotas: Quotas,
    clock: Callable[[], float],
    signing: Signing,
    connections: AuthenticatedConnections,
    running_sandboxes: RunningSandboxes,
    endpoints: Endpoints,
    is_local: bool,
    sandbox_apps: SandboxApps | None = None,
    remote_hosts: RemoteHosts | None = None,
) -> AsyncGenerator[Parts]:
    """Open the previews. Ports: `opened_ports` and the use cases of its routes and hosts; its task ends connections of
    ports that were closed."""
    ports, policy = MongoOpenedPorts(database), settings.policy(is_local=is_local, most=quotas.opened_ports)
    tokens = JwtPreviewTokens(signing.secret, algorithm=signing.algorithm, clock=clock)
    open_port = OpenPort(sessions=sessions, ports=ports, stream=stream, policy=policy)
    close_port = ClosePort(sessions=sessions, ports=ports, stream=stream, notifier=notifier)
    held = PreviewConnections(ports, connections, notifier)
    reach = ReachPort(
        ports=ports,
        tokens=tokens,
        log_ins=connections,
        sandboxes=running_sandboxes,
        hosts=remote_hosts,
        apps=sandbox_apps or ToolApiSandboxApps(PortTunnels(endpoints, remote_hosts)),
        connections=held,
        policy=policy,
    )
    issue = IssueAddress(sessions=sessions, ports=ports, tokens=tokens, policy=policy, limiter=limiter, limits=limits)
    yield Parts(
        ports={
            "opened_ports": ports,
            "open_port": open_port,
            "close_port": close_port,
            "issue_address": issue,
            "reach_port": reach,
        },
        tools=[PortTools(open_port, close_port)],
        tasks={"opened ports": held.watch_ports},
        closings=[held.close],
    )


PREVIEWS = Module(
    name="previews",
    description="Ports of a conversation's computer that are open to its user's browser.",
    settings=PreviewSettings,
    documents=DOCUMENTS,
    routes=[router],
    middleware=[PreviewHosts],
    tools=port_tools(),
    open=open_previews,
)
