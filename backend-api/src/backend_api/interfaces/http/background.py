"""Commands in the background of a session's sandbox: what runs and ran, what it wrote, and its end."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter

from backend_api.domain.conversation.background import BackgroundCommand
from backend_api.domain.conversation.entity import SessionId
from backend_api.interfaces.http.caller import CurrentCaller
from backend_api.interfaces.http.schemas import AnswerBody, Time
from backend_api.interfaces.http.use_cases import Calls

router = APIRouter(prefix="/api/sessions/{session_id}/background", tags=["computer"])


class BackgroundCommandBody(AnswerBody):
    """`state` is running, or how it ended: by itself (ended), at its time-out (timed_out), by somebody (stopped), or
    with its computer (lost). `exit_code` is null unless it ended by itself."""

    background_id: str
    call_id: str
    command: str
    state: Literal["running", "ended", "timed_out", "stopped", "lost"]
    exit_code: int | None
    preview: str
    timeout_s: int
    began_at: Time
    ended_at: Time | None

    @classmethod
    def of(cls, command: BackgroundCommand) -> BackgroundCommandBody:
        return cls(
            background_id=command.id,
            call_id=command.call_id,
            command=command.command,
            state=command.state or "running",
            exit_code=command.exit_code,
            preview=command.preview,
            timeout_s=command.timeout_s,
            began_at=command.began_at,
            ended_at=command.ended_at,
        )


class BackgroundCommandsBody(AnswerBody):
    """The running ones first, then those that ended last."""

    items: list[BackgroundCommandBody]


class BackgroundOutputBody(BackgroundCommandBody):
    """With what it wrote so far; of one that has ended, at most 2,000 characters: all of it is the body of its event
    `background.finished`."""

    output: str


@router.get("")
async def list_background(session_id: str, caller: CurrentCaller, calls: Calls) -> BackgroundCommandsBody:
    """List the background commands of the session."""
    commands = await calls.read_commands.all(SessionId(session_id), caller.user.id)
    return BackgroundCommandsBody(items=[BackgroundCommandBody.of(one) for one in commands])


@router.get("/{background_id}")
async def get_background(
    session_id: str, background_id: str, caller: CurrentCaller, calls: Calls
) -> BackgroundOutputBody:
    """Return one background command with its output so far."""
    command, output = await calls.read_commands.one(SessionId(session_id), caller.user.id, background_id)
    return BackgroundOutputBody(**BackgroundCommandBody.of(command).model_dump(), output=output)


@router.post("/{background_id}/stop")
async def stop_background(
    session_id: str, background_id: str, caller: CurrentCaller, calls: Calls
) -> BackgroundCommandBody:
    """End a background command with all it started; one that has ended stays as it is."""
    return BackgroundCommandBody.of(await calls.stop_commands.one(SessionId(session_id), caller.user.id, background_id))
