"""Terminals of a session's sandbox: tickets, the list, and the socket of a viewer."""

from __future__ import annotations

import asyncio
import logging
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response, WebSocket, WebSocketDisconnect
from pydantic import Field, StringConstraints

from backend_api.identity.http.caller import CurrentCaller
from backend_api.kit.errors import DomainError
from backend_api.kit.http.close_codes import NOT_UNDERSTOOD, close_code
from backend_api.kit.http.examples import with_example
from backend_api.kit.http.ports import port
from backend_api.kit.http.schemas import AnswerBody, RequestBody, Time
from backend_api.kit.http.trust import trust_peer
from backend_api.kit.ids import SessionId
from backend_api.sandboxes.http.relaying import close_socket, keep_alive, relay_until_end
from backend_api.sandboxes.ports import Sandboxes
from backend_api.terminal.application import ConnectedTerminal, ConnectTerminal, IssueTerminalTicket, SessionTerminals
from backend_api.terminal.domain import MAIN
from contracts.terminals import MAX_FRAME_CHARACTERS, MAX_TYPED_BYTES, NAME

router = APIRouter(prefix="/api/sessions/{session_id}/terminal", tags=["computer"])
logger = logging.getLogger(__name__)

SEND_DEADLINE_S = 30.0
_LONGEST_NUMBER = 18
_Name = Annotated[str, Path(pattern=NAME)]


class TerminalTicketBody(RequestBody):
    terminal: Annotated[str, StringConstraints(pattern=NAME)] = Field(
        default=MAIN, description="The terminal to open; a new one where there is none of this name."
    )


class IssuedTerminalTicketBody(AnswerBody):
    ticket: str
    url: str
    expires_at: Time


class TerminalBody(AnswerBody):
    name: str
    cols: int
    rows: int
    viewers: int
    is_busy: bool = Field(description="Whether a program runs in its foreground.")


class TerminalListBody(AnswerBody):
    items: list[TerminalBody]


@router.post("/ticket", status_code=201, openapi_extra=with_example({"terminal": "main"}))
async def issue_terminal_ticket(
    session_id: str,
    caller: CurrentCaller,
    request: Request,
    issue: Annotated[IssueTerminalTicket, port("issue_terminal_ticket")],
    body: TerminalTicketBody | None = None,
) -> IssuedTerminalTicketBody:
    """Issue a one-time ticket for a terminal of the user's own. It is valid for 60 s."""
    issued = await issue(SessionId(session_id), caller.claims, body.terminal if body else MAIN)
    prefix = request.scope.get("root_path", "")
    url = f"{prefix}/api/sessions/{session_id}/terminal?ticket={issued.secret}"
    return IssuedTerminalTicketBody(ticket=issued.secret, url=url, expires_at=issued.expires_at)


@router.get("")
async def list_terminals(
    session_id: str, caller: CurrentCaller, terminals: Annotated[SessionTerminals, port("session_terminals")]
) -> TerminalListBody:
    """List the open terminals. A sandbox that does not run has none."""
    found = await terminals.list(SessionId(session_id), caller.user.id)
    return TerminalListBody(items=[TerminalBody.model_validate(one) for one in found])


@router.delete("/{name}", status_code=204)
async def close_terminal(
    session_id: str,
    name: _Name,
    caller: CurrentCaller,
    terminals: Annotated[SessionTerminals, port("session_terminals")],
) -> Response:
    """End a terminal with everything that runs in it."""
    await terminals.close(SessionId(session_id), caller.user.id, name)
    return Response(status_code=204)


@router.websocket("")
async def view_terminal(
    socket: WebSocket,
    session_id: str,
    connect: Annotated[ConnectTerminal, port("connect_terminal")],
    sandboxes: Annotated[Sandboxes, port("sandboxes")],
    ticket: str = "",
    after: str = "",
    began: str = "",
) -> None:
    """Carry bytes and frames both ways. Each side waits for the other."""
    await socket.accept()
    code = 1000
    try:
        async with connect(SessionId(session_id), ticket, after=_number(after), began=_number(began)) as connected:
            trust_peer(socket)
            code = await relay_until_end(
                _relay_to_viewer(socket, connected),
                _relay_to_terminal(socket, connected),
                keep_alive(sandboxes, session_id),
                ended=connected.auth.ended,
                shown="terminal",
            )
    except DomainError as error:
        logger.info("terminal closed", extra={"session_id": session_id, "code": error.code})
        code = close_code(error)
    except WebSocketDisconnect:
        return
    await close_socket(socket, code)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _LONGEST_NUMBER else None


async def _relay_to_viewer(socket: WebSocket, connected: ConnectedTerminal) -> None:
    async for message in connected.terminal.messages():
        async with asyncio.timeout(SEND_DEADLINE_S):
            if isinstance(message, bytes):
                await socket.send_bytes(message)
            else:
                await socket.send_text(message)


async def _relay_to_terminal(socket: WebSocket, connected: ConnectedTerminal) -> int:
    """The close code."""
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return 1000
        data: bytes | None = message.get("bytes")
        text: str = message.get("text") or ""
        if len(data or b"") > MAX_TYPED_BYTES or len(text) > MAX_FRAME_CHARACTERS:
            return NOT_UNDERSTOOD
        async with asyncio.timeout(SEND_DEADLINE_S):
            await connected.terminal.send(text if data is None else data)
