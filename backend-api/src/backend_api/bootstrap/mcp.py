"""MCP servers: those of the deployment, and how servers are connected to."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import httpx

from backend_api.bootstrap.settings import Settings
from backend_api.domain.mcp.entity import McpTarget
from backend_api.infrastructure.fetch.guarded_client import guarded_transport
from backend_api.infrastructure.fetch.rules import AllowedHost, FetchRules, allowed_hosts
from backend_api.infrastructure.mcp.config_file import read_mcp_file
from backend_api.infrastructure.mcp.connector import McpConnections, Network
from backend_api.infrastructure.tool_api.mcp_programs import McpPrograms

AT_ONCE = 2_000
"""Connections of a process: a server with a stream has several for the length of a run."""
_PORTS = {"http": 80, "https": 443}


def deployment_servers(settings: Settings) -> list[McpTarget]:
    """Those of `MCP_CONFIG`. Raises `ValueError`."""
    return read_mcp_file(settings.mcp_config, os.environ) if settings.mcp_config is not None else []


@asynccontextmanager
async def open_mcp_connections(
    settings: Settings, shared: Sequence[McpTarget], programs: McpPrograms | None = None
) -> AsyncGenerator[McpConnections]:
    """What a deployment names may be private; what its users name only where `MCP_ALLOWED_HOSTS` says so: tools
    write, so what may be read is not enough."""
    allowed = allowed_hosts(settings.mcp_allowed_hosts)
    rules = FetchRules(allowed)
    own_rules = FetchRules(allowed | {host for target in shared if (host := _host_of(target)) is not None})
    proxy = settings.fetch_proxy.get_secret_value()
    async with (
        guarded_transport(own_rules, proxy=proxy, at_once=AT_ONCE) as of_deployment,
        guarded_transport(rules, proxy=proxy, at_once=AT_ONCE) as of_users,
    ):
        yield McpConnections(
            shared=Network(transport=of_deployment, rules=own_rules),
            own=Network(transport=of_users, rules=rules),
            programs=programs,
        )


def _host_of(target: McpTarget) -> AllowedHost | None:
    url = httpx.URL(target.filled.url) if target.server.url else None
    return AllowedHost(url.raw_host.decode("ascii"), url.port or _PORTS[url.scheme]) if url is not None else None
