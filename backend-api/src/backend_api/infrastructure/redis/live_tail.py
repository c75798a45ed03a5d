"""Live delivery over Redis pub/sub, the text so far beside; everything best effort."""

from __future__ import annotations

import asyncio
import json
import logging
import time
import uuid
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import cast

from redis.exceptions import RedisError

from backend_api.application.conversation.event_json import dump, event_fields, event_from
from backend_api.domain.agent.events import Event, LivePayload
from backend_api.domain.conversation.entity import RunId, SessionId
from backend_api.domain.conversation.errors import SlowReaderError
from backend_api.domain.conversation.live_text import TextPayload, ended_text, ends_all_texts, text_key, text_piece
from backend_api.infrastructure.redis.client import Redis
from backend_api.infrastructure.redis.hub import Hub, Listener
from backend_api.infrastructure.redis.text_so_far import KeptText, Text, TextSoFar, channel_of

logger = logging.getLogger(__name__)

READER_BUFFER = 2048
READER_CHARACTERS = 4_000_000
_STORED_CHARACTERS = 500
_AWAY_S = 1.0
_ERRORS = (RedisError, OSError, TimeoutError)


class RedisLiveTail:
    """`LiveTail`. One writer a session at a time; it merges what gathers while a call is on its way."""

    def __init__(self, redis: Redis, hub: Hub) -> None:
        self._hub = hub
        self._redis = redis
        self._kept = TextSoFar(redis)
        self._texts: dict[str, dict[str, Text]] = {}
        self._readers: dict[str, set[_Reader]] = {}
        self._me = uuid.uuid4().hex.encode() + b":"
        self._away_until = 0.0
        self._heard_data = b""
        self._heard_events: list[Event] = []

    async def publish(self, session_id: SessionId, events: Sequence[Event]) -> None:
        """One round trip; texts that are stored now are forgotten."""
        if not events:
            return
        texts = self._texts.get(session_id, {})
        ended = [key for event in events if (key := ended_text(event.payload)) is not None]
        for key in ended:
            texts.pop(key, None)
        is_over = any(ends_all_texts(event.payload) for event in events)
        if is_over:
            self._texts.pop(session_id, None)
        self._tell_here(session_id, events)
        if self._is_away():
            return
        try:
            await self._kept.end(session_id, ended, self._message(events), is_over=is_over)
        except _ERRORS:
            self._lost()

    async def publish_delta(self, session_id: SessionId, run_id: RunId, payload: LivePayload) -> None:
        """One round trip that keeps the piece and shows it."""
        event = Event(seq=None, at=datetime.now(UTC), session_id=session_id, run_id=run_id, payload=payload)
        key = text_key(payload)
        text = None if key is None else self._text(session_id, run_id, key, cast("TextPayload", payload))
        if text is not None:
            text.append(cast("TextPayload", payload).text)
        self._tell_here(session_id, [event])
        if self._is_away():
            return
        message = self._message([event])
        try:
            if key is None or text is None:
                await self._redis.publish(channel_of(session_id), message)
            else:
                piece = cast("TextPayload", payload).text
                whole = partial(self._whole_message, session_id, key, text)
                await self._kept.add(session_id, key, text, piece, message, whole)
        except _ERRORS:
            self._lost()

    def _text(self, session_id: str, run_id: str, key: str, payload: TextPayload) -> Text | None:
        texts = self._texts.setdefault(session_id, {})
        if payload.offset == 0:
            texts[key] = Text(run_id)
        text = texts.get(key)
        return text if text is not None and text.characters == payload.offset else None

    def _tell_here(self, session_id: str, events: Sequence[Event]) -> None:
        """Readers of this process first: they need no way through Redis."""
        for reader in self._readers.get(session_id, ()):
            reader.deliver(events)

    def _message(self, events: Sequence[Event]) -> bytes:
        return self._me + dump([event_fields(event) for event in events]).encode()

    def _whole_message(self, session_id: str, key: str, text: Text) -> bytes:
        payload = text_piece(key[0], key[2:], 0, text.whole)
        at = datetime.now(UTC)
        return self._message([Event(seq=None, at=at, session_id=session_id, run_id=text.run_id, payload=payload)])

    def heard(self, session_id: str, data: bytes) -> Sequence[Event]:
        """Events of another process, read once for all readers here; what this process sent was taken already."""
        if data.startswith(self._me):
            return ()
        if data is not self._heard_data:
            self._heard_data = data
            self._heard_events = [event_from(values) for values in json.loads(data.partition(b":")[2])]
            if any(ends_all_texts(event.payload) for event in self._heard_events):
                # Another process goes on with what was begun here.
                self._texts.pop(session_id, None)
        return self._heard_events

    def written_here(self, session_id: str) -> dict[str, Text]:
        """Texts this process is writing, whole; what Redis has of them may be on its way."""
        return self._texts.get(session_id, {})

    def _is_away(self) -> bool:
        return time.monotonic() < self._away_until

    def _lost(self) -> None:
        self._away_until = time.monotonic() + _AWAY_S
        logger.warning("live tail is away; readers poll the store")

    @asynccontextmanager
    async def follow(self, session_id: SessionId) -> AsyncGenerator[AsyncIterator[Event]]:
        """Subscribed on entering; the text so far is fetched at the first look."""
        reader = _Reader(self, self._kept, session_id)
        readers = self._readers.setdefault(session_id, set())
        readers.add(reader)
        try:
            async with self._hub.listen(channel_of(session_id), Listener(reader.heard, reader.restored)):
                yield reader
        finally:
            readers.discard(reader)
            if not readers and self._readers.get(session_id) is readers:
                del self._readers[session_id]


