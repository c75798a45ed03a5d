"""The stream of a session, live and paged, with its long bodies."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from functools import cache
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, Query, Response
from pydantic import Field

from backend_api.conversations.application.event_json import dump, dump_bytes, event_fields
from backend_api.conversations.application.follow_events import FollowEvents
from backend_api.conversations.application.follow_sessions import FollowSessions
from backend_api.conversations.application.read_model_request import ReadModelRequest
from backend_api.conversations.application.stream_slots import StreamSlots
from backend_api.conversations.domain.entity import Session
from backend_api.conversations.http.event_schema import EVENT_SCHEMA_PATH, event_schema
from backend_api.conversations.http.event_stream import EventStream, event_frame
from backend_api.conversations.http.feed_frames import feed_frame, feed_schema
from backend_api.conversations.ports import EventLog, SessionRepository
from backend_api.identity.application.answer_slots import AnswerSlots
from backend_api.identity.http.caller import ONE_PLACE, CurrentCaller
from backend_api.kit.errors import InvalidError
from backend_api.kit.http.ports import Options, port
from backend_api.kit.http.schemas import AnswerBody
from backend_api.kit.ids import SessionId
from backend_api.sandboxes.domain.content import HEAD_BYTES
from backend_api.sandboxes.http.user_content import content_headers

router = APIRouter(prefix="/api", tags=["events"])

_MAX_SEQ = 2**53
PAGE_BYTES = 2_000_000


OnPath = Annotated[
    bool,
    Query(
        description="With `before`: only what is on the path that is shown, and what holds on every path, so that "
        "numbers are missing between."
    ),
]
After = Annotated[int | None, Query(ge=0, le=_MAX_SEQ)]
Before = Annotated[
    int | None,
    Query(
        ge=0, le=_MAX_SEQ, description="With `format=json` only, and without `after`: the number a page ends before."
    ),
]
LastEventId = Annotated[str | None, Header(max_length=32)]


_EVENTS = f"Events as `{EVENT_SCHEMA_PATH}` describes them."
STREAM = {"type": "string", "description": f"Server-sent events; the data of each is one of {EVENT_SCHEMA_PATH}."}
"""The schema of a stream of a session's events."""


class EventPageBody(AnswerBody):
    items: list[dict[str, Any]] = Field(description=_EVENTS)
    last_seq: int
    has_more: bool
    path: list[list[int]] | None = None
    """With `on_path`: the first and last number of each stretch of the shown path among the events before `path_since`.
    Null if all of them are on it."""
    path_since: int = 0


def start_of(after: int | None, last_event_id: str | None) -> int | None:
    """The number a reader continues from: the browser's header takes precedence over the query.

    Raises `InvalidError` for an invalid number, since starting from the beginning would repeat everything.
    """
    if not last_event_id:
        return after
    if not (last_event_id.isascii() and last_event_id.isdecimal()) or int(last_event_id) > _MAX_SEQ:
        raise InvalidError("Last-Event-ID must be the number of an event.", field="header.last-event-id")
    return int(last_event_id)


async def _page_place(
    answer_slots: Annotated[AnswerSlots, port("answer_slots")],
    caller: CurrentCaller,
    format: Annotated[Literal["sse", "json"], Query()] = "sse",  # noqa: A002 -- as on the wire
) -> AsyncGenerator[None]:
    """Takes a slot for a page; a stream takes one of another kind."""
    if format == "sse":
        yield
    else:
        async with answer_slots.claim_slot(caller.user.id):
            yield


@router.get(
    "/sessions/{session_id}/events",
    dependencies=[Depends(_page_place, scope="request")],
    responses={200: {"model": EventPageBody, "content": {"text/event-stream": {"schema": STREAM}}}},
    response_class=Response,
)
async def events(
    session_id: str,
    caller: CurrentCaller,
    follow_events: Annotated[FollowEvents, port("follow_events")],
    sessions: Annotated[SessionRepository, port("sessions")],
    stream_slots: Annotated[StreamSlots, port("stream_slots")],
    log: Annotated[EventLog, port("log")],
    options: Options,
    after: After = None,
    before: Before = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 500,
    format: Annotated[Literal["sse", "json"], Query()] = "sse",  # noqa: A002 -- the name on the wire
    last_event_id: LastEventId = None,
    on_path: OnPath = False,
) -> Response:
    """Follow from `Last-Event-ID` or `after` on. With `format=json` return one page of stored events: the first events
    after `after`, or the last ones before `before`, at most `limit` and about 2 MB. A `before` greater than all numbers
    returns the last events."""
    if before is not None and (after is not None or format == "sse"):
        other = "`after`" if after is not None else "a stream"
        raise InvalidError(
            f"`before` asks for a page of older events: leave it out with {other}.", field="query.before"
        )
    session = await sessions.get(SessionId(session_id), caller.user.id)
    if format == "sse":
        followed = follow_events(session.id, caller.user.id, start_of(after, last_event_id) or 0)
        slot = stream_slots.claim_slot(caller.claims, "sse")
        return EventStream(followed, event_frame, slot=slot, heartbeat_s=options.heartbeat_s)
    if before is not None and on_path:
        return await _page_of_path(session, log, before, limit)
    if before is not None:
        page = await log.read_back(session.id, before=before, limit=limit, most=PAGE_BYTES)
    else:
        page = await log.read(session.id, after=after or 0, limit=limit, most=PAGE_BYTES)
    last_seq = max([session.last_seq, *(event.seq or 0 for event in page)])
    first, last = (page[0].seq or 0, page[-1].seq or 0) if page else (1, last_seq)
    # Numbers have no holes, so the ends of a page say whether there is more, whatever bounded it.
    has_more = first > 1 if before is not None else last < last_seq
    body = dump({"items": [event_fields(event) for event in page], "last_seq": last_seq, "has_more": has_more})
    return Response(body, media_type="application/json", headers={"Cache-Control": "no-store"})


