"""Turns a server's list of tools into tools a model can be given; everything in it is untrusted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

from backend_api.agent.shortening import shorten
from backend_api.agent.tool_rules import is_named
from backend_api.kit.invisible_characters import INVISIBLE
from backend_api.kit.masking import Mask
from backend_api.mcp.client.argument_schema import UnusableError
from backend_api.mcp.client.schemas import SchemaReader
from backend_api.mcp.domain.entity import MAX_TOOLS, Listing, McpServer, McpTool, public_name

MAX_DESCRIPTION_CHARACTERS = 4_000
_MAX_READ_CHARACTERS = 4 * MAX_DESCRIPTION_CHARACTERS
"""Characters of a description that are read, before secrets are masked in it and it is cut."""
MAX_LISTING_BYTES = 200_000
MAX_NAME_CHARACTERS = 200
_MAX_NAMED = 5


class ListedTool(NamedTuple):
    """A tool as the server sent it."""

    name: str
    description: str
    schema: dict[str, Any]


def listing_of(server: McpServer, listed: Iterable[ListedTool], mask: Mask) -> Listing:
    """The server's tools that are wanted and that every provider accepts, each name once."""
    tools: dict[str, McpTool] = {}
    left_out: list[str] = []
    reader = SchemaReader()
    size = 0
    for one in listed:
        # Cut first, as it may be long.
        name = one.name[: MAX_NAME_CHARACTERS + 1]
        if server.tools is not None and not is_named(name, server.tools):
            continue
        try:
            if len(tools) >= MAX_TOOLS:
                raise UnusableError("there are too many")
            tool = _tool(server, one, mask, reader)
            added = len(tool.description) + len(json.dumps(tool.parameters))
            if tool.public_name in tools:
                raise UnusableError("another tool has the same name")
            if size + added > MAX_LISTING_BYTES:
                raise UnusableError("there are too many")
        except UnusableError as error:
            shown = INVISIBLE.sub("", mask.known(name))[:60]
            left_out.append(f"{shown} ({error})")
            continue
        size += added
        tools[tool.public_name] = tool
    return Listing(tools=[*tools.values()], left_out=_shorten_list(left_out))


def _tool(server: McpServer, listed: ListedTool, mask: Mask, reader: SchemaReader) -> McpTool:
    name = listed.name
    if not name or len(name) > MAX_NAME_CHARACTERS:
        raise UnusableError("it has no usable name")
    reader.count(len(listed.description[:_MAX_READ_CHARACTERS]))
    # First, since a refusal saves the work on the rest.
    parameters = cast("dict[str, Any]", _clean(reader.parameters(listed.schema), mask))
    return McpTool(
        name=name,
        public_name=public_name(server.name, name),
        description=f"[Of the MCP server {server.name}] {_described(listed.description, mask)}",
        parameters=parameters,
    )


def _described(text: str, mask: Mask) -> str:
    """The masked description. If it is long only its beginning is read, and the end of that is dropped, where half a
    secret may stand."""
    looked_at = text[:_MAX_READ_CHARACTERS]
    known = INVISIBLE.sub("", mask.known(looked_at)).strip()
    if looked_at == text:
        return shorten(known, MAX_DESCRIPTION_CHARACTERS)
    return f"{known[:MAX_DESCRIPTION_CHARACTERS]} [...]"


def _clean(value: Any, mask: Mask) -> Any:
    if isinstance(value, str):
        return INVISIBLE.sub("", mask.known(value))
    if isinstance(value, dict):
        return {INVISIBLE.sub("", name): _clean(one, mask) for name, one in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_clean(one, mask) for one in cast("list[Any]", value)]
    return value


def _shorten_list(left_out: Sequence[str]) -> list[str]:
    more = len(left_out) - _MAX_NAMED
    return [*left_out[:_MAX_NAMED], *([f"{more} more"] if more > 0 else [])]
