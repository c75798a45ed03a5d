"""MCP servers, of the deployment and of its users, as a module of the gateway."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx
from pydantic import field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from backend_api.conversations.ports import EventLog, SessionRepository
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.redis.client import Redis
from backend_api.kit.settings import Names
from backend_api.kit.untrusted.guarded_client import guarded_transport
from backend_api.kit.untrusted.rules import AllowedHost, FetchRules, allowed_hosts
from backend_api.mcp.application.change_servers import ChangeMcpServers
from backend_api.mcp.application.list_tools import ListMcpTools
from backend_api.mcp.application.reseal_servers import ResealMcpServers
from backend_api.mcp.application.reseal_sign_ins import ResealSignIns
from backend_api.mcp.application.run_servers import McpServers
from backend_api.mcp.application.sign_in_server import SignInMcpServer
from backend_api.mcp.application.user_servers import ServersOfUsers
from backend_api.mcp.application.user_sign_ins import SignInsOfUsers
from backend_api.mcp.application.user_tokens import UserTokens
from backend_api.mcp.client.config_file import read_mcp_file, user_server
from backend_api.mcp.client.connector import McpConnections
from backend_api.mcp.client.network import Network, Networks
from backend_api.mcp.domain.entity import McpTarget
from backend_api.mcp.domain.sign_in import Authorizer
from backend_api.mcp.http import mcp, mcp_sign_in
from backend_api.mcp.mcp_programs import McpPrograms
from backend_api.mcp.mongo.documents import DOCUMENTS
from backend_api.mcp.mongo.mcp_servers import MongoMcpServers
from backend_api.mcp.mongo.mcp_sign_ins import MongoSignIns
from backend_api.mcp.oauth.authorizer import OAuthAuthorizer
from backend_api.mcp.ports import McpConnector
from backend_api.mcp.redis import RedisPendingSignIns
from backend_api.mcp.tools import McpTools
from backend_api.module import Module, Parts, Planned
from backend_api.sandboxes.ports import Sandboxes
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from backend_api.settings.ports import SecretBox

AT_ONCE = 2_000
"""Connections of a process: a server with a stream has several during a run."""
_PORTS = {"http": 80, "https": 443}


class McpSettings(BaseSettings):
    """Settings from the environment."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    mcp_config: Path | None = None
    mcp_allowed_hosts: Names = ()

    @field_validator("mcp_allowed_hosts")
    @classmethod
    def _hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        allowed_hosts(value)
        return value


def plan_mcp(settings: McpSettings) -> Planned:
    """Reads the deployment's servers, the port `shared_mcp`. Raises `McpFileError`."""
    shared = read_mcp_file(settings.mcp_config, os.environ) if settings.mcp_config is not None else []
    return Planned(ports={"shared_mcp": shared}, secrets=[secret for target in shared for secret in target.secrets()])


@dataclass(frozen=True, slots=True, kw_only=True)
class Connecting:
    """The connector for servers, and the authorizer for signing in at them."""

    connections: McpConnector
    authorizer: Authorizer


@asynccontextmanager
async def open_connections(
    settings: McpSettings,
    shared: Sequence[McpTarget],
    sign_ins: SignInsOfUsers,
    programs: McpPrograms | None = None,
    fetch_proxy: str = "",
) -> AsyncGenerator[Connecting]:
    """Servers of the deployment may have private addresses; those of users only if `MCP_ALLOWED_HOSTS` allows it. The
    hosts allowed for reading don't count, since tools can write."""
    allowed = allowed_hosts(settings.mcp_allowed_hosts)
    rules = FetchRules(allowed)
    user_rules = FetchRules(allowed | {host for target in shared if (host := _host_of(target)) is not None})
    async with (
        guarded_transport(user_rules, proxy=fetch_proxy, at_once=AT_ONCE) as of_deployment,
        guarded_transport(rules, proxy=fetch_proxy, at_once=AT_ONCE) as of_users,
    ):
        networks = Networks(
            shared=Network(transport=of_deployment, rules=user_rules), own=Network(transport=of_users, rules=rules)
        )
        authorizer = OAuthAuthorizer(networks)
        tokens = UserTokens(sign_ins, authorizer)
        try:
            yield Connecting(connections=McpConnections(networks, programs, tokens.of), authorizer=authorizer)
        finally:
            await tokens.close()


def _host_of(target: McpTarget) -> AllowedHost | None:
    url = httpx.URL(target.filled.url) if target.server.url else None
    return AllowedHost(url.raw_host.decode("ascii"), url.port or _PORTS[url.scheme]) if url is not None else None


@asynccontextmanager
async def open_mcp(
    *,
    settings: McpSettings,
    shared_mcp: Sequence[McpTarget],
    secret_box: SecretBox,
    sandboxes: Sandboxes,
    endpoints: Endpoints,
    fetch_proxy: str,
    sessions: SessionRepository,
    log: EventLog,
    redis: Redis,
    limiter: RateLimiter,
    limits: Limits,
    clock: Callable[[], float],
    mcp_connector: McpConnector | None = None,
) -> AsyncGenerator[Parts]:
    """Its ports are the use cases of its routes, `list_mcp_tools`, and `mcp_tools`, the servers of runs. Its tasks
    reseal secrets under the present key."""
    store, sign_ins = MongoMcpServers(), SignInsOfUsers(MongoSignIns(), secret_box)
    servers, programs = ServersOfUsers(store, secret_box, shared_mcp), McpPrograms(sandboxes, endpoints)
    async with open_connections(settings, shared_mcp, sign_ins, programs, fetch_proxy) as opened:
        connector = mcp_connector or opened.connections
        of_runs = McpServers(
            connector=connector,
            log=log,
            clock=lambda: datetime.fromtimestamp(clock(), UTC),
            shared=shared_mcp,
            own=servers.targets,
            sign_ins=sign_ins,
        )
        change = ChangeMcpServers(
            servers=servers,
            connector=connector,
            sign_ins=sign_ins,
            authorizer=opened.authorizer,
            sessions=sessions,
            parse=user_server,
            limiter=limiter,
            limits=limits,
        )
        sign_in = SignInMcpServer(
            servers=servers,
            sign_ins=sign_ins,
            pending=RedisPendingSignIns(redis),
            authorizer=opened.authorizer,
            limiter=limiter,
            limits=limits,
        )
        tools = ListMcpTools(servers=servers, connector=connector, limiter=limiter, limits=limits)
        yield Parts(
            ports={
                "mcp_servers": servers,
                "change_mcp_servers": change,
                "sign_in_mcp_server": sign_in,
                "list_mcp_tools": tools,
                "mcp_tools": of_runs.of_run,
            },
            tools=[McpTools()],
            tasks={
                "MCP secrets": ResealMcpServers(store, secret_box),
                "MCP sign-ins": ResealSignIns(MongoSignIns(), secret_box),
            },
        )


MCP = Module(
    name="mcp",
    description="MCP servers, of everybody and of the caller.",
    settings=McpSettings,
    documents=DOCUMENTS,
    routes=[mcp.router, mcp_sign_in.router],
    plan=plan_mcp,
    open=open_mcp,
)
