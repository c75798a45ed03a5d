"""Which text a live event belongs to, and which stored event ends it."""

from __future__ import annotations

from backend_api.agent.events import (
    AgentDelta,
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
AGENT_MESSAGE, AGENT_THINKING = "a:", "b:"
"""Of an agent beside the main one; its id stands behind that of the text."""
TextPayload = MessageDelta | ThinkingDelta | AgentDelta | ToolOutput


def agent_text(kind: str, message_id: str, agent_id: str) -> TextKey:
    """The text of an agent beside the main one: an `AGENT_MESSAGE` or an `AGENT_THINKING`."""
    return f"{kind}{message_id} {agent_id}"


def writer_of(key: TextKey) -> str:
    """Who writes it: the texts of one writer are told in order. A call's output stands for itself, and the main agent
    is the empty one."""
    match key[:2]:
        case "a:" | "b:":
            return key.partition(" ")[2]
        case "o:":
            return key
        case _:
            return ""


def text_key(payload: Payload) -> TextKey | None:
    """The text a live payload adds to; None for one that adds to no text."""
    match payload:
        case MessageDelta(message_id=identifier):
            return MESSAGE + identifier
        case ThinkingDelta(message_id=identifier):
            return THINKING + identifier
        case AgentDelta(agent_id=str(agent_id), message_id=identifier, kind=kind):
            return agent_text(AGENT_MESSAGE if kind == "text" else AGENT_THINKING, identifier, agent_id)
        case ToolOutput(call_id=identifier):
            return OUTPUT + identifier
        case _:
            return None


def ended_text(payload: Payload) -> TextKey | None:
    """The text a stored payload contains in full, so that nothing live may follow for it."""
    match payload:
        case MessageCompleted(message_id=identifier, agent_id=str(agent_id)):
            return agent_text(AGENT_MESSAGE, identifier, agent_id)
        case ThinkingCompleted(message_id=identifier, agent_id=str(agent_id)):
            return agent_text(AGENT_THINKING, identifier, agent_id)
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
    """Up to which message of the user the model had read when it wrote this; 0 where not known, of a call's
    output, and of other agents, which read no message of the user."""
    return 0 if isinstance(payload, ToolOutput | AgentDelta) else payload.seen_seq


def live_text(key: TextKey, offset: int, text: str, seen_seq: int) -> TextPayload:
    """A piece of a text that is being written."""
    kind, identifier = key[:2], key[2:]
    if kind == MESSAGE:
        return MessageDelta(message_id=identifier, offset=offset, text=text, seen_seq=seen_seq)
    if kind == THINKING:
        return ThinkingDelta(message_id=identifier, offset=offset, text=text, seen_seq=seen_seq)
    if kind in (AGENT_MESSAGE, AGENT_THINKING):
        message_id, _, agent_id = identifier.partition(" ")
        said = "text" if kind == AGENT_MESSAGE else "thinking"
        return AgentDelta(agent_id=agent_id, message_id=message_id, kind=said, offset=offset, text=text)
    return ToolOutput(call_id=identifier, offset=offset, text=text)
