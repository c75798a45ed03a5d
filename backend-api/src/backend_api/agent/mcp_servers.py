"""What the log says of an MCP server."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from backend_api.agent.events import Event, McpUpdated


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownMcpServer:
    """As it was told in the event `seq`. `has_changed`: it was found to list other tools since."""

    seq: int
    at: datetime
    told: McpUpdated
    has_changed: bool = False


def known_after(known: KnownMcpServer | None, event: Event, told: McpUpdated) -> KnownMcpServer | None:
    """What is known after this event. That it has changed replaces nothing: what is offered stays so."""
    if told.status == "changed":
        return replace(known, has_changed=True) if known is not None else None
    return KnownMcpServer(seq=event.seq or 0, at=event.at, told=told)
