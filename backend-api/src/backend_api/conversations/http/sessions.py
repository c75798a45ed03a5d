"""Sessions: create, list, read, change, delete."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from backend_api.conversations.application.create_session import CreateSession
from backend_api.conversations.application.delete_session import DeleteSession
from backend_api.conversations.application.mark_read import MarkRead
from backend_api.conversations.application.update_session import UpdateSession
from backend_api.conversations.http.session_schemas import (
    CreateSessionBody,
    ReadBody,
    SessionBody,
    SessionPageBody,
    UpdateSessionBody,
)
from backend_api.conversations.ports import SessionRepository
from backend_api.identity.http.caller import ONE_PLACE, CurrentCaller
from backend_api.kit.http.examples import with_example
from backend_api.kit.http.ports import port
from backend_api.kit.ids import SessionId

router = APIRouter(prefix="/api/sessions", tags=["sessions"])


@router.post(
    "",
    status_code=201,
    openapi_extra=with_example({"title": "Quarterly report", "preset": "research", "options": {"max_turns": 50}}),
)
async def create_session(
    caller: CurrentCaller,
    create_session: Annotated[CreateSession, port("create_session")],
    body: CreateSessionBody | None = None,
) -> SessionBody:
    """Create a session."""
    body = body or CreateSessionBody()
    session = await create_session(
        caller.user.id, body.title, body.model, body.options.chosen(), body.preset, target_id=body.target_id
    )
    return SessionBody.of(session)


@router.get("", dependencies=[ONE_PLACE])
async def list_sessions(
    caller: CurrentCaller,
    sessions: Annotated[SessionRepository, port("sessions")],
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
    q: Annotated[str | None, Query(max_length=200, pattern=r"^[^\x00]*$")] = None,
    folder_id: Annotated[str | None, Query(max_length=200, pattern=r"^[^\x00]*$")] = None,
    archived: bool | None = None,
) -> SessionPageBody:
    """List the caller's sessions, newest first: all, those of a folder, archived ones or the others."""
    page = await sessions.page(
        caller.user.id, limit=limit, cursor=cursor, query=q, folder_id=folder_id, archived=archived
    )
    return SessionPageBody.model_validate(page)


@router.get("/{session_id}")
async def get_session(
    session_id: str, caller: CurrentCaller, sessions: Annotated[SessionRepository, port("sessions")]
) -> SessionBody:
    """Return one session."""
    return SessionBody.of(await sessions.get(SessionId(session_id), caller.user.id))


@router.patch("/{session_id}", openapi_extra=with_example({"title": "Quarterly report", "pinned": True}))
async def update_session(
    session_id: str,
    body: UpdateSessionBody,
    caller: CurrentCaller,
    update_session: Annotated[UpdateSession, port("update_session")],
) -> SessionBody:
    """Change the title, model or options of a session, or pin or archive it."""
    return SessionBody.of(await update_session(SessionId(session_id), caller.user.id, body.changes()))


@router.delete("/{session_id}", status_code=204)
async def delete_session(
    session_id: str, caller: CurrentCaller, delete_session: Annotated[DeleteSession, port("delete_session")]
) -> Response:
    """Delete a session with its sandbox, files and events."""
    await delete_session(SessionId(session_id), caller.user.id)
    return Response(status_code=204)


@router.post("/{session_id}/read", openapi_extra=with_example({"seq": 42}))
async def mark_read(
    session_id: str, body: ReadBody, caller: CurrentCaller, mark_read: Annotated[MarkRead, port("mark_read")]
) -> SessionBody:
    """Record up to which event the session was read; `unread` counts runs that ended later, except stopped ones."""
    return SessionBody.of(await mark_read(SessionId(session_id), caller.user.id, body.seq))
