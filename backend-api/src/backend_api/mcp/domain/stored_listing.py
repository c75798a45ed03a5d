"""The tool lists stored in the log of a session: the tools offered stay as listed there, whatever the servers
change."""

from __future__ import annotations

import json
from typing import Any, cast

from backend_api.mcp.domain.entity import Listing, McpTool

MEDIA_TYPE = "application/json"


def to_body(listing: Listing) -> bytes:
    """Serialises a listing; `from_body` reads it."""
    facts = [
        {
            "name": tool.name,
            "public_name": tool.public_name,
            "description": tool.description,
            "parameters": tool.parameters,
        }
        for tool in listing.tools
    ]
    return json.dumps(facts, separators=(",", ":")).encode()


def from_body(content: bytes) -> Listing:
    """Reads a listing. Raises `ValueError` if the content is not one."""
    try:
        entries = cast("list[dict[str, Any]]", json.loads(content))
        tools = [
            McpTool(
                name=one["name"],
                public_name=one["public_name"],
                description=one["description"],
                parameters=one["parameters"],
            )
            for one in entries
        ]
    except (KeyError, TypeError) as error:
        raise ValueError("not a list of tools") from error
    return Listing(tools=tools)
