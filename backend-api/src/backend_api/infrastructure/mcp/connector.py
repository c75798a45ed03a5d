"""Connects to servers by the transport that each has."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx

from backend_api.application.runs.masking import Mask
from backend_api.domain.mcp.entity import McpTarget
from backend_api.domain.mcp.ports import McpConnection, McpServerError, Place
from backend_api.infrastructure.fetch.rules import FetchRules
from backend_api.infrastructure.mcp.guarded_transport import Refusals
from backend_api.infrastructure.tool_api.mcp_programs import McpPrograms

if TYPE_CHECKING:
    from types import ModuleType


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """How servers of one origin are connected to: those of the deployment may be private, those of users may not."""

    transport: httpx.AsyncBaseTransport
    rules: FetchRules


class McpConnections:
    """`McpConnector`."""

    def __init__(self, shared: Network, own: Network, programs: McpPrograms | None = None) -> None:
        """Without `programs` no server is started."""
        self._shared = shared
        self._own = own
        self._programs = programs

    async def connect(self, target: McpTarget, place: Place) -> McpConnection:
        network = self._shared if target.server.source == "deployment" else self._own
        server, mask, refusals = target.filled, Mask(target.secrets()), Refusals()
        opening = await asyncio.to_thread(_load)
        connection = opening.SessionConnection(server, mask, refusals)
        if server.transport != "stdio":
            streams = opening.http_streams(server, network.transport, network.rules, refusals, place.user_id)
        elif self._programs is None:
            raise McpServerError("Nothing here starts programs.")
        else:
            streams = opening.program_streams(server, self._programs, place, refusals)
        await connection.open(streams)
        return connection


def _load() -> ModuleType:
    """Takes a second: in a thread, so that nobody waits for it, and only where there is a server."""
    from backend_api.infrastructure.mcp import opening

    return opening
