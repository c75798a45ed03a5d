"""The parts of a connection. This module imports the protocol's package, so it is loaded when the first server is
used."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from backend_api.mcp.client.guarded_transport import GuardedTransport, Refusals
from backend_api.mcp.client.network import Network
from backend_api.mcp.client.program_streams import program_streams
from backend_api.mcp.client.session import SessionConnection
from backend_api.mcp.client.streams import TransportStreams
from backend_api.mcp.client.user_auth import UserAuth
from backend_api.mcp.domain.entity import McpServer

__all__ = ["SessionConnection", "UserAuth", "http_streams", "program_streams"]

CONNECT_S = 5.0
SEND_S = 30.0


@asynccontextmanager
async def http_streams(
    server: McpServer, network: Network, refusals: Refusals, owner: str, user: UserAuth
) -> AsyncGenerator[TransportStreams]:
    """The streams of a server with an address. Nothing of the environment is used. DNS look-ups count for `owner`;
    `user` authorises the requests."""

    def client(
        headers: dict[str, str] | None = None, timeout: httpx2.Timeout | None = None, auth: httpx2.Auth | None = None
    ) -> httpx2.AsyncClient:
        del headers, timeout, auth
        return httpx2.AsyncClient(
            transport=GuardedTransport(
                network.transport, network.rules, refusals, owner, has_stream=server.transport == "sse"
            ),
            auth=user,
            headers={**server.headers, "Accept-Encoding": "identity"},
            timeout=httpx2.Timeout(None, connect=CONNECT_S, write=SEND_S),
            follow_redirects=False,
            trust_env=False,
        )

    if server.transport == "sse":
        async with sse_client(server.url, httpx_client_factory=client) as streams:
            yield streams
    else:
        async with client() as http, streamable_http_client(server.url, http_client=http) as streams:
            yield streams
