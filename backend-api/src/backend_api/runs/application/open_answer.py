"""What the main agent says at the moment, and what of it is not stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from backend_api.agent.events import (
    ContextNote,
    ContextOpened,
    MessageCompleted,
    StoredPayload,
    ThinkingCompleted,
    ToolCalled,
)
from backend_api.agent.recorded import Recorded
from backend_api.conversations.domain.live_text import MESSAGE, THINKING
from backend_api.runs.application.run_stream import RunStream


class OpenAnswer:
    """It knows the message that is being written, what the model was told right before it, and what was said last and
    is stored with the end of the run."""

    def __init__(self, live: RunStream) -> None:
        self._live = live
        self._message: MessageCompleted | None = None
        self._unstored: list[StoredPayload] = []
        self._preface: list[Recorded] = []

    def begin(self, message: MessageCompleted, preface: Sequence[Recorded]) -> None:
        """The next message is being written; `preface` is stored right before it."""
        self._preface, self._message = [*preface], message
        self._live.open_message(message.seen_seq)

    def hold(self, said: Sequence[StoredPayload]) -> None:
        """Keep what is whole until it is taken to be stored."""
        self._unstored += said

    def take_whole(self) -> list[Recorded]:
        """What was held, with its preface, to be stored now."""
        unstored, self._unstored = self._unstored, []
        return self.with_preface([Recorded(payload=payload) for payload in unstored])

    def take(self) -> list[Recorded]:
        """All that was said and is not stored, the message as far as it came, to be stored now."""
        message = self._message
        said, self._unstored = self._unstored, []
        if message is not None:
            said += [
                ThinkingCompleted(message_id=identifier, text=text, turn=message.turn, seen_seq=message.seen_seq)
                for identifier, text in self._live.open_texts(THINKING).items()
            ]
            text = self._live.open_texts(MESSAGE).get(message.message_id, "")
            if text or message.continuations:
                said.append(replace(message, text=text, partial=True))
        self._message = None
        return [Recorded(payload=payload) for payload in said]

    def drop_preface(self) -> None:
        """It is stored, or nothing will be said after it."""
        self._preface = []

    def note(self, payload: StoredPayload) -> None:
        """Take in what was stored."""
        match payload:
            # The texts of a turn are recorded together with its calls, an empty one not at all.
            case ToolCalled(agent_id=None) | MessageCompleted(agent_id=None):
                self._message = None
            case ContextOpened(agent_id=None) | ContextNote(agent_id=None):
                self._preface = []
            case _:
                pass

    def with_preface(self, items: Sequence[Recorded]) -> list[Recorded]:
        """What the model was told goes right before what it said then."""
        is_said = any(is_said_by(item.payload, None) for item in items)
        return [*self._preface, *items] if is_said else [*items]


def is_said_by(payload: StoredPayload, agent_id: str | None) -> bool:
    """Whether it is a part of that agent's answer."""
    return isinstance(payload, MessageCompleted | ThinkingCompleted | ToolCalled) and payload.agent_id == agent_id
