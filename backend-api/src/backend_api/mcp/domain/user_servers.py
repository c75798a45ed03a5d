"""MCP servers that users added: how they are stored, and the errors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from backend_api.kit.errors import ConflictError, NotFoundError
from backend_api.kit.ids import UserId
from backend_api.mcp.domain.entity import McpCause, McpServer
from backend_api.settings.domain.entity import Sealed

MAX_USER_SERVERS = 20


class McpServerNotFoundError(NotFoundError):
    """The user has no server of this name."""

    code = "mcp_server_not_found"

    def __init__(self) -> None:
        super().__init__("You have no MCP server of this name.")


class McpServerNameTakenError(ConflictError):
    """The deployment has a server of this name, which no user replaces."""

    code = "mcp_server_name_taken"


class McpProgramError(ConflictError):
    """A program runs in the sandbox of a conversation, so a trial has to name one."""

    code = "mcp_program"

    def __init__(self) -> None:
        super().__init__(
            "It is a program that runs in the computer of a conversation: name one to try it there (session_id), or "
            "send the next message."
        )


class TooManyMcpServersError(ConflictError):
    """The user has reached the limit of servers."""

    code = "too_many_mcp_servers"

    def __init__(self) -> None:
        super().__init__(f"You have {MAX_USER_SERVERS} MCP servers, which is the maximum. Delete one first.")


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTrial:
    """The outcome of trying a server with this configuration."""

    config: str
    at: datetime
    status: Literal["ready", "failed"]
    tools: Sequence[str] = ()
    error: str | None = None
    cause: McpCause | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMcpServer:
    """A server as it is stored: the values of its variables and headers are `sealed` and empty in `server`; None if
    there are no values."""

    server: McpServer
    sealed: Sealed | None = None
    trial: McpTrial | None = None


@dataclass(frozen=True, slots=True)
class SecretValues:
    """The sealed values of a server."""

    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    client_secret: str = field(default="", repr=False)


class UserMcpServers(Protocol):
    """The servers of each user. All raise `StoreUnavailableError`."""

    async def of(self, user_id: UserId) -> Sequence[UserMcpServer]:
        """The user's servers, sorted by name."""
        ...

    async def put(self, user_id: UserId, own: UserMcpServer) -> None:
        """Adds a server, or replaces the one of its name. Once it returns, the lease of every new run of this user says
        that there are settings. Raises `TooManyMcpServersError`, however many are added at once."""
        ...

    async def store_trial(self, user_id: UserId, tried: UserMcpServer, trial: McpTrial) -> bool:
        """Stores the outcome of a trial if the server is still as it was `tried`; False if it has changed or is
        gone."""
        ...

    async def delete(self, user_id: UserId, name: str) -> bool:
        """Deletes the server of this name; False if there was none."""
        ...


class SealedMcpServers(Protocol):
    """The sealed values of all users' servers. All methods raise `StoreUnavailableError`."""

    def sealed_under_other_key(self, key_id: str) -> AsyncIterator[tuple[UserId, UserMcpServer]]:
        """Servers whose values are not under this key."""
        ...

    async def reseal(self, user_id: UserId, name: str, former: Sealed, fresh: Sealed) -> bool:
        """Replaces the sealed values; False if they have changed meanwhile."""
        ...
