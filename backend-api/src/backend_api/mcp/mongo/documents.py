"""Every stored field of MCP servers and sign-ins of users, and the indexes."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from beanie import Document
from pydantic import Field
from pymongo import ASCENDING, IndexModel


class McpServersDocument(Document):
    """The MCP servers that a user added: the fields of `mcp.json` for each, with all values sealed together."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- the user
    servers: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])

    class Settings:
        name = "mcp_servers"


class McpSignInDocument(Document):
    """A user's sign-in at an MCP server, with sealed tokens. `claimed_until` keeps two processes from renewing it at
    once."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- user and server
    user_id: str
    server: str
    binding: str
    version: str
    at: datetime
    sealed: dict[str, Any] | None = None
    scopes: str = ""
    lacks_scopes: bool = False
    claimed_until: datetime | None = None

    class Settings:
        name = "mcp_sign_ins"
        indexes: ClassVar = [IndexModel([("user_id", ASCENDING)])]


DOCUMENTS: list[type[Document]] = [McpServersDocument, McpSignInDocument]
