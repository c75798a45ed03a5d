"""The text a live event belongs to, and the stored event that ends it."""

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
"""A text's kind and id."""
MESSAGE, THINKING, OUTPUT = "m:", "t:", "o:"
AGENT_MESSAGE, AGENT_THINKING = "a:", "b:"
"""The texts of agents other than the main one; the agent's id follows the text's."""
TextPayload = MessageDelta | ThinkingDelta | AgentDelta | ToolOutput


def agent_text(kind: str, message_id: str, agent_id: str) -> TextKey:
    """The key of another agent's text: an `AGENT_MESSAGE` or an `AGENT_THINKING`."""
    return f"{kind}{message_id} {agent_id}"


def writer_of(key: TextKey) -> str:
    """The writer of a text, whose texts are sent in order. A call's output has a writer of its own, and the main
    agent's is empty."""
    match key[:2]:
        case "a:" | "b:":
            return key.partition(" ")[2]
        case "o:":
            return key
        case _:
            return ""


def text_key(payload: Payload) -> TextKey | None:
    """The text a live payload adds to, or None."""
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


def completed_text(payload: Payload) -> TextKey | None:
    """The text a stored payload completes, so that nothing live may follow for it."""
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
    """Whether all live texts end: the run is over, or another worker starts its answer again."""
    return isinstance(payload, RunFinished) or (isinstance(payload, RunStarted) and payload.attempt > 1)


def started_text(payload: Payload) -> TextKey | None:
    """The text a stored payload reopens: a call may start again under its id after a crash."""
    return OUTPUT + payload.call_id if isinstance(payload, ToolCalled) else None


def last_read_seq(payload: TextPayload) -> int:
    """The last user message the model had read when it wrote this; 0 if unknown, for a call's output, and for other
    agents, which read no user messages."""
    return 0 if isinstance(payload, ToolOutput | AgentDelta) else payload.seen_seq


def live_text(key: TextKey, offset: int, text: str, seen_seq: int) -> TextPayload:
    """A piece of a live text."""
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
