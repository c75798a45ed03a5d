"""Carries out the commands that a client sends on a session's socket."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from backend_api.agent.questions import Answers
from backend_api.conversations.application.answer_wait import AnswerWait
from backend_api.conversations.application.send_message import SendMessage
from backend_api.conversations.application.stop_run import StopRun
from backend_api.conversations.application.update_session import UpdateSession
from backend_api.conversations.http.session_frames import (
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
from backend_api.kit.http.ports import port
from backend_api.kit.ids import SessionId, UserId


@dataclass(frozen=True, slots=True)
class SocketCommands:
    """The use cases that frames of a socket call."""

    send_message: SendMessage
    stop_run: StopRun
    update_session: UpdateSession
    answer_wait: AnswerWait


async def socket_commands(
    send_message: Annotated[SendMessage, port("send_message")],
    stop_run: Annotated[StopRun, port("stop_run")],
    update_session: Annotated[UpdateSession, port("update_session")],
    answer_wait: Annotated[AnswerWait, port("answer_wait")],
) -> SocketCommands:
    """The dependency of routes that provides the commands."""
    return SocketCommands(send_message, stop_run, update_session, answer_wait)


async def carry_out(
    frame: Command, calls: SocketCommands, session_id: SessionId, user_id: UserId
) -> dict[str, Any] | None:
    """Carries out a command and returns its immediate answer, if any; further effects are seen in the events. Raises
    domain errors."""
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
    frame: MessageFrame | InterruptFrame, calls: SocketCommands, session_id: SessionId, user_id: UserId
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
