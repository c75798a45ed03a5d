"""The tools offered of a server, pinned by the session's event log, and the events recorded for a new list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from backend_api.agent.events import BodyReference, McpUpdated, Notice
from backend_api.agent.mcp_servers import KnownMcpServer
from backend_api.agent.new_events import Body, NewEvent
from backend_api.conversations.domain.errors import EventBodyNotFoundError
from backend_api.conversations.ports import EventLog
from backend_api.kit.ids import SessionId
from backend_api.mcp.domain.entity import MAX_TOOLS, Listing, McpTarget
from backend_api.mcp.domain.stored_listing import MEDIA_TYPE, from_body, to_body
from backend_api.mcp.ports import McpServerError

TOO_MANY = "Together the MCP servers have {count} tools, more than {most}: these are left out: {tools}."
TOO_LARGE = (
    "Together the tools of the MCP servers would fill more than a quarter of the model's context ({tokens:,} tokens): "
    "these are left out: {tools}. Name in `tools` of a server those that you need, or choose a model with a larger "
    "context."
)
FAILED = "The MCP server {name} can't be used. {reason}"
_MAX_NAMED = 5
LEFT_OUT = "Some tools of the MCP server {name} are left out: {tools}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The tools of one server offered in a run, and the events to be recorded about them."""

    listing: Listing = field(default_factory=Listing)
    items: Sequence[NewEvent] = ()


async def pinned_listing(log: EventLog, session_id: SessionId, known: KnownMcpServer | None) -> Listing | None:
    """The list that was offered last, or None if the log has none. Raises `StoreUnavailableError`."""
    if known is None or known.told.body is None:
        return None
    try:
        return from_body((await log.body(session_id, known.seq)).content)
    except (EventBodyNotFoundError, ValueError):
        return None


def ready(target: McpTarget, listing: Listing, known: KnownMcpServer | None) -> list[NewEvent]:
    """The events for a list that was just fetched, with a notice if the tools left out of it are new."""
    content = to_body(listing)
    told = McpUpdated(
        server=target.name,
        status="ready",
        tools=[tool.public_name for tool in listing.tools],
        error=LEFT_OUT.format(name=target.name, tools="; ".join(listing.left_out)) if listing.left_out else None,
        config=target.server.config,
        body=BodyReference(size=len(content), media_type=MEDIA_TYPE),
    )
    items = [NewEvent(payload=told, body=Body(content=content, media_type=MEDIA_TYPE))]
    if told.error is not None and (known is None or known.told.error != told.error):
        params: dict[str, str | int] = {"server": target.name, "tools": "; ".join(listing.left_out)}
        items.append(NewEvent(payload=Notice(text=told.error, code="mcp_left_out", params=params)))
    return items


def failed_refresh(target: McpTarget, listing: Listing, known: KnownMcpServer | None) -> list[NewEvent]:
    """The event for a server that could not be queried again: the attempt is recorded, and the tools offered and those
    left out stay as they were."""
    content = to_body(listing)
    told = McpUpdated(
        server=target.name,
        status="failed",
        tools=[tool.public_name for tool in listing.tools],
        error=known.told.error if known is not None else None,
        config=target.server.config,
        body=BodyReference(size=len(content), media_type=MEDIA_TYPE),
    )
    return [NewEvent(payload=told, body=Body(content=content, media_type=MEDIA_TYPE))]


def notice_of_too_many(listed: Sequence[str]) -> Notice:
    """The notice that there are more tools than an agent may have; those after the first `MAX_TOOLS` are left out."""
    names, count = listed[MAX_TOOLS:], len(listed)
    more = len(names) - _MAX_NAMED
    tools = ", ".join(names[:_MAX_NAMED]) + (f", {more} more" if more > 0 else "")
    text = TOO_MANY.format(count=count, most=MAX_TOOLS, tools=tools)
    params: dict[str, str | int] = {"count": count, "most": MAX_TOOLS, "tools": tools}
    return Notice(text=text, code="mcp_too_many", params=params)


def notice_of_too_large(names: Sequence[str], context_window: int) -> Notice:
    """The notice that these tools don't fit in the model's context."""
    more = len(names) - _MAX_NAMED
    tools = ", ".join(names[:_MAX_NAMED]) + (f", {more} more" if more > 0 else "")
    params: dict[str, str | int] = {"tokens": context_window, "tools": tools}
    return Notice(text=TOO_LARGE.format(tokens=context_window, tools=tools), code="mcp_too_large", params=params)


def is_other(items: Sequence[NewEvent], known: KnownMcpServer | None) -> bool:
    """Whether these events list other tools than those known before."""
    told = [one.payload.tools for one in items if isinstance(one.payload, McpUpdated)]
    return any(known is None or [*tools] != [*known.told.tools] for tools in told)


def failed(target: McpTarget, error: McpServerError, known: KnownMcpServer | None) -> list[NewEvent]:
    """The events for a server that could not be queried, with a notice for people only if the reason is new."""
    reason = str(error)
    told = McpUpdated(server=target.name, status="failed", error=reason, config=target.server.config)
    items = [NewEvent(payload=told)]
    if known is None or known.told.error != reason:
        items.append(NewEvent(payload=notice_of_failure(target, error)))
    return items


def notice_of_failure(target: McpTarget, error: McpServerError) -> Notice:
    """The notice, for people, that a server can't be used."""
    text = FAILED.format(name=target.name, reason=error)
    params: dict[str, str | int] = {"server": target.name, "reason": str(error), "cause": error.cause}
    code = f"mcp_{error.cause}" if error.cause in ("needs_sign_in", "needs_scope") else "mcp_failed"
    return Notice(text=text, code=code, params=params)
