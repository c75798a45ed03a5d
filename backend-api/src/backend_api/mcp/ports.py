"""The ports by which agents use MCP servers."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from backend_api.agent.mcp_servers import KnownMcpServer
from backend_api.agent.new_events import NewEvent
from backend_api.agent.tool import Done, ToolCall
from backend_api.mcp.domain.entity import Listing, McpCause, McpTarget


class McpServerError(Exception):
    """A server can't be used, in words for people and models, without any secret. It does not fail the run. `cause`
    lets others say it in another language."""

    def __init__(self, reason: str, cause: McpCause = "other") -> None:
        super().__init__(reason)
        self.cause: McpCause = cause


class McpNotCalledError(McpServerError):
    """The server can't be used over this connection, and the request has not taken effect: it may be repeated over a
    new one."""


@dataclass(frozen=True, slots=True)
class Place:
    """The session and user a server is connected for. A program runs in the session's sandbox."""

    session_id: str
    user_id: str


class McpConnection(Protocol):
    """An open connection. Whatever the server sends, the time and memory it takes are bounded."""

    @property
    def is_open(self) -> bool:
        """False once the server is gone."""
        ...

    @property
    def has_changed(self) -> bool:
        """Whether the server announced a changed list of tools since it was last read."""
        ...

    @property
    def is_doubtful(self) -> bool:
        """Whether the server may have lost the session: later calls are better made over a new connection."""
        ...

    async def listing(self) -> Listing:
        """The tools that the server lists now. Raises `McpServerError`, `McpNotCalledError`."""
        ...

    async def call(self, name: str, call: ToolCall) -> Done:
        """Calls one of its tools by the server's own name; cancelling notifies the server. Raises `McpServerError` if
        the connection broke, `McpNotCalledError` if the call can't have reached the tool."""
        ...

    async def close(self) -> None:
        """Closes the connection within a moment, and ends the program if it is one."""
        ...


class McpConnector(Protocol):
    """Connects to servers."""

    async def connect(self, target: McpTarget, place: Place) -> McpConnection:
        """Connects to a server. Raises `McpServerError`, and `UnavailableError` if no sandbox is available. Cancelling
        leaves nothing behind."""
        ...


class ServerJournal(Protocol):
    """The record of the servers a run had and the tools they offered."""

    async def conversation(self) -> object:
        """Reads the run's conversation, so that `mcp_servers` is up to date."""
        ...

    def mcp_servers(self) -> Mapping[str, KnownMcpServer]:
        """The known state of each server, by its name."""
        ...

    def record_items(self, items: Sequence[NewEvent], *, handled: int = 0) -> Awaitable[None]:
        """Stores these events in one step."""
        ...
