"""The sandbox of a session: its state, starting it, keeping it, and tickets for its screen."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import Field

from backend_api.computers.application.issue_ticket import IssueTicket
from backend_api.computers.domain import ScreenMode
from backend_api.conversations.application.session_sandbox import SessionSandbox
from backend_api.conversations.ports import SessionRepository
from backend_api.identity.http.caller import CurrentCaller
from backend_api.kit.http.examples import with_example
from backend_api.kit.http.ports import port
from backend_api.kit.http.schemas import AnswerBody, RequestBody, Time
from backend_api.kit.ids import SessionId
from backend_api.sandboxes.http.sandbox_schemas import SandboxBody
from backend_api.sandboxes.ports import Sandboxes

router = APIRouter(prefix="/api/sessions/{session_id}", tags=["computer"])


class TicketBody(RequestBody):
    mode: ScreenMode = "view"
    client: str = Field(
        default="", max_length=64, description="Who has the lease of control; without one the socket takes its own."
    )


class IssuedTicketBody(AnswerBody):
    ticket: str
    url: str
    expires_at: Time


@router.get("/sandbox")
async def get_sandbox(
    session_id: str,
    caller: CurrentCaller,
    sessions: Annotated[SessionRepository, port("sessions")],
    sandboxes: Annotated[Sandboxes, port("sandboxes")],
) -> SandboxBody:
    """Return the state of the sandbox, without starting or waking it."""
    session = await sessions.get(SessionId(session_id), caller.user.id)
    return SandboxBody.of(await sandboxes.status(session.id), seq=session.last_seq)


@router.post("/sandbox")
async def start_sandbox(
    session_id: str,
    caller: CurrentCaller,
    session_sandbox: Annotated[SessionSandbox, port("session_sandbox")],
    sessions: Annotated[SessionRepository, port("sessions")],
    sandboxes: Annotated[Sandboxes, port("sandboxes")],
) -> SandboxBody:
    """Start or wake the sandbox and wait until it is ready. The event stream reports its progress."""
    await session_sandbox(SessionId(session_id), caller.user.id)
    return await get_sandbox(session_id, caller, sessions, sandboxes)


@router.post("/sandbox/renew")
async def renew_sandbox(
    session_id: str,
    caller: CurrentCaller,
    sessions: Annotated[SessionRepository, port("sessions")],
    sandboxes: Annotated[Sandboxes, port("sandboxes")],
) -> SandboxBody:
    """Extend the life of the sandbox, as any use of it does."""
    session = await sessions.get(SessionId(session_id), caller.user.id)
    return SandboxBody.of(await sandboxes.renew(session.id), seq=session.last_seq)


@router.post("/vnc/ticket", status_code=201, openapi_extra=with_example({}))
async def issue_ticket(
    session_id: str,
    caller: CurrentCaller,
    issue_ticket: Annotated[IssueTicket, port("issue_ticket")],
    request: Request,
    body: TicketBody | None = None,
) -> IssuedTicketBody:
    """Issue a one-time ticket to view or control the screen. It is valid for 60 s."""
    mode = body.mode if body else "view"
    client = body.client if body else ""
    issued = await issue_ticket(SessionId(session_id), caller.claims, mode, client)
    prefix = request.scope.get("root_path", "")
    url = f"{prefix}/api/sessions/{session_id}/vnc?ticket={issued.secret}"
    return IssuedTicketBody(ticket=issued.secret, url=url, expires_at=issued.expires_at)
