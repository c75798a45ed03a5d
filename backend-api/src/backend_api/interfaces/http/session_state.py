"""The state of a session."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter

from backend_api.application.conversation.read_state import ReadState
from backend_api.domain.ids import SessionId
from backend_api.interfaces.http.caller import ONE_PLACE, CurrentCaller
from backend_api.interfaces.http.state_schemas import StateBody
from backend_api.kit.http import port

router = APIRouter(prefix="/api/sessions", tags=["sessions"])


@router.get("/{session_id}/state", dependencies=[ONE_PLACE])
async def get_state(
    session_id: str, caller: CurrentCaller, read_state: Annotated[ReadState, port("read_state")]
) -> StateBody:
    """Return everything a page needs to show the session, up to `last_seq`."""
    return StateBody.of(await read_state(SessionId(session_id), caller.user.id))
