"""What agents need of MCP servers."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from backend_api.agent.mcp_servers import KnownMcpServer
from backend_api.agent.recorded import Recorded
from backend_api.agent.tool import Done, ToolCall
from backend_api.mcp.domain.entity import Listing, McpCause, McpTarget


class McpServerError(Exception):
    """A server that can't be used, in words for people and models, without any secret. It is no error of a run. `cause`
    is for whoever says it in another language."""

    def __init__(self, reason: str, cause: McpCause = "other") -> None:
        super().__init__(reason)
        self.cause: McpCause = cause


class McpNotCalledError(McpServerError):
    """The server can't be used over this connection, and what was asked of it has not happened: it may be asked once
    more over a new one."""


@dataclass(frozen=True, slots=True)
class Place:
    """Whose session a server is connected for. One that is a program runs in its sandbox."""

    session_id: str
    user_id: str


class McpConnection(Protocol):
    """An open connection. Whatever the server sends takes a bounded share of time and memory."""

    @property
    def is_open(self) -> bool:
        """False once the server is gone."""
        ...

    @property
    def has_changed(self) -> bool:
        """Whether it said that it lists other tools since it was asked."""
        ...

    @property
    def is_doubtful(self) -> bool:
        """Whether the server may not know its session any more: later calls are better made over a new one."""
        ...

    async def listing(self) -> Listing:
        """What the server lists by now. Raises `McpServerError`, `McpNotCalledError`."""
        ...

    async def call(self, name: str, call: ToolCall) -> Done:
        """One of its tools, by the server's own name; cancelling tells the server. Raises `McpServerError` where the
        connection broke, `McpNotCalledError` where it can't have reached the tool."""
        ...

    async def close(self) -> None:
        """It ends within a moment, and with it a program that was started."""
        ...


class McpConnector(Protocol):
    """Connects to servers."""

    async def connect(self, target: McpTarget, place: Place) -> McpConnection:
        """Raises `McpServerError`, and `UnavailableError` where a sandbox can't be had. Cancelling leaves nothing."""
        ...


class ServerJournal(Protocol):
    """Where a run keeps which servers it had and what these offered."""

    async def conversation(self) -> object:
        """Read the run's conversation, so that `mcp_servers` is of now."""
        ...

    def mcp_servers(self) -> Mapping[str, KnownMcpServer]:
        """What is known of each server, by its name."""
        ...

    def record_items(self, items: Sequence[Recorded], *, handled: int = 0) -> Awaitable[None]:
        """Store these in one step."""
        ...
