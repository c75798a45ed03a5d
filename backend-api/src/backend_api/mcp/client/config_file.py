"""`mcp.json`, in the form that other clients of the protocol read as well."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import httpx
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)

from backend_api.kit.http_address import HttpAddressError, check_http_address
from backend_api.mcp.domain.entity import MAX_VARIABLES, NAME, McpServer, McpTarget, Source, Transport

MAX_FILE_BYTES = 256 * 1024
MAX_SERVERS = 20
MAX_VALUES = 20
"""The most variables, and the most headers: each value is searched for, in several forms, in all the server sends."""
MAX_VALUES_CHARACTERS = 16_384
"""The limit for the values of variables and headers together."""
MAX_COMMAND_CHARACTERS = 65_536
"""The limit for a command with its arguments."""


def _match(pattern: str, otherwise: str) -> AfterValidator:
    """A validator that reports a mismatch in words, since few people can read a pattern."""
    wanted = re.compile(pattern)

    def checked(text: str) -> str:
        if not wanted.fullmatch(text):
            raise ValueError(otherwise)
        return text

    return AfterValidator(checked)


Text = Annotated[
    str, StringConstraints(max_length=4_096), _match(r"[^\x00\r\n]*", "it has more than one line, or contains NUL")
]
ProgramText = Annotated[
    str,
    StringConstraints(max_length=16_384),
    _match(r"[^\x00]*", "it contains NUL, which can't be passed to a program"),
]
"""An argument or a variable of a program, which may have several lines."""
_ASCII = _match(r"[\x20-\x7e]*", "it has non-ASCII characters")


def _issuer(text: str) -> str:
    if text:
        check_http_address(text)
    return text


_VARIABLE_NAME = _match(
    r"[A-Za-z_][A-Za-z0-9_]{0,99}",
    "a variable's name has 1 to 100 letters, digits and _, and does not begin with a digit",
)
_HEADER_NAME = _match(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}", "a header's name has 1 to 100 letters, digits, - and such")
_OWN_HEADERS = frozenset(
    [
        *("host", "content-length", "content-type", "content-encoding", "transfer-encoding", "connection", "upgrade"),
        *("te", "trailer", "expect", "accept", "accept-encoding", "mcp-session-id", "mcp-protocol-version"),
    ]
)
_TYPES: Mapping[str, Transport] = {
    "stdio": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamable_http": "http",
    "streamableHttp": "http",
    "sse": "sse",
}


class ClientConfig(BaseModel):
    """The client we are registered as at an authorization server that does not register clients by itself."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    client_id: Annotated[str, StringConstraints(min_length=1, max_length=1_000), _ASCII]
    client_secret: Annotated[str, StringConstraints(max_length=4_096), _ASCII] = ""
    issuer: Annotated[str, StringConstraints(max_length=2_000), _ASCII, AfterValidator(_issuer)] = ""


