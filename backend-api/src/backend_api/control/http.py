"""Routes for the control of a session's computer."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field, StringConstraints

from backend_api.control.application import ControlSandbox, HandBack
from backend_api.control.domain import MAX_NOTE_CHARACTERS
from backend_api.conversations.application.answer_wait import AnswerWait
from backend_api.conversations.ports import EventLog
from backend_api.identity.http.caller import SESSION_CHANGE, CurrentCaller
from backend_api.kit.http.examples import with_example
from backend_api.kit.http.ports import port
from backend_api.kit.http.schemas import AnswerBody, RequestBody, Time, Words
from backend_api.kit.ids import SessionId

router = APIRouter(prefix="/api/sessions/{session_id}/control", tags=["computer"])
Control = Annotated[ControlSandbox, port("controls")]
Client = Annotated[str, StringConstraints(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]


class TakeControlBody(RequestBody):
    client: Client = Field(description="The window or program that takes control: a random name of its own.")
    holder: Words = Field(default="", max_length=80, description="Who that is, in words; else the user's name.")
    take_over: bool = Field(default=False, description="Whether to take control from another client.")


class RenewControlBody(RequestBody):
    client: Client


class HandBackBody(RequestBody):
    client: Client | None = Field(
        default=None, description="Only the lease of this client; without one, whoever has it."
    )
    note: str | None = Field(default=None, max_length=MAX_NOTE_CHARACTERS, description="What the model reads next.")


class ControlBody(AnswerBody):
    holder: str
    client: str
    expires_at: Time


@router.get("")
async def get_control(session_id: str, caller: CurrentCaller, control: Control) -> ControlBody | None:
    """Return who controls the computer; null if nobody does."""
    lease = await control.find(SessionId(session_id), caller.user.id)
    return ControlBody.model_validate(lease) if lease else None


@router.post(
    "",
    responses={409: {}},
    dependencies=[SESSION_CHANGE],
    openapi_extra=with_example({"client": "9f2c51d0", "holder": "Anna"}),
)
async def take_control(session_id: str, body: TakeControlBody, caller: CurrentCaller, control: Control) -> ControlBody:
    """Take control for some seconds. No call of the agents starts meanwhile. 409 if another client has it."""
    holder = body.holder.strip() or caller.user.username
    lease = await control.take(SessionId(session_id), caller.user.id, body.client, holder, takes_over=body.take_over)
    return ControlBody.model_validate(lease)


@router.put("", responses={409: {}}, openapi_extra=with_example({"client": "9f2c51d0"}))
async def renew_control(
    session_id: str, body: RenewControlBody, caller: CurrentCaller, control: Control
) -> ControlBody:
    """Keep control for some seconds more. 409 if it is lost."""
    return ControlBody.model_validate(await control.renew(SessionId(session_id), caller.user.id, body.client))


@router.delete(
    "",
    status_code=204,
    responses={409: {}},
    dependencies=[SESSION_CHANGE],
    openapi_extra=with_example({"client": "9f2c51d0", "note": "I have logged in. Go on."}),
)
async def hand_back(
    session_id: str,
    caller: CurrentCaller,
    control: Control,
    log: Annotated[EventLog, port("log")],
    answer_wait: Annotated[AnswerWait, port("answer_wait")],
    body: HandBackBody | None = None,
) -> Response:
    """Hand control back. The model reads the note next, and an agent that asked for this goes on."""
    given = body or HandBackBody()
    note = (given.note or "").strip() or None
    back = HandBack(control=control, log=log, answer=answer_wait)
    await back(SessionId(session_id), caller.user.id, given.client, note)
    return Response(status_code=204)
