"""The stream of a session: live, paged, and the long bodies beside it."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Header, Query, Response

from backend_api.application.conversation.event_json import dump, event_fields, format_time
from backend_api.domain.conversation.entity import Session, SessionId
from backend_api.interfaces.http.caller import CurrentCaller
from backend_api.interfaces.http.event_stream import EventStream, event_frame
from backend_api.interfaces.http.use_cases import Calls, Options
from backend_api.interfaces.http.user_content import content_headers

router = APIRouter(prefix="/api", tags=["events"])

_MAX_SEQ = 2**53


@router.get("/sessions/{session_id}/events", response_class=Response)
async def events(
    session_id: str,
    caller: CurrentCaller,
    calls: Calls,
    options: Options,
    after: Annotated[int | None, Query(ge=0, le=_MAX_SEQ)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 500,
    format: Annotated[Literal["sse", "json"], Query()] = "sse",  # noqa: A002 -- the name on the wire
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """Follow from `Last-Event-ID` or `after` on. With `format=json` one page of what is stored."""
    session = await calls.sessions.get(SessionId(session_id), caller.user.id)
    start = after or 0
    if last_event_id is not None and last_event_id.isdecimal() and len(last_event_id) < 16:
        start = int(last_event_id)
    if format == "sse":
        followed = calls.follow_events(session.id, caller.user.id, start)
        return EventStream(followed, event_frame, heartbeat_s=options.heartbeat_s)
    found = await calls.log.read(session.id, after=start, limit=limit + 1)
    items = [event_fields(event) for event in found[:limit]]
    last_seq = max([session.last_seq, *(event.seq or 0 for event in found)])
    body = dump({"items": items, "last_seq": last_seq, "has_more": len(found) > limit})
    return Response(body, media_type="application/json", headers={"Cache-Control": "no-store"})


@router.get("/sessions/{session_id}/events/{seq}/body", response_class=Response)
async def event_body(session_id: str, seq: int, caller: CurrentCaller, calls: Calls) -> Response:
    """The whole of something long an event refers to."""
    session = await calls.sessions.get(SessionId(session_id), caller.user.id)
    body = await calls.log.body(session.id, seq if 0 < seq < _MAX_SEQ else 0)
    return Response(body.content, headers=content_headers(f"body-{seq}", body.media_type, inline=True))


@router.get("/events", response_class=Response)
async def feed(caller: CurrentCaller, calls: Calls, options: Options) -> Response:
    """Titles and states of all own sessions as they change."""
    return EventStream(calls.follow_sessions(caller.user.id), _session_frame, heartbeat_s=options.heartbeat_s)


def _session_frame(session: Session) -> bytes:
    fields = {
        "seq": None,
        "type": "session.updated",
        "at": format_time(session.updated_at),
        "session_id": session.id,
        "run_id": None,
        "title": session.title,
        "status": session.status.value,
        "model": session.model,
        "options": None,
    }
    return f"event: session.updated\ndata: {dump(fields)}\n\n".encode()