class ServerConfig(BaseModel):
    """One entry of `mcpServers`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: Literal["stdio", "http", "streamable-http", "streamable_http", "streamableHttp", "sse"] | None = None
    command: Text = ""
    args: list[ProgramText] = Field(default_factory=list, max_length=100)
    env: dict[Annotated[str, _VARIABLE_NAME], ProgramText] = Field(default_factory=dict, max_length=MAX_VALUES)
    url: Text = ""
    headers: dict[Annotated[str, _HEADER_NAME], Text] = Field(default_factory=dict, max_length=MAX_VALUES)
    enabled: bool = True
    tools: list[Annotated[str, StringConstraints(min_length=1, max_length=200)]] | None = Field(
        default=None, max_length=100
    )
    oauth: ClientConfig | None = None

    @field_validator("headers")
    @classmethod
    def _latin(cls, value: dict[str, str]) -> dict[str, str]:
        if any(name.lower() in _OWN_HEADERS for name in value):
            raise ValueError("Host, and headers of a connection or a message, can't be set")
        if not all(text.isascii() and text.isprintable() for text in value.values()):
            raise ValueError("a value of a header has non-ASCII characters")
        return value

    @model_validator(mode="after")
    def _bounded(self) -> ServerConfig:
        if sum(map(len, [*self.env.values(), *self.headers.values()])) > MAX_VALUES_CHARACTERS:
            raise ValueError(f"the values of its env and headers have more than {MAX_VALUES_CHARACTERS:,} characters")
        if sum(map(len, [self.command, *self.args])) > MAX_COMMAND_CHARACTERS:
            raise ValueError(f"its command and args have more than {MAX_COMMAND_CHARACTERS:,} characters")
        return self

    @model_validator(mode="after")
    def _one_way(self) -> ServerConfig:
        if bool(self.command) == bool(self.url):
            raise ValueError("a server needs either a command or a url")
        if self.command and (self.headers or self.oauth or self.type not in (None, "stdio")):
            raise ValueError("a server with a command can't have headers, oauth or a type other than stdio")
        if self.url and any("\n" in text or "\r" in text for text in self.env.values()):
            raise ValueError("a variable of a server with a url must be one line, as the url and headers use it")
        if self.url and (self.args or self.type == "stdio"):
            raise ValueError("a server with a url can't have args or the type stdio")
        return self

    @property
    def transport(self) -> Transport:
        """The transport named by `type`; without a type, an address that ends with /sse uses the older protocol."""
        if self.type is not None:
            return _TYPES[self.type]
        if self.command:
            return "stdio"
        path = self.url.partition("?")[0].rstrip("/")
        return "sse" if path.endswith("/sse") else "http"

    def server(self, name: str, source: Source) -> McpServer:
        """The server of this entry. Raises `ValueError` for the name, and for too many variables."""
        if not NAME.fullmatch(name):
            raise ValueError(
                f"{name[:100]!r} is not a valid server name: use 1 to 32 letters, digits, - and single _, and no "
                "_ at either end"
            )
        server = McpServer(
            name=name,
            transport=self.transport,
            command=self.command,
            args=tuple(self.args),
            env=self.env,
            url=self.url,
            headers=self.headers,
            enabled=self.enabled,
            tools=None if self.tools is None else frozenset(self.tools),
            source=source,
            client_id=self.oauth.client_id if self.oauth else "",
            client_secret=self.oauth.client_secret if self.oauth else "",
            issuer=self.oauth.issuer if self.oauth else "",
        )
        if server.has_too_many_variables:
            raise ValueError(f"it has more than {MAX_VARIABLES} variables in its texts")
        return server


def user_server(name: str, said: Mapping[str, Any]) -> McpServer:
    """A server that a user adds. Its variables are those of its own `env`. Raises `HttpAddressError` for its address,
    `ValueError` with what else is wrong."""
    try:
        server = ServerConfig.model_validate(said).server(name, "user")
    except ValidationError as error:
        raise ValueError(_faults(error)) from error
    if missing := missing_variables(server, server.env):
        raise ValueError(f"there is no variable {missing[0]} in its env")
    _check_url(McpTarget(server=server, values=server.env))
    return server


class McpFileError(ValueError):
    """The file can't be used; the message names the file, the server and the fault."""


def read_mcp_file(path: Path, environment: Mapping[str, str]) -> list[McpTarget]:
    """The enabled servers of a deployment, in order. Their variables are taken from the environment, and only those
    they name. Raises `McpFileError`."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise McpFileError(f"MCP_CONFIG={path} can't be read: {error.strerror}") from error
    if len(content) > MAX_FILE_BYTES:
        raise McpFileError(f"MCP_CONFIG={path} has more than {MAX_FILE_BYTES // 1024} KB")
    try:
        parsed: Any = json.loads(content)
        entries: Any = parsed["mcpServers"]
        servers = [ServerConfig.model_validate(one).server(str(name), "deployment") for name, one in entries.items()]
    except ValidationError as error:
        raise McpFileError(f"{path}: {_faults(error)}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise McpFileError(f"{path}: it needs an object mcpServers of servers by their names: {error}") from error
    enabled = [server for server in servers if server.enabled]
    if len(enabled) > MAX_SERVERS:
        raise McpFileError(f"{path}: {len(enabled)} servers are more than {MAX_SERVERS}")
    return [_target(server, path, environment) for server in enabled]


def _check_url(target: McpTarget) -> None:
    """Checks the address with its variables filled in. Raises `HttpAddressError`."""
    if not target.server.url:
        return
    url = target.filled.url
    check_http_address(url)
    try:
        _ = httpx.URL(url).host  # checks host names beyond ASCII
    except (ValueError, httpx.InvalidURL) as error:
        raise HttpAddressError("its host is neither a name nor an IP address", "host") from error


def missing_variables(server: McpServer, values: Mapping[str, str]) -> Sequence[str]:
    """The variables without a default that have no value."""
    return [name for name, is_optional in server.variables().items() if not is_optional and name not in values]


def _target(server: McpServer, path: Path, environment: Mapping[str, str]) -> McpTarget:
    if missing := missing_variables(server, environment):
        raise McpFileError(f"{path}: {server.name} needs the variable {missing[0]}, which is not set")
    values = {name: environment[name] for name in server.variables() if name in environment}
    target = McpTarget(server=server, values=values)
    try:
        _check_url(target)
    except HttpAddressError as error:
        raise McpFileError(f"{path}: {server.name}: its url can't be used: {error}") from error
    return target


def _faults(error: ValidationError) -> str:
    said = [
        f"{'.'.join(map(str, fault['loc'])) or 'a server'}: {fault['msg'].removeprefix('Value error, ')}"
        for fault in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    return "; ".join(said[:5])
