"""Routes for readers of a link, without an account. The token is sent as a header, not in the URL, so it is in no
log."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from starlette.responses import StreamingResponse

from backend_api.conversations.application.event_json import dump, dump_bytes
from backend_api.conversations.application.stream_slots import StreamSlots
from backend_api.conversations.domain.entity import Session
from backend_api.conversations.http.event_stream import EventStream
from backend_api.identity.application.answer_slots import AnswerSlots
from backend_api.identity.application.connection_auth import ConnectionAuth
from backend_api.identity.http.caller import address_of
from backend_api.kit.http.examples import with_example
from backend_api.kit.http.ports import Options, port
from backend_api.kit.http.schemas import AnswerBody, RequestBody, Time
from backend_api.kit.ids import UserId
from backend_api.sandboxes.domain.content import HEAD_BYTES
from backend_api.sandboxes.http.user_content import content_headers
from backend_api.sharing.application.open_share import OpenShare, Shown
from backend_api.sharing.application.read_shared import ReadShared
from backend_api.sharing.domain.entity import PARTS, Mode, Part, Share, ShareId
from backend_api.sharing.domain.errors import ShareNotFoundError
from backend_api.sharing.domain.shown import Fields

router = APIRouter(prefix="/api/shared", tags=["sharing"])

_PRIVATE = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex"}
_MAX_SEQ = 2**53
_ERRORS: dict[int | str, dict[str, Any]] = {401: {}, 404: {}, 410: {}}
_BYTES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"*/*": {"schema": {"type": "string", "format": "binary"}}}}
}
ShareToken = Annotated[
    str, Header(alias="X-Share-Token", max_length=200, description="What follows the hash in the link's address.")
]
ShareAccess = Annotated[
    str,
    Header(alias="X-Share-Access", max_length=200, description="Of POST /api/shared/{share_id}/unlock, where needed."),
]


@dataclass(frozen=True, slots=True)
class _Opened:
    share: Share
    session: Session


async def _open(
    share_id: str,
    open_share: Annotated[OpenShare, port("open_share")],
    token: ShareToken = "",
    access: ShareAccess = "",
) -> _Opened:
    return _Opened(*await open_share(ShareId(share_id), Shown(token=token, access=access)))


async def _place(
    opened: Annotated[_Opened, Depends(_open)], answer_slots: Annotated[AnswerSlots, port("answer_slots")]
) -> AsyncGenerator[None]:
    """Limit the long answers of one link's readers at once, apart from those of its owner."""
    async with answer_slots.claim_slot(UserId(f"share:{opened.share.id}")):
        yield


_ONE_PLACE = Depends(_place, scope="request")
_OpenedShare = Annotated[_Opened, Depends(_open)]
_Read = Annotated[ReadShared, port("read_shared")]


class SharedFileBody(AnswerBody):
    path: str
    size: int


class SharedBody(AnswerBody):
    """`is_running`: the agent is at work in a conversation that is shared live. `last_seq` is the number of the last
    visible event."""

    title: str
    mode: Mode
    include: list[Part]
    created_at: Time
    expires_at: Time | None
    is_running: bool
    last_seq: int
    files: list[SharedFileBody]


class UnlockBody(RequestBody):
    passphrase: str


class UnlockedBody(AnswerBody):
    """The pass to send as `X-Share-Access` until `expires_at`."""

    access: str
    expires_at: Time


@router.get("/{share_id}", responses=_ERRORS)
async def read_share(opened: _OpenedShare, read: _Read, response: Response) -> SharedBody:
    """Return what a link shares: title, included parts and files."""
    response.headers.update(_PRIVATE)
    share, session = opened.share, opened.session
    return SharedBody(
        title=await read.title(share, session),
        mode=share.mode,
        include=[part for part in PARTS if part in share.include],
        created_at=share.created_at,
        expires_at=share.expires_at,
        is_running=share.mode == "live" and session.status.value != "idle",
        last_seq=read.last_seq(share, session),
        files=[SharedFileBody.model_validate(one) for one in share.files],
    )


@router.post(
    "/{share_id}/unlock", responses=_ERRORS | {403: {}}, openapi_extra=with_example({"passphrase": "green tea at noon"})
)
async def unlock_share(
    share_id: str,
    body: UnlockBody,
    request: Request,
    response: Response,
    open_share: Annotated[OpenShare, port("open_share")],
    token: ShareToken = "",
) -> UnlockedBody:
    """Unlock a link with its passphrase."""
    response.headers.update(_PRIVATE)
    access, until = await open_share.unlock(ShareId(share_id), token, body.passphrase, address_of(request))
    return UnlockedBody(access=access, expires_at=datetime.fromtimestamp(until, UTC))


@router.get(
    "/{share_id}/events",
    dependencies=[_ONE_PLACE],
    response_class=Response,
    responses=_ERRORS | {200: {"content": {"application/json": {"schema": {"type": "object"}}}}},
)
async def shared_events(
    opened: _OpenedShare,
    read: _Read,
    after: Annotated[int, Query(ge=0, le=_MAX_SEQ)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 500,
) -> Response:
    """Return a page of visible events: `items`, the number `last_seq` up to which events were examined, and
    `has_more`."""
    page = await read.page(opened.share, opened.session, after=after, limit=limit)
    body = dump({"items": page.items, "last_seq": page.last_seq, "has_more": page.has_more})
    return Response(body, media_type="application/json", headers=_PRIVATE)


@router.get(
    "/{share_id}/stream",
    response_class=Response,
    responses=_ERRORS | {200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def shared_stream(
    opened: _OpenedShare,
    read: _Read,
    options: Options,
    stream_slots: Annotated[StreamSlots, port("stream_slots")],
    after: Annotated[int, Query(ge=0, le=_MAX_SEQ)] = 0,
) -> Response:
    """Stream new events of a conversation that is shared live, after a number. The stream ends when the link does."""
    share, session = opened.share, opened.session
    if share.mode != "live":
        return Response(status_code=204, headers=_PRIVATE)
    followed = read.stream(share, session, after)
    answer = EventStream(followed, _frame, slot=_reading(share, read, stream_slots), heartbeat_s=options.heartbeat_s)
    answer.headers.update(_PRIVATE)
    return answer


@router.get(
    "/{share_id}/events/{seq}/body", dependencies=[_ONE_PLACE], response_class=Response, responses=_ERRORS | _BYTES
)
async def shared_body(opened: _OpenedShare, read: _Read, seq: int) -> Response:
    """Return the long output of a tool, if tools are shared."""
    body = await read.body(opened.share, opened.session, seq if 0 < seq < _MAX_SEQ else 0)
    return Response(body.content, headers=content_headers(f"body-{seq}", body.content[:HEAD_BYTES]) | _PRIVATE)


@router.get("/{share_id}/files", response_class=Response, responses=_ERRORS | _BYTES)
async def shared_files(opened: _OpenedShare, read: _Read) -> Response:
    """Download the shared files as a zip archive."""
    share = opened.share
    if not share.archive_size:
        raise ShareNotFoundError
    headers = content_headers("files.zip", b"PK\x03\x04") | {"Content-Length": str(share.archive_size)} | _PRIVATE
    return StreamingResponse(read.archive(share), headers=headers)


@contextmanager
def _reading(share: Share, read: ReadShared, stream_slots: StreamSlots) -> Generator[ConnectionAuth]:
    with read.readers.place(share, read.clock) as auth, stream_slots.ended_with_gateway(auth):
        yield auth


def _frame(fields: Fields) -> bytes:
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (fields["seq"], fields["type"].encode(), dump_bytes(fields))
