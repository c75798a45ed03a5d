"""Routes for background commands of a session's sandbox: list them, read their output, and end them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter

from backend_api.background.application.read_commands import ReadCommands
from backend_api.background.application.stop_commands import StopCommands
from backend_api.background.http.background_schemas import (
    BackgroundCommandBody,
    BackgroundCommandsBody,
    BackgroundOutputBody,
)
from backend_api.identity.http.caller import CurrentCaller
from backend_api.kit.http.ports import port
from backend_api.kit.ids import SessionId

router = APIRouter(prefix="/api/sessions/{session_id}/background", tags=["computer"])


@router.get("")
async def list_background(
    session_id: str, caller: CurrentCaller, read_commands: Annotated[ReadCommands, port("read_commands")]
) -> BackgroundCommandsBody:
    """List the background commands of the session."""
    commands = await read_commands.all(SessionId(session_id), caller.user.id)
    return BackgroundCommandsBody(items=[BackgroundCommandBody.of(one) for one in commands])


@router.get("/{background_id}")
async def get_background(
    session_id: str,
    background_id: str,
    caller: CurrentCaller,
    read_commands: Annotated[ReadCommands, port("read_commands")],
) -> BackgroundOutputBody:
    """Return one background command with its output so far."""
    command, output = await read_commands.one(SessionId(session_id), caller.user.id, background_id)
    return BackgroundOutputBody(**BackgroundCommandBody.of(command).model_dump(), output=output)


@router.post("/{background_id}/stop")
async def stop_background(
    session_id: str,
    background_id: str,
    caller: CurrentCaller,
    stop_commands: Annotated[StopCommands, port("stop_commands")],
) -> BackgroundCommandBody:
    """End a background command with all it started; one that has ended is not changed."""
    return BackgroundCommandBody.of(await stop_commands.one(SessionId(session_id), caller.user.id, background_id))
