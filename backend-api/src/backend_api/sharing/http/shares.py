"""Links to own conversations: created, listed and revoked by their owner."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import Field, field_validator

from backend_api.conversations.ports import SessionRepository
from backend_api.identity.http.caller import CurrentCaller
from backend_api.kit.http.examples import with_example
from backend_api.kit.http.ports import Options, port
from backend_api.kit.http.schemas import AnswerBody, RequestBody, Time
from backend_api.kit.http.server_origin import server_origin
from backend_api.kit.ids import SessionId
from backend_api.sharing.application.make_share import MAX_PASSPHRASE, MakeShare, WantedShare
from backend_api.sharing.domain.entity import PARTS, Mode, Part, Share, ShareId
from backend_api.sharing.http.workspace import OwnerWorkspace
from backend_api.sharing.ports import Shares

router = APIRouter(prefix="/api", tags=["sharing"])

_MODE = "`snapshot`: nothing that is said after now. `live`: also what is said later, as soon as it is whole."
_INCLUDE = (
    "What goes along beside what was written: `files` of the workspace, copied as they are now, `tools` (inputs and "
    "outputs), `thinking`. What is left out is never sent."
)


class MakeShareBody(RequestBody):
    mode: Mode = Field(description=_MODE)
    include: list[Part] = Field(default_factory=list[Part], max_length=3, description=_INCLUDE)
    expires_at: datetime | None = Field(default=None, description="Null: it holds until it is revoked.")
    passphrase: str | None = Field(default=None, max_length=MAX_PASSPHRASE * 4, description="Null: none is asked for.")

    @field_validator("expires_at", mode="before")
    @classmethod
    def _read_time(cls, value: object) -> object:
        """Parse a time, as JSON has no times of its own."""
        return datetime.fromisoformat(value) if isinstance(value, str) else value


class ShareBody(AnswerBody):
    """`title` is the conversation's title at the creation of the link; `file_count` and `file_bytes` are of the shared
    copies."""

    id: str
    session_id: str
    mode: Mode
    include: list[Part]
    title: str
    has_passphrase: bool
    created_at: Time
    expires_at: Time | None
    is_expired: bool
    file_count: int
    file_bytes: int

    @classmethod
    def of(cls, share: Share, now: float) -> ShareBody:
        """The answer for a link."""
        return cls.model_validate(_fields(share, now))


class MadeShareBody(ShareBody):
    """`url` is returned only this once: only a digest of its token is stored. It begins with a slash if the server does
    not know its own address."""

    url: str


class ShareListBody(AnswerBody):
    """Links, newest first."""

    items: list[ShareBody]


def _fields(share: Share, now: float) -> dict[str, object]:
    return {
        "id": share.id,
        "session_id": share.session_id,
        "mode": share.mode,
        "include": [part for part in PARTS if part in share.include],
        "title": share.title,
        "has_passphrase": share.has_passphrase,
        "created_at": share.created_at,
        "expires_at": share.expires_at,
        "is_expired": share.is_over(now),
        "file_count": len(share.files),
        "file_bytes": share.archive_size,
    }


@router.post(
    "/sessions/{session_id}/shares",
    status_code=201,
    openapi_extra=with_example({"mode": "snapshot", "include": ["files"]}),
)
async def make_share(
    session_id: str,
    body: MakeShareBody,
    request: Request,
    response: Response,
    caller: CurrentCaller,
    make_share: Annotated[MakeShare, port("make_share")],
    workspace: OwnerWorkspace,
    options: Options,
) -> MadeShareBody:
    """Make a link by which others read this conversation without an account."""
    wanted = WantedShare(
        mode=body.mode, include=frozenset(body.include), expires_at=body.expires_at, passphrase=body.passphrase
    )
    share, token = await make_share(SessionId(session_id), caller.user.id, wanted, workspace)
    response.headers["Cache-Control"] = "no-store"
    origin = options.public_url or server_origin(request.scope, options)
    # The part after the hash is sent to no server: it is in no log and in no Referer.
    return MadeShareBody.model_validate(
        _fields(share, make_share.clock()) | {"url": f"{origin}/share/{share.id}#{token}"}
    )


@router.get("/sessions/{session_id}/shares")
async def list_shares_of_session(
    session_id: str,
    caller: CurrentCaller,
    sessions: Annotated[SessionRepository, port("sessions")],
    shares: Annotated[Shares, port("shares")],
    make_share: Annotated[MakeShare, port("make_share")],
) -> ShareListBody:
    """List the links to one conversation."""
    session = await sessions.get(SessionId(session_id), caller.user.id)
    found = await shares.of_user(caller.user.id, session.id)
    return ShareListBody(items=[ShareBody.of(one, make_share.clock()) for one in found])


@router.get("/shares")
async def list_shares(
    caller: CurrentCaller,
    shares: Annotated[Shares, port("shares")],
    make_share: Annotated[MakeShare, port("make_share")],
) -> ShareListBody:
    """List all links that the caller made."""
    found = await shares.of_user(caller.user.id)
    return ShareListBody(items=[ShareBody.of(one, make_share.clock()) for one in found])


@router.delete("/shares/{share_id}", status_code=204, responses={404: {}})
async def revoke_share(share_id: str, caller: CurrentCaller, shares: Annotated[Shares, port("shares")]) -> Response:
    """Revoke a link: nobody can read by it any more, and open streams end within a second."""
    await shares.revoke(ShareId(share_id), caller.user.id)
    return Response(status_code=204)
