"""The state of a session."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from backend_api.identity.http.caller import ONE_PLACE, CurrentCaller
from backend_api.kit.http.ports import port
from backend_api.kit.ids import SessionId
from backend_api.session_state.application import MESSAGES, ReadState
from backend_api.session_state.http.state_schemas import StateBody

router = APIRouter(prefix="/api/sessions", tags=["sessions"])


@router.get("/{session_id}/state", dependencies=[ONE_PLACE])
async def get_state(
    session_id: str,
    caller: CurrentCaller,
    read_state: Annotated[ReadState, port("read_state")],
    messages: Annotated[int, Query(ge=0, le=MESSAGES)] = MESSAGES,
) -> StateBody:
    """Return what a page needs to show the session, up to `last_seq`, with at most `messages` of its last ones."""
    return StateBody.of(await read_state(SessionId(session_id), caller.user.id, messages=messages))
