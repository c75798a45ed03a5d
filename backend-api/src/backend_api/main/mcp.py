"""MCP servers: those of the deployment, and how servers are connected to."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx

from backend_api.main.settings import Settings
from backend_api.mcp.application.user_sign_ins import SignInsOfUsers
from backend_api.mcp.application.user_tokens import UserTokens
from backend_api.mcp.client.config_file import read_mcp_file
from backend_api.mcp.client.connector import McpConnections
from backend_api.mcp.client.network import Network, Networks
from backend_api.mcp.domain.entity import McpTarget
from backend_api.mcp.domain.sign_in import Authorizer
from backend_api.mcp.mcp_programs import McpPrograms
from backend_api.mcp.oauth.authorizer import OAuthAuthorizer
from backend_api.mcp.ports import McpConnector
from backend_api.web.fetch.guarded_client import guarded_transport
from backend_api.web.fetch.rules import AllowedHost, FetchRules, allowed_hosts

AT_ONCE = 2_000
"""Connections of a process: a server with a stream has several for the length of a run."""
_PORTS = {"http": 80, "https": 443}


def deployment_servers(settings: Settings) -> list[McpTarget]:
    """Those of `MCP_CONFIG`. Raises `ValueError`."""
    return read_mcp_file(settings.mcp_config, os.environ) if settings.mcp_config is not None else []


@dataclass(frozen=True, slots=True, kw_only=True)
class McpParts:
    """What servers are connected to by, and signed in at."""

    connections: McpConnector
    authorizer: Authorizer
    sign_ins: SignInsOfUsers


@asynccontextmanager
async def open_mcp_connections(
    settings: Settings, shared: Sequence[McpTarget], sign_ins: SignInsOfUsers, programs: McpPrograms | None = None
) -> AsyncGenerator[McpParts]:
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
        networks = Networks(
            shared=Network(transport=of_deployment, rules=own_rules), own=Network(transport=of_users, rules=rules)
        )
        authorizer = OAuthAuthorizer(networks)
        tokens = UserTokens(sign_ins, authorizer)
        try:
            connections = McpConnections(networks, programs, tokens.of)
            yield McpParts(connections=connections, authorizer=authorizer, sign_ins=sign_ins)
        finally:
            await tokens.close()


def _host_of(target: McpTarget) -> AllowedHost | None:
    url = httpx.URL(target.filled.url) if target.server.url else None
    return AllowedHost(url.raw_host.decode("ascii"), url.port or _PORTS[url.scheme]) if url is not None else None
