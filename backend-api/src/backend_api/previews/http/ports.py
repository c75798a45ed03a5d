"""Ports of a session's sandbox that are open to its user's browser."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import Field

from backend_api.conversations.ports import SessionRepository
from backend_api.identity.http.caller import SESSION_CHANGE, CurrentCaller
from backend_api.kit.http.examples import with_example
from backend_api.kit.http.ports import Options, port
from backend_api.kit.http.schemas import AnswerBody, RequestBody, Time
from backend_api.kit.ids import SessionId
from backend_api.previews.application.issue_address import IssueAddress
from backend_api.previews.application.open_port import ClosePort, OpenPort
from backend_api.previews.domain.entity import FIRST_PORT, LAST_PORT, MAX_LABEL_CHARACTERS, PortId
from backend_api.previews.http.port_schemas import OpenedPortBody
from backend_api.previews.http.preview_hosts import preview_address
from backend_api.previews.ports import OpenedPorts

router = APIRouter(prefix="/api/sessions/{session_id}/ports", tags=["computer"])


class OpenPortBody(RequestBody):
    port: int = Field(description=f"{FIRST_PORT} to {LAST_PORT}, but for those of the computer's own services.")
    label: str = Field(default="", max_length=MAX_LABEL_CHARACTERS)


class OpenedPortsBody(AnswerBody):
    ports: list[OpenedPortBody]


class PortAddressBody(AnswerBody):
    url: str
    expires_at: Time


@router.get("")
async def list_ports(
    session_id: str,
    caller: CurrentCaller,
    sessions: Annotated[SessionRepository, port("sessions")],
    opened_ports: Annotated[OpenedPorts, port("opened_ports")],
) -> OpenedPortsBody:
    """List the open ports."""
    session = await sessions.get(SessionId(session_id), caller.user.id)
    opened = await opened_ports.of_session(session.id)
    return OpenedPortsBody(ports=[OpenedPortBody.model_validate(one) for one in opened])


@router.post(
    "",
    status_code=201,
    responses={200: {"model": OpenedPortBody, "description": "It was open already."}, 409: {}},
    dependencies=[SESSION_CHANGE],
    openapi_extra=with_example({"port": 3000}),
)
async def open_port(
    session_id: str,
    body: OpenPortBody,
    caller: CurrentCaller,
    open_port: Annotated[OpenPort, port("open_port")],
    response: Response,
) -> OpenedPortBody:
    """Open a port, whether an app listens there yet or not. An open port stays as it is."""
    opened, is_new = await open_port(
        SessionId(session_id), caller.user.id, body.port, label=body.label, opened_by="person"
    )
    response.status_code = 201 if is_new else 200
    return OpenedPortBody.model_validate(opened)


@router.delete("/{port_id}", status_code=204, dependencies=[SESSION_CHANGE])
async def close_port(
    session_id: str, port_id: str, caller: CurrentCaller, close_port: Annotated[ClosePort, port("close_port")]
) -> None:
    """Close a port. Its connections end."""
    await close_port(SessionId(session_id), caller.user.id, PortId(port_id))


@router.post("/{port_id}/address", responses={409: {}})
async def issue_port_address(
    session_id: str,
    port_id: str,
    caller: CurrentCaller,
    issue_address: Annotated[IssueAddress, port("issue_address")],
    request: Request,
    options: Options,
) -> PortAddressBody:
    """Issue the address that opens the port in a browser. It is valid for a minute; the access it gives, for hours."""
    issued = await issue_address(SessionId(session_id), caller.claims, PortId(port_id))
    url = preview_address(request, options, issue_address.policy.domain, port_id, issued.token)
    return PortAddressBody(url=url, expires_at=issued.expires_at)
