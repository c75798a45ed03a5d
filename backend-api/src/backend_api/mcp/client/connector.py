"""Connects to servers by the transport that each has."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from backend_api.kit.masking import Mask
from backend_api.mcp.client.guarded_transport import Refusals
from backend_api.mcp.client.network import Networks
from backend_api.mcp.domain.entity import McpTarget
from backend_api.mcp.domain.sign_in import AccessTokens, NoAccessTokens
from backend_api.mcp.mcp_programs import McpPrograms
from backend_api.mcp.ports import McpConnection, McpServerError, Place

if TYPE_CHECKING:
    from types import ModuleType


TokensOf = Callable[[McpTarget, str], AccessTokens]
"""The tokens of a user at a server."""


def no_tokens(target: McpTarget, user_id: str) -> AccessTokens:
    """The tokens of a deployment where users sign in at no server."""
    del target, user_id
    return NoAccessTokens()


class McpConnections:
    """`McpConnector`."""

    def __init__(
        self, networks: Networks, programs: McpPrograms | None = None, tokens_of: TokensOf = no_tokens
    ) -> None:
        """Without `programs`, servers that are programs are not started."""
        self._networks = networks
        self._programs = programs
        self._tokens_of = tokens_of

    async def connect(self, target: McpTarget, place: Place) -> McpConnection:
        server, mask, refusals = target.filled, Mask(target.secrets()), Refusals()
        opening = await asyncio.to_thread(_load)
        connection = opening.SessionConnection(server, mask, refusals)
        if server.transport != "stdio":
            user = opening.UserAuth(self._tokens_of(target, place.user_id), mask, refusals)
            network = self._networks.of(server.source)
            streams = opening.http_streams(server, network, refusals, place.user_id, user)
        elif self._programs is None:
            raise McpServerError("Nothing here starts programs.", "no_computer")
        else:
            streams = opening.program_streams(server, self._programs, place, refusals)
        await connection.open(streams)
        return connection


def _load() -> ModuleType:
    """Imports the protocol's package, which takes a second: so it is done in a thread, and only if there is a
    server."""
    from backend_api.mcp.client import opening

    return opening
