"""The message that the main agent is writing, and the parts of it that are not stored yet."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.agent.events import (
    ContextNote,
    ContextOpened,
    MessageCompleted,
    StoredPayload,
    ThinkingCompleted,
    ToolCalled,
)
from backend_api.agent.journal import OpenMessage
from backend_api.agent.new_events import NewEvent
from backend_api.runs.application.run_stream import RunStream


class OpenAnswer:
    """Holds the message that is being written, its preface (the notes sent to the model right before it), and the last
    texts, which are stored with the end of the run."""

    def __init__(self, live: RunStream) -> None:
        self._live = live
        self._message: OpenMessage | None = None
        self._unstored: list[StoredPayload] = []
        self._preface: list[NewEvent] = []

    def begin(self, message: OpenMessage, preface: Sequence[NewEvent]) -> None:
        """Begin the next message; `preface` is stored right before it."""
        self._preface, self._message = [*preface], message
        self._live.open_message(message.seen_seq)

    def hold(self, said: Sequence[StoredPayload]) -> None:
        """Keep finished texts until they are taken to be stored."""
        self._unstored += said

    def take_whole(self) -> list[NewEvent]:
        """Take the held texts, with their preface, to store them now."""
        unstored, self._unstored = self._unstored, []
        return self.with_preface([NewEvent(payload=payload) for payload in unstored])

    def take(self) -> list[NewEvent]:
        """Take all text that is not stored, the message as far as it came, to store it now."""
        message = self._message
        said, self._unstored = self._unstored, []
        if message is not None:
            said += message.so_far()
        self._message = None
        return [NewEvent(payload=payload) for payload in said]

    def drop_preface(self) -> None:
        """Drop the preface: it is stored, or nothing will follow it."""
        self._preface = []

    def note(self, payload: StoredPayload) -> None:
        """Update the state by a payload that was stored."""
        match payload:
            # The texts of a turn are recorded together with its calls; an empty text is not recorded at all.
            case ToolCalled(agent_id=None) | MessageCompleted(agent_id=None):
                self._message = None
            case ContextOpened(agent_id=None) | ContextNote(agent_id=None):
                self._preface = []
            case _:
                pass

    def with_preface(self, items: Sequence[NewEvent]) -> list[NewEvent]:
        """Put the notes sent to the model right before its answer to them."""
        is_said = any(is_answer_of(item.payload, None) for item in items)
        return [*self._preface, *items] if is_said else [*items]


def is_answer_of(payload: StoredPayload, agent_id: str | None) -> bool:
    """Whether the payload is a part of that agent's answer."""
    return isinstance(payload, MessageCompleted | ThinkingCompleted | ToolCalled) and payload.agent_id == agent_id
