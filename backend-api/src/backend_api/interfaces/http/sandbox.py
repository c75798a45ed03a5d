"""The sandbox of a session: its state, starting it, keeping it, and tickets for its screen."""

from __future__ import annotations

from fastapi import APIRouter, Request

from backend_api.domain.conversation.entity import SessionId
from backend_api.domain.sandbox.tickets import ScreenMode
from backend_api.interfaces.http.caller import CurrentCaller
from backend_api.interfaces.http.schemas import AnswerBody, RequestBody, Time
from backend_api.interfaces.http.state_schemas import SandboxBody
from backend_api.interfaces.http.use_cases import Calls

router = APIRouter(prefix="/api/sessions/{session_id}", tags=["computer"])


class TicketBody(RequestBody):
    mode: ScreenMode = "view"


class IssuedTicketBody(AnswerBody):
    ticket: str
    url: str
    expires_at: Time


@router.get("/sandbox")
async def get_sandbox(session_id: str, caller: CurrentCaller, calls: Calls) -> SandboxBody:
    """Return the state of the sandbox, without starting or waking it."""
    session = await calls.sessions.get(SessionId(session_id), caller.user.id)
    return SandboxBody.of(await calls.sandboxes.status(session.id), seq=session.last_seq)


@router.post("/sandbox")
async def start_sandbox(session_id: str, caller: CurrentCaller, calls: Calls) -> SandboxBody:
    """Start or wake the sandbox and wait until it is ready. The event stream reports its progress."""
    await calls.own_sandbox(SessionId(session_id), caller.user.id)
    return await get_sandbox(session_id, caller, calls)


@router.post("/sandbox/renew")
async def renew_sandbox(session_id: str, caller: CurrentCaller, calls: Calls) -> SandboxBody:
    """Extend the life of the sandbox, as any use of it does."""
    session = await calls.sessions.get(SessionId(session_id), caller.user.id)
    return SandboxBody.of(await calls.sandboxes.renew(session.id), seq=session.last_seq)


@router.post("/vnc/ticket", status_code=201)
async def issue_ticket(
    session_id: str, caller: CurrentCaller, calls: Calls, request: Request, body: TicketBody | None = None
) -> IssuedTicketBody:
    """Issue a one-time ticket to view or control the screen. It is valid for 60 s."""
    mode = body.mode if body else "view"
    issued = await calls.issue_ticket(SessionId(session_id), caller.claims, mode)
    prefix = request.scope.get("root_path", "")
    url = f"{prefix}/api/sessions/{session_id}/vnc?ticket={issued.secret}"
    return IssuedTicketBody(ticket=issued.secret, url=url, expires_at=issued.expires_at)
