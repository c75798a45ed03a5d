"""Tickets for the screen of a session's computer."""

from __future__ import annotations

from fastapi import APIRouter, Request

from backend_api.domain.conversation.entity import SessionId
from backend_api.domain.sandbox.tickets import ScreenMode
from backend_api.interfaces.http.caller import CurrentCaller
from backend_api.interfaces.http.schemas import AnswerBody, RequestBody, Time
from backend_api.interfaces.http.use_cases import Calls

router = APIRouter(prefix="/api/sessions/{session_id}/vnc", tags=["computer"])


class TicketBody(RequestBody):
    mode: ScreenMode = "view"


class IssuedTicketBody(AnswerBody):
    ticket: str
    url: str
    expires_at: Time


@router.post("/ticket", status_code=201)
async def issue_ticket(
    session_id: str, caller: CurrentCaller, calls: Calls, request: Request, body: TicketBody | None = None
) -> IssuedTicketBody:
    """A one-use ticket to watch (view) or use (control) the screen; it holds 60 s."""
    mode = body.mode if body else "view"
    issued = await calls.issue_ticket(SessionId(session_id), caller.user.id, mode)
    prefix = request.scope.get("root_path", "")
    url = f"{prefix}/api/sessions/{session_id}/vnc?ticket={issued.secret}"
    return IssuedTicketBody(ticket=issued.secret, url=url, expires_at=issued.expires_at)
