"""MCP servers as they are configured, and what is taken of the tools they list."""

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
"""Why a server can't be used, in short."""

NAME = re.compile(r"(?=[a-zA-Z0-9_-]{1,32}\Z)[a-zA-Z0-9-]+(?:_[a-zA-Z0-9-]+)*")
"""Of a server. With neither two `_` in a row nor one at an end, no two servers have tools of one name."""
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]{0,99})(?::-([^}$]*(?:\$(?!\{)[^}$]*)*))?\}")
"""`${NAME}`, or `${NAME:-what stands there without it}`. None is within another: so a text is gone through once."""
MAX_VARIABLES = 50
"""Of all texts of a server together: for each a value is put in, which may be long."""
MAX_TOOL_NAME_CHARACTERS = 64
MAX_TOOLS = 60
"""Of all servers of an agent together: some providers take 128 tools, of which an agent may have as many of its own."""
SHARE_OF_CONTEXT = 4
"""The definitions of the servers' tools fill at most this part of a model's context: a quarter."""
CHARACTERS_OF_TOKEN = 3
"""Of JSON and English, rather too few: so that no more than the share is filled."""
_SECRET_NAME = re.compile(r"key|token|secret|passw|pwd|auth|credential|cookie", re.IGNORECASE)
_MARK_CHARACTERS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """A server as its `mcp.json` says: a `command` that runs in the sandbox of a session, or a `url` that is connected
    to. Texts may have `${VAR}` in them, which `filled` puts in. `tools` are names and globs of those that are offered,
    None for all. `client_id` is what we are where its users sign in, if that registers no clients by itself, and
    `issuer`, if it is named, the only authorization server where we are that."""

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
        """Names what it is, so that another server of its name is known for another one. Nothing of a secret is in
        it: values of variables and headers don't count."""
        tools = None if self.tools is None else sorted(self.tools)
        identity = [self.source, self.transport, self.command, [*self.args], self.url, tools]
        identity += [self.client_id] if self.client_id else []
        text = json.dumps([*identity, sorted(self.env), sorted(self.headers)])
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def variables(self) -> Mapping[str, bool]:
        """Names of those in its texts, and whether it can do without."""
        known: dict[str, bool] = {}
        for match in self._variables():
            known[match[1]] = match[2] is not None and known.get(match[1], True)
        return known

    @property
    def has_too_many_variables(self) -> bool:
        """More than are put in."""
        return next(islice(self._variables(), MAX_VARIABLES, None), None) is not None

    def _variables(self) -> Iterator[re.Match[str]]:
        client = (self.client_id, self.client_secret)
        texts = (self.command, *self.args, self.url, *self.env.values(), *self.headers.values(), *client)
        return (match for text in texts for match in VARIABLE.finditer(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTarget:
    """A server with what its variables stand for. `signed_in_at`: when its user signed in there, if that holds."""

    server: McpServer
    values: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    signed_in_at: datetime | None = None

    @property
    def name(self) -> str:
        return self.server.name

    @property
    def is_program(self) -> bool:
        """One that runs in the sandbox of a session."""
        return self.server.transport == "stdio"

    @property
    def filled(self) -> McpServer:
        """As it is started or connected to."""
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
        """What must not be read in anything that comes from it."""
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
    """A tool of a server, as agents are told of it. `name` is the server's own."""

    name: str
    public_name: str
    description: str
    parameters: dict[str, Any]

    @property
    def size(self) -> int:
        """Characters of its definition, as models are sent it."""
        return len(self.public_name) + len(self.description) + len(json.dumps(self.parameters))


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What is taken of a server's list, and what was left out of it, in words."""

    tools: Sequence[McpTool] = ()
    left_out: Sequence[str] = ()


def prefix_of(server: str) -> str:
    """What the names of its tools begin with."""
    return f"mcp__{server}__"


def public_name(server: str, tool: str) -> str:
    """The name of a server's tool among all. It follows from both alone; what does not fit is told apart by a mark that
    is made of the whole name."""
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
    """As many tools as an agent may have, the first ones, by the names of their servers; with `characters`, those whose
    definitions together have no more of them. One that is too large takes no room from those behind it."""
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
    """How many characters the definitions of all servers' tools may have, of a model with a window of so many
    tokens."""
    return context_window // SHARE_OF_CONTEXT * CHARACTERS_OF_TOKEN
