"""MCP servers as they are configured, and the tools taken from their lists."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Any, Literal

Transport = Literal["stdio", "http", "sse"]
Source = Literal["deployment", "user"]

McpCause = Literal[
    "needs_sign_in",
    "needs_scope",
    "scope_refused",
    "refused",
    "status",
    "address_refused",
    "unreachable",
    "timed_out",
    "bad_answer",
    "too_large",
    "ended",
    "program",
    "program_ended",
    "no_computer",
    "too_often",
    "asked_too_often",
    "unreadable",
    "other",
]
"""The kind of reason that a server can't be used for."""

NAME = re.compile(r"(?=[a-zA-Z0-9_-]{1,32}\Z)[a-zA-Z0-9-]+(?:_[a-zA-Z0-9-]+)*")
"""The pattern of a server's name. It has no two `_` in a row and none at an end, so no two servers have tools of one
name."""
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]{0,99})(?::-([^}$]*(?:\$(?!\{)[^}$]*)*))?\}")
"""`${NAME}`, or `${NAME:-default}`. They are never nested, so a text is scanned once."""
MAX_VARIABLES = 50
"""The limit for all texts of a server together: each variable is replaced by a value, which may be long."""
MAX_TOOL_NAME_CHARACTERS = 64
MAX_TOOLS = 60
"""The limit for all servers of an agent together: some providers accept 128 tools, and the agent's own need room
too."""
SHARE_OF_CONTEXT = 4
"""The definitions of the servers' tools fill at most this part of a model's context: a quarter."""
CHARACTERS_OF_TOKEN = 3
"""An estimate for JSON and English on the low side, so that the share is never exceeded."""
_SECRET_NAME = re.compile(r"key|token|secret|passw|pwd|auth|credential|cookie", re.IGNORECASE)
_MARK_CHARACTERS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """A server as configured in `mcp.json`: a `command` that runs in the sandbox of a session, or a `url` to connect
    to. Texts may contain `${VAR}`, which `filled` replaces. `tools` are names and globs of the tools offered, None for
    all. `client_id` is our OAuth client, for an authorization server that does not register clients by itself, and
    `issuer`, if set, is the only authorization server it is used at."""

    name: str
    transport: Transport
    command: str = ""
    args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    enabled: bool = True
    tools: frozenset[str] | None = None
    source: Source = "deployment"
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    issuer: str = ""

    @property
    def config(self) -> str:
        """Identifies the configuration, so that another server of the same name is recognised. It reveals no secret:
        values of variables and headers are left out."""
        tools = None if self.tools is None else sorted(self.tools)
        identity = [self.source, self.transport, self.command, [*self.args], self.url, tools]
        identity += [self.client_id] if self.client_id else []
        text = json.dumps([*identity, sorted(self.env), sorted(self.headers)])
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def variables(self) -> Mapping[str, bool]:
        """The names of the variables in its texts, and whether each is optional."""
        known: dict[str, bool] = {}
        for match in self._variables():
            known[match[1]] = match[2] is not None and known.get(match[1], True)
        return known

    @property
    def has_too_many_variables(self) -> bool:
        """Whether it has more variables than are filled in."""
        return next(islice(self._variables(), MAX_VARIABLES, None), None) is not None

    def _variables(self) -> Iterator[re.Match[str]]:
        client = (self.client_id, self.client_secret)
        texts = (self.command, *self.args, self.url, *self.env.values(), *self.headers.values(), *client)
        return (match for text in texts for match in VARIABLE.finditer(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTarget:
    """A server with the values of its variables. `signed_in_at`: when its user signed in there, if that sign-in is
    valid."""

    server: McpServer
    values: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    signed_in_at: datetime | None = None

    @property
    def name(self) -> str:
        return self.server.name

    @property
    def is_program(self) -> bool:
        """Whether it runs in the sandbox of a session."""
        return self.server.transport == "stdio"

    @property
    def filled(self) -> McpServer:
        """The server with its variables replaced, ready to be started or connected to."""
        server = self.server
        return replace(
            server,
            command=self._fill(server.command),
            args=[self._fill(one) for one in server.args],
            url=self._fill(server.url),
            env={name: self._fill(text) for name, text in server.env.items()},
            headers={name: self._fill(text) for name, text in server.headers.items()},
            client_id=self._fill(server.client_id),
            client_secret=self._fill(server.client_secret),
        )

    def secrets(self) -> list[str]:
        """The secrets to be masked in everything the server sends."""
        filled = self.filled
        is_program = filled.transport == "stdio"
        named = [text for name, text in filled.env.items() if is_program or _SECRET_NAME.search(name)]
        bare = [text.partition(" ")[2] for text in filled.headers.values()]
        used = [self.values[name] for name in self.server.variables() if name in self.values]
        return [text for text in (*named, *bare, *filled.headers.values(), filled.client_secret, *used) if text]

    def _fill(self, text: str) -> str:
        return VARIABLE.sub(lambda found: self.values.get(found[1], found[2] or ""), text, count=MAX_VARIABLES)


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTool:
    """A tool of a server as agents get it. `name` is the server's own."""

    name: str
    public_name: str
    description: str
    parameters: dict[str, Any]

    @property
    def size(self) -> int:
        """The characters of its definition as it is sent to models."""
        return len(self.public_name) + len(self.description) + len(json.dumps(self.parameters))


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The tools taken from a server's list, and those left out, in words."""

    tools: Sequence[McpTool] = ()
    left_out: Sequence[str] = ()


def prefix_of(server: str) -> str:
    """The prefix of the names of a server's tools."""
    return f"mcp__{server}__"


def public_name(server: str, tool: str) -> str:
    """The name of a server's tool among all tools, derived from the two names alone. A name that does not fit is cut
    and gets a hash of the whole name."""
    prefix = prefix_of(server)
    clean = re.sub(r"[^a-zA-Z0-9_-]", "_", tool)
    room = MAX_TOOL_NAME_CHARACTERS - len(prefix)
    if clean == tool and 0 < len(clean) <= room:
        return prefix + clean
    mark = hashlib.sha256(tool.encode("utf-8", "surrogatepass")).hexdigest()[:_MARK_CHARACTERS]
    return f"{prefix}{clean[: room - _MARK_CHARACTERS - 1]}_{mark}"


def within_bound(
    listings: Iterable[tuple[str, Listing]], characters: int | None = None
) -> Iterator[tuple[str, Listing]]:
    """Limits the listings to the tools an agent may have, the first ones by server; with `characters`, also to
    definitions of that total size. A tool that is too large takes no room from those after it."""
    room = MAX_TOOLS
    for name, listing in listings:
        kept: list[McpTool] = []
        for tool in listing.tools[:room]:
            size = tool.size if characters is not None else 0
            if characters is not None and size > characters:
                continue
            characters = characters - size if characters is not None else None
            kept.append(tool)
        yield name, replace(listing, tools=kept)
        room = max(room - len(listing.tools), 0)


def room_in(context_window: int) -> int:
    """The room, in characters, for the definitions of all servers' tools in a context window of so many tokens."""
    return context_window // SHARE_OF_CONTEXT * CHARACTERS_OF_TOKEN
