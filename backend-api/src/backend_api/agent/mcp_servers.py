"""The state of an MCP server, read from the log."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from backend_api.agent.events import Event, McpUpdated


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownMcpServer:
    """The state by the event `seq`. `has_changed`: the server was found to list other tools since."""

    seq: int
    at: datetime
    told: McpUpdated
    has_changed: bool = False


def known_after(known: KnownMcpServer | None, event: Event, told: McpUpdated) -> KnownMcpServer | None:
    """The state after this event. A change of its list replaces nothing: the tools on offer stay the same."""
    if told.status == "changed":
        return replace(known, has_changed=True) if known is not None else None
    return KnownMcpServer(seq=event.seq or 0, at=event.at, told=told)