async def _page_of_path(session: Session, log: EventLog, before: int, limit: int) -> Response:
    path = await log.path(session.id)
    page = await log.read_back(session.id, before=before, limit=limit, most=PAGE_BYTES, path=path)
    first = page[0].seq or 0 if page else 1
    has_more = first > 1 and bool(await log.read_back(session.id, before=first, limit=1, path=path))
    last_seq = max([session.last_seq, *(event.seq or 0 for event in page)])
    told = {"path": [list(one) for one in path.ranges] if path.since else None, "path_since": path.since}
    items = [event_fields(event) for event in page]
    body = dump({"items": items, "last_seq": last_seq, "has_more": has_more, **told})
    return Response(body, media_type="application/json", headers={"Cache-Control": "no-store"})


@router.get(
    "/sessions/{session_id}/events/{seq}/body",
    response_class=Response,
    dependencies=[ONE_PLACE],
    responses={200: {"content": {"*/*": {"schema": {"type": "string", "format": "binary"}}}}},
)
async def event_body(
    session_id: str,
    seq: int,
    caller: CurrentCaller,
    sessions: Annotated[SessionRepository, port("sessions")],
    log: Annotated[EventLog, port("log")],
) -> Response:
    """Return the complete body of an event that shows only a part of it."""
    session = await sessions.get(SessionId(session_id), caller.user.id)
    body = await log.body(session.id, seq if 0 < seq < _MAX_SEQ else 0)
    return Response(body.content, headers=content_headers(f"body-{seq}", body.content[:HEAD_BYTES]))


@router.get(
    "/sessions/{session_id}/events/{seq}/request",
    response_class=Response,
    dependencies=[ONE_PLACE],
    responses={200: {"content": {"application/json": {"schema": {"type": "object"}}}}},
)
async def model_request(
    session_id: str,
    seq: int,
    caller: CurrentCaller,
    read_model_request: Annotated[ReadModelRequest, port("read_model_request")],
) -> Response:
    """Return the whole request that a model was sent: an `llm.request` together with all the turns before its own."""
    number = seq if 0 < seq < _MAX_SEQ else 0
    whole = await read_model_request(SessionId(session_id), caller.user.id, number)
    return Response(whole, media_type="application/json", headers={"Cache-Control": "no-store"})


@router.get(
    "/events",
    responses={200: {"content": {"text/event-stream": {"schema": feed_schema()}}}},
    response_class=Response,
)
async def feed(
    caller: CurrentCaller,
    follow_sessions: Annotated[FollowSessions, port("follow_sessions")],
    stream_slots: Annotated[StreamSlots, port("stream_slots")],
    options: Options,
    after: After = None,
    last_event_id: LastEventId = None,
) -> Response:
    """Follow the changes of all own sessions, from `Last-Event-ID` or `after` on; without either from now on."""
    followed = follow_sessions(caller.user.id, start_of(after, last_event_id))
    slot = stream_slots.claim_slot(caller.claims, "sse")
    return EventStream(followed, feed_frame, slot=slot, heartbeat_s=options.heartbeat_s)


@cache
def _event_schema() -> bytes:
    return dump_bytes(event_schema())


@router.get(
    EVENT_SCHEMA_PATH.removeprefix(router.prefix),
    response_class=Response,
    responses={200: {"content": {"application/schema+json": {"schema": {"type": "object"}}}}},
)
async def schema_of_events() -> Response:
    """Return the JSON Schema of the events of sessions."""
    return Response(_event_schema(), media_type="application/schema+json", headers={"Cache-Control": "no-cache"})
