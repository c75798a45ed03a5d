"""MCP servers that users added: as they are kept, and what can go wrong."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from backend_api.kit.errors import ConflictError, NotFoundError
from backend_api.kit.ids import UserId
from backend_api.mcp.domain.entity import McpCause, McpServer
from backend_api.settings.domain.entity import Sealed

MAX_OWN_SERVERS = 20


class McpServerNotFoundError(NotFoundError):
    """The user has no server of this name."""

    code = "mcp_server_not_found"

    def __init__(self) -> None:
        super().__init__("You have no MCP server of this name.")


class McpServerNameTakenError(ConflictError):
    """The deployment has a server of this name, which no user replaces."""

    code = "mcp_server_name_taken"


class McpProgramError(ConflictError):
    """A program runs in the sandbox of a conversation, and is tried in none but one that is named."""

    code = "mcp_program"

    def __init__(self) -> None:
        super().__init__(
            "It is a program that runs in the computer of a conversation: name one to try it there (session_id), or "
            "send the next message."
        )


class TooManyMcpServersError(ConflictError):
    """The user has as many servers as one may have."""

    code = "too_many_mcp_servers"

    def __init__(self) -> None:
        super().__init__(f"You have {MAX_OWN_SERVERS} MCP servers, as many as there may be: delete one first.")


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTrial:
    """What came of trying a server of this configuration."""

    config: str
    at: datetime
    status: Literal["ready", "failed"]
    tools: Sequence[str] = ()
    error: str | None = None
    cause: McpCause | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnMcpServer:
    """A server as it is stored: values of variables and headers are `sealed`, and empty in `server`; None where there
    are none."""

    server: McpServer
    sealed: Sealed | None = None
    trial: McpTrial | None = None


@dataclass(frozen=True, slots=True)
class SecretValues:
    """What is sealed of a server."""

    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    client_secret: str = field(default="", repr=False)


class OwnMcpServers(Protocol):
    """The servers of each user. All raise `StoreUnavailableError`."""

    async def of(self, user_id: UserId) -> Sequence[OwnMcpServer]:
        """By their names."""
        ...

    async def put(self, user_id: UserId, own: OwnMcpServer) -> None:
        """Add it, or replace the one of its name. Once it returns, every run that begins in a session of this user is
        told by its lease that there are settings. Raises `TooManyMcpServersError`, however many are added at once."""
        ...

    async def keep_trial(self, user_id: UserId, tried: OwnMcpServer, trial: McpTrial) -> bool:
        """What came of trying it, where it still is as it was `tried`; False where it has changed or is gone."""
        ...

    async def delete(self, user_id: UserId, name: str) -> bool:
        """False where there was none."""
        ...


class SealedMcpServers(Protocol):
    """What is sealed of all users' servers. All raise `StoreUnavailableError`."""

    def sealed_under_other_key(self, key_id: str) -> AsyncIterator[tuple[UserId, OwnMcpServer]]:
        """Servers whose values are not under this key."""
        ...

    async def reseal(self, user_id: UserId, name: str, former: Sealed, fresh: Sealed) -> bool:
        """Put one in the place of the other; False where that has changed meanwhile."""
        ...
