"""MCP servers: those of the deployment, and those that the caller added."""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

from fastapi import APIRouter, Path, Query, status
from pydantic import Field

from backend_api.identity.http.caller import CurrentCaller
from backend_api.kit.http.examples import with_example
from backend_api.kit.http.ports import port
from backend_api.kit.http.schemas import AnswerBody, RequestBody, Time
from backend_api.kit.ids import SessionId
from backend_api.mcp.application.change_servers import ChangeMcpServers, ShownMcpServer
from backend_api.mcp.domain.entity import McpCause

router = APIRouter(prefix="/api/mcp", tags=["mcp"])
Name = Annotated[str, Path(max_length=100)]
Text = Annotated[str, Field(max_length=4_096)]
ProgramText = Annotated[str, Field(max_length=16_384)]
Values = dict[Annotated[str, Field(max_length=100)], ProgramText | None]

McpCode = Literal[
    "mcp_needs_sign_in",
    "mcp_needs_scope",
    "mcp_scope_refused",
    "mcp_refused",
    "mcp_status",
    "mcp_address_refused",
    "mcp_unreachable",
    "mcp_timed_out",
    "mcp_bad_answer",
    "mcp_too_large",
    "mcp_ended",
    "mcp_program",
    "mcp_program_ended",
    "mcp_no_computer",
    "mcp_too_often",
    "mcp_asked_too_often",
    "mcp_unreadable",
    "mcp_other",
]
"""A `McpCause` prefixed with `mcp_`."""


def code_of(cause: McpCause) -> McpCode:
    """The code that clients get for a cause."""
    return cast("McpCode", f"mcp_{cause}")


class McpServerBody(AnswerBody):
    name: str
    source: Literal["deployment", "user"]
    type: Literal["stdio", "http", "sse"]
    url: str | None = Field(description="null for a server of the deployment.")
    command: str | None = Field(description="null for a server of the deployment, and for one with an address.")
    args: list[str]
    env: list[str] = Field(description="Names alone: a value is never given back.")
    headers: list[str] = Field(description="Names alone, as well.")
    enabled: bool
    only: list[str] | None = Field(description="Names and globs of the tools that are offered; null: all.")
    status: Literal["unknown", "ready", "failed"] = Field(description="Of the last test.")
    tools: list[str] = Field(description="Those that the last test found, as agents call them.")
    error: str | None
    code: McpCode | None = Field(description="Why it can't be used, in short.")
    tried_at: Time | None
    is_hidden: bool = Field(description="The deployment has one of this name since, which is used instead.")
    signed_in: bool = Field(description="The caller is signed in there.")
    client_id: str | None = Field(description="null for a server of the deployment, and where none is set.")
    has_client_secret: bool


class ClientBody(RequestBody):
    """The OAuth client of this deployment at the server's authorization server, if that does not register clients by
    itself. A secret that is null keeps its saved value."""

    client_id: Annotated[str, Field(min_length=1, max_length=1_000)]
    client_secret: Text | None = None


class ChangeMcpServerBody(RequestBody):
    """An entry of `mcp.json`: a server with a `url`, or a program with a `command`, which runs in the sandboxes of the
    caller's conversations. `${NAME}` in these, in `args` and in headers stands for a value of `env`, and for no other
    variable. A value that is null keeps its saved value, as long as the address stays on the same server, or the
    command and its arguments stay as they are."""

    type: Literal["stdio", "http", "streamable-http", "sse"] | None = None
    url: Text = ""
    command: Text = ""
    args: list[ProgramText] = Field(
        default_factory=list, max_length=100, description="Each may have several lines, and no NUL."
    )
    env: Values = Field(default_factory=dict, max_length=50)
    headers: Values = Field(default_factory=dict, max_length=50)
    enabled: bool = True
    tools: list[Annotated[str, Field(min_length=1, max_length=200)]] | None = Field(default=None, max_length=100)
    oauth: ClientBody | None = None


def _body_of(shown: ShownMcpServer) -> McpServerBody:
    server = shown.server
    is_own = server.source == "user"
    return McpServerBody(
        name=server.name,
        source=server.source,
        type=server.transport,
        url=server.url or None if is_own else None,
        command=server.command or None if is_own else None,
        args=[*server.args] if is_own else [],
        env=sorted(server.env) if is_own else [],
        headers=sorted(server.headers) if is_own else [],
        enabled=server.enabled,
        only=None if server.tools is None else sorted(server.tools),
        status=shown.status,
        tools=[*shown.tools],
        error=shown.error,
        code=code_of(shown.cause) if shown.cause is not None else None,
        tried_at=shown.tried_at,
        is_hidden=shown.is_hidden,
        signed_in=shown.is_signed_in,
        client_id=server.client_id or None if is_own else None,
        has_client_secret=is_own and shown.has_client_secret,
    )


@router.get("")
async def list_mcp_servers(
    caller: CurrentCaller, change_mcp_servers: Annotated[ChangeMcpServers, port("change_mcp_servers")]
) -> list[McpServerBody]:
    """List the MCP servers whose tools the caller's conversations have."""
    return [_body_of(shown) for shown in await change_mcp_servers.read(caller.user.id)]


@router.put(
    "/{server}",
    openapi_extra=with_example(
        {
            "url": "https://wiki.example.org/mcp",
            "headers": {"Authorization": "Bearer ${TOKEN}"},
            "env": {"TOKEN": "the key that the server gave"},
        }
    ),
)
async def put_mcp_server(
    server: Name,
    body: ChangeMcpServerBody,
    caller: CurrentCaller,
    change_mcp_servers: Annotated[ChangeMcpServers, port("change_mcp_servers")],
) -> McpServerBody:
    """Add one of the caller's own, or replace it; it takes effect from the next run on."""
    said: dict[str, Any] = body.model_dump(mode="json", exclude_none=False)
    return _body_of(await change_mcp_servers.put(caller.user.id, server, said))


@router.delete("/{server}", status_code=status.HTTP_204_NO_CONTENT)
async def delete_mcp_server(
    server: Name, caller: CurrentCaller, change_mcp_servers: Annotated[ChangeMcpServers, port("change_mcp_servers")]
) -> None:
    """Delete one of the caller's own."""
    await change_mcp_servers.delete(caller.user.id, server)


@router.post("/{server}/test")
async def try_mcp_server(
    server: Name,
    caller: CurrentCaller,
    change_mcp_servers: Annotated[ChangeMcpServers, port("change_mcp_servers")],
    session_id: Annotated[str | None, Query(max_length=100)] = None,
) -> McpServerBody:
    """Connect to one and list its tools. A program is started for that in the sandbox of the session, which has to be
    the caller's. `error` says what is wrong with it."""
    session = SessionId(session_id) if session_id is not None else None
    return _body_of(await change_mcp_servers.test(caller.user.id, server, session))
