"""Carry out what a client says on a session's socket."""

from __future__ import annotations

from typing import Any

from backend_api.domain.agent.questions import Answers
from backend_api.domain.conversation.entity import SessionId
from backend_api.domain.identity.entity import UserId
from backend_api.interfaces.http.use_cases import UseCases
from backend_api.interfaces.ws.session_frames import (
    AnswerFrame,
    ApprovalFrame,
    CancelFrame,
    Command,
    InterruptFrame,
    MessageFrame,
    OptionsFrame,
    PingFrame,
    PlanFrame,
)


async def carry_out(frame: Command, calls: UseCases, session_id: SessionId, user_id: UserId) -> dict[str, Any] | None:
    """What is answered at once, if anything; the rest is seen in the events. Raises domain errors."""
    match frame:
        case MessageFrame() | InterruptFrame():
            return await _send_message(frame, calls, session_id, user_id)
        case CancelFrame():
            return {"type": "accepted", "frame": "cancel", "run_id": await calls.stop_run(session_id, user_id)}
        case OptionsFrame():
            await calls.update_session(session_id, user_id, frame.changes())
            return None
        case ApprovalFrame():
            await calls.answer_wait(session_id, user_id, frame.approval_id, frame.decided())
            return None
        case PlanFrame():
            await calls.answer_wait(session_id, user_id, frame.plan_id, frame.decided())
            return None
        case AnswerFrame():
            await calls.answer_wait(session_id, user_id, frame.question_id, Answers(frame.answers))
            return None
        case PingFrame():
            return {"type": "pong"}


async def _send_message(
    frame: MessageFrame | InterruptFrame, calls: UseCases, session_id: SessionId, user_id: UserId
) -> dict[str, Any]:
    said = frame.message()
    accepted = await calls.send_message(session_id, user_id, said)
    return {
        "type": "accepted",
        "frame": frame.type,
        "client_message_id": said.client_message_id,
        "message_id": accepted.message_id,
        "run_id": accepted.run_id,
        "seq": accepted.seq,
        "duplicate": accepted.duplicate,
    }
