"""Live delivery within this process."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import cast

from backend_api.domain.agent.events import Event, LivePayload
from backend_api.domain.conversation.entity import RunId, SessionId
from backend_api.domain.conversation.errors import SlowReaderError
from backend_api.domain.conversation.live_text import TextPayload, ended_text, ends_all_texts, text_key, text_piece


class _Reader:
    def __init__(self, limit: int) -> None:
        self._buffer: deque[Event] = deque()
        self._ready = asyncio.Event()
        self._limit = limit
        self._is_slow = False

    def heard(self, events: Sequence[Event]) -> None:
        self._is_slow = self._is_slow or len(self._buffer) >= self._limit
        if not self._is_slow:
            self._buffer.extend(events)
        self._ready.set()

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        while True:
            if self._is_slow:
                raise SlowReaderError("This reader did not keep up; it may go on from its last number.")
            if self._buffer:
                return self._buffer.popleft()
            self._ready.clear()
            await self._ready.wait()


class MemoryLiveTail:
    """`LiveTail`. `is_silent` loses everything, as a lost backend does."""

    def __init__(self, *, reader_buffer: int = 2048) -> None:
        self.is_silent = False
        self._limit = reader_buffer
        self._readers: dict[str, set[_Reader]] = {}
        self._texts: dict[str, dict[str, tuple[str, str]]] = {}

    async def publish(self, session_id: SessionId, events: Sequence[Event]) -> None:
        """To all readers."""
        texts = self._texts.setdefault(session_id, {})
        for event in events:
            if (key := ended_text(event.payload)) is not None:
                texts.pop(key, None)
            if ends_all_texts(event.payload):
                texts.clear()
        self._tell(session_id, events)

    async def publish_delta(self, session_id: SessionId, run_id: RunId, payload: LivePayload) -> None:
        """Kept and told."""
        if (key := text_key(payload)) is not None:
            piece = cast("TextPayload", payload)
            texts = self._texts.setdefault(session_id, {})
            _, text = texts.get(key, (run_id, ""))
            if piece.offset <= len(text):
                texts[key] = (run_id, text[: piece.offset] + piece.text)
        at = datetime.now(UTC)
        self._tell(session_id, [Event(seq=None, at=at, session_id=session_id, run_id=run_id, payload=payload)])

    def _tell(self, session_id: str, events: Sequence[Event]) -> None:
        if not self.is_silent:
            for reader in self._readers.get(session_id, ()):
                reader.heard(events)

    @asynccontextmanager
    async def follow(self, session_id: SessionId) -> AsyncGenerator[AsyncIterator[Event]]:
        """The text so far, then what comes."""
        reader = _Reader(self._limit)
        now = datetime.now(UTC)
        for key, (run_id, text) in self._texts.get(session_id, {}).items():
            payload = text_piece(key[0], key[2:], 0, text)
            reader.heard([Event(seq=None, at=now, session_id=session_id, run_id=run_id, payload=payload)])
        self._readers.setdefault(session_id, set()).add(reader)
        try:
            yield reader
        finally:
            self._readers[session_id].discard(reader)