class _Reader:
    """A buffer between the hub and one reader, bounded by number and by size; what gathers of one text is merged."""

    def __init__(self, tail: RedisLiveTail, kept: TextSoFar, session_id: str) -> None:
        self._tail = tail
        self._kept = kept
        self._session_id = session_id
        self._buffer: deque[Event] = deque()
        self._characters = 0
        self._ready = asyncio.Event()
        self._needs_text = True
        self._is_slow = False
        self._ready.set()

    def heard(self, data: bytes) -> None:
        """From another process."""
        if events := self._tail.heard(self._session_id, data):
            self.deliver(events)

    def deliver(self, events: Sequence[Event]) -> None:
        if len(self._buffer) >= READER_BUFFER or self._characters >= READER_CHARACTERS:
            self._is_slow = True
        if not self._is_slow:
            self._buffer.extend(events)
            self._characters += sum(_size(event) for event in events)
        self._ready.set()

    def restored(self) -> None:
        self._needs_text = True
        self._ready.set()

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        while True:
            if self._is_slow:
                raise SlowReaderError("This reader did not keep up; it may go on from its last number.")
            if self._needs_text:
                self._needs_text = False
                try:
                    texts = await self._text_so_far()
                except asyncio.CancelledError:
                    # Whoever waited gave up for now and looks again.
                    self._needs_text = True
                    raise
                self._buffer.extendleft(reversed(texts))
                self._characters += sum(_size(event) for event in texts)
            if self._buffer:
                return self._merged(self._pop())
            self._ready.clear()
            await self._ready.wait()

    def _pop(self) -> Event:
        event = self._buffer.popleft()
        self._characters -= _size(event)
        return event

    def _merged(self, event: Event) -> Event:
        key = text_key(event.payload)
        if key is None or not self._buffer:
            return event
        payload = cast("TextPayload", event.payload)
        texts = [payload.text]
        end = payload.offset + len(payload.text)
        while self._buffer and text_key((after := self._buffer[0]).payload) == key:
            more = cast("TextPayload", after.payload)
            if more.offset != end or after.run_id != event.run_id:
                break
            texts.append(more.text)
            end += len(more.text)
            self._pop()
        return event if len(texts) == 1 else replace(event, payload=replace(payload, text="".join(texts)))

    async def _text_so_far(self) -> list[Event]:
        try:
            kept = await self._kept.read(self._session_id)
        except _ERRORS:
            kept = []
        here = self._tail.written_here(self._session_id)
        kept = [text for text in kept if text.key not in here]
        kept += [KeptText(key, text.run_id, text.whole) for key, text in here.items() if text.pieces]
        now = datetime.now(UTC)
        return [
            Event(
                seq=None,
                at=now,
                session_id=self._session_id,
                run_id=text.run_id,
                payload=text_piece(text.key[0], text.key[2:], 0, text.text),
            )
            for text in kept
        ]


def _size(event: Event) -> int:
    """About how many characters an event holds."""
    return _STORED_CHARACTERS + len(getattr(event.payload, "text", ""))
