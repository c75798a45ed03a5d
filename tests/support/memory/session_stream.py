"""The sessions' streams within this process."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import cast

from backend_api.agent.events import Event, LivePayload
from backend_api.conversations.domain.entity import RunId
from backend_api.conversations.domain.live_text import (
    TextKey,
    TextPayload,
    completed_text,
    ends_all_texts,
    last_read_seq,
    live_text,
    text_key,
)
from backend_api.conversations.ports import StreamListener
from backend_api.kit.ids import SessionId


class MemorySessionStream:
    """`SessionStream`. `is_silent` loses everything, as a lost backend does."""

    def __init__(self) -> None:
        self.is_silent = False
        self._listeners: dict[str, set[StreamListener]] = {}
        self._texts: dict[str, dict[str, tuple[str, str, int]]] = {}

    async def append(self, session_id: SessionId, events: Sequence[Event]) -> None:
        """To all listeners."""
        texts = self._texts.setdefault(session_id, {})
        for event in events:
            if (key := completed_text(event.payload)) is not None:
                texts.pop(key, None)
            if ends_all_texts(event.payload):
                texts.clear()
        self._deliver(session_id, events)

    async def show(self, session_id: SessionId, run_id: RunId, payload: LivePayload) -> None:
        """Kept and told."""
        if (key := text_key(payload)) is not None:
            piece = cast("TextPayload", payload)
            texts = self._texts.setdefault(session_id, {})
            _, text, _ = texts.get(key, (run_id, "", 0))
            if piece.offset <= len(text):
                texts[key] = (run_id, text[: piece.offset] + piece.text, last_read_seq(piece))
        self._deliver(session_id, [_live_event(session_id, run_id, payload)])

    def forget(self, session_id: SessionId, texts: Collection[TextKey]) -> None:
        """There is one process."""
        for key in texts:
            self._texts.get(session_id, {}).pop(key, None)

    @asynccontextmanager
    async def listen(self, session_id: SessionId, listener: StreamListener) -> AsyncGenerator[None]:
        """It is told of what comes."""
        self._listeners.setdefault(session_id, set()).add(listener)
        try:
            yield
        finally:
            self._listeners[session_id].discard(listener)

    async def texts(self, session_id: SessionId) -> list[Event]:
        """All that are being written."""
        return [
            _live_event(session_id, run_id, live_text(key, 0, text, seen_seq))
            for key, (run_id, text, seen_seq) in self._texts.get(session_id, {}).items()
        ]

    def _deliver(self, session_id: str, events: Sequence[Event]) -> None:
        if not self.is_silent:
            for listener in self._listeners.get(session_id, ()):
                listener.deliver(events)


def _live_event(session_id: str, run_id: str, payload: LivePayload) -> Event:
    return Event(seq=None, at=datetime.now(UTC), session_id=session_id, run_id=run_id, payload=payload)
