"""Which text a live event belongs to, and which stored event ends it."""

from __future__ import annotations

from backend_api.agent.events import (
    MessageCompleted,
    MessageDelta,
    Payload,
    RunFinished,
    RunStarted,
    ThinkingCompleted,
    ThinkingDelta,
    ToolCalled,
    ToolFinished,
    ToolOutput,
)

TextKey = str
"""The kind of a text and its id."""
MESSAGE, THINKING, OUTPUT = "m:", "t:", "o:"
TextPayload = MessageDelta | ThinkingDelta | ToolOutput


def text_key(payload: Payload) -> TextKey | None:
    """The text a live payload adds to; None for one that adds to no text."""
    match payload:
        case MessageDelta(message_id=identifier):
            return MESSAGE + identifier
        case ThinkingDelta(message_id=identifier):
            return THINKING + identifier
        case ToolOutput(call_id=identifier):
            return OUTPUT + identifier
        case _:
            return None


def ended_text(payload: Payload) -> TextKey | None:
    """The text a stored payload contains in full, so that nothing live may follow for it."""
    match payload:
        case MessageCompleted(message_id=identifier):
            return MESSAGE + identifier
        case ThinkingCompleted(message_id=identifier):
            return THINKING + identifier
        case ToolFinished(call_id=identifier):
            return OUTPUT + identifier
        case _:
            return None


def ends_all_texts(payload: Payload) -> bool:
    """Whether nothing that was being written goes on: the run is over, or another worker begins its answer anew."""
    return isinstance(payload, RunFinished) or (isinstance(payload, RunStarted) and payload.attempt > 1)


def started_text(payload: Payload) -> TextKey | None:
    """The text a stored payload opens again: a call may start anew under its old id after a crash."""
    return OUTPUT + payload.call_id if isinstance(payload, ToolCalled) else None


def seen_by(payload: TextPayload) -> int:
    """Up to which message of the user the model had read when it wrote this; 0 where not known, and of a call's
    output."""
    return 0 if isinstance(payload, ToolOutput) else payload.seen_seq


def live_text(key: TextKey, offset: int, text: str, seen_seq: int) -> TextPayload:
    """A piece of a text that is being written."""
    kind, identifier = key[:2], key[2:]
    if kind == MESSAGE:
        return MessageDelta(message_id=identifier, offset=offset, text=text, seen_seq=seen_seq)
    if kind == THINKING:
        return ThinkingDelta(message_id=identifier, offset=offset, text=text, seen_seq=seen_seq)
    return ToolOutput(call_id=identifier, offset=offset, text=text)
