"""Follows a session's stream from a number on: exactly once, in order, without gaps."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import cast

from backend_api.agent.events import Event, RunStarted
from backend_api.conversations.application.session_heads import SessionHeads
from backend_api.conversations.domain.errors import SessionNotFoundError
from backend_api.conversations.domain.live_text import (
    TextKey,
    TextPayload,
    completed_text,
    ends_all_texts,
    started_text,
    text_key,
)
from backend_api.conversations.ports import EventLog, SessionRepository, SessionStream
from backend_api.kit.errors import SlowReaderError, UnavailableError
from backend_api.kit.ids import SessionId, UserId

logger = logging.getLogger(__name__)

PAGE = 500
FIRST_PAGE = 50
"""Small, so that a returning reader sees the first event at once."""
PAGE_BYTES = 256 * 1024
"""The most bytes of a page buffered for a reader that has stopped reading."""
READER_BUFFER = 2048
READER_CHARACTERS = 4_000_000
_STORED_CHARACTERS = 500
_ALL = 2**63
_MAX_ENDED = 4096


class LiveReader:
    """`StreamListener`: the buffer of one reader, limited in number and size; pieces of one text are merged.

    As an iterator it yields the text so far, then new events, with the stream's gaps and duplicates. Raises
    `SlowReaderError` once the buffer overflows.
    """

    def __init__(self, stream: SessionStream, session_id: SessionId) -> None:
        self._stream = stream
        self._session_id = session_id
        self._buffer: deque[Event] = deque()
        self._characters = 0
        self._ready = asyncio.Event()
        self._needs_text = True
        self._is_slow = False

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

    async def next_within(self, seconds: float) -> Event | None:
        """The next event, or None if none came for so long."""
        if self._is_quiet():
            # A plain timer: `asyncio.timeout` would take three times as long for each piece of text.
            self._ready.clear()
            over = asyncio.get_running_loop().call_later(seconds, self._ready.set)
            try:
                await self._ready.wait()
            finally:
                over.cancel()
            if self._is_quiet():
                return None
        if not self._needs_text:
            return await anext(self)
        try:
            async with asyncio.timeout(seconds):
                return await anext(self)
        except TimeoutError:
            return None

    def _is_quiet(self) -> bool:
        return not (self._buffer or self._needs_text or self._is_slow)

    async def __anext__(self) -> Event:
        while True:
            if self._is_slow:
                raise SlowReaderError(
                    "This reader fell too far behind. Reconnect from the number of the last event it received."
                )
            if self._needs_text:
                await self._begin_with_texts()
            if self._buffer:
                return self._merged(self._pop())
            self._ready.clear()
            await self._ready.wait()

    async def _begin_with_texts(self) -> None:
        self._needs_text = False
        try:
            texts = await self._stream.texts(self._session_id)
        except asyncio.CancelledError:
            # The reader gave up waiting for now and tries again.
            self._needs_text = True
            raise
        self._buffer.extendleft(reversed(texts))
        self._characters += sum(_size(event) for event in texts)

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


def _size(event: Event) -> int:
    """The approximate size of an event, in characters."""
    return _STORED_CHARACTERS + len(getattr(event.payload, "text", ""))


@asynccontextmanager
async def live_reader(stream: SessionStream, session_id: SessionId) -> AsyncGenerator[LiveReader]:
    """Subscribes on entering; the text so far is fetched on the first read."""
    reader = LiveReader(stream, session_id)
    async with stream.listen(session_id, reader):
        yield reader


@dataclass(frozen=True, slots=True)
class FollowEvents:
    """Yields events, and None after a poll without any, so that the connection can be kept alive.

    The live channel is a hint and the log the truth: events the channel loses are read from the log, repeated ones are
    dropped, and when it is silent the log is polled. Raises `SessionNotFoundError` before the first event for another
    user's session, `SlowReaderError` for a reader that does not keep up; ends when the session is deleted.
    """

    sessions: SessionRepository
    log: EventLog
    stream: SessionStream
    heads: SessionHeads
    poll_s: float = 1.0

    async def __call__(self, session_id: SessionId, user_id: UserId, after: int) -> AsyncGenerator[Event | None]:
        session = await self.sessions.get(session_id, user_id)
        # A number beyond the last one belongs to a lost history; it would be waited for for ever.
        place = _Position(min(after, session.last_seq))
        with self.heads.follow(session_id):
            async with live_reader(self.stream, session_id) as live:
                async for event in self._read_stored(session_id, place, session.last_seq, FIRST_PAGE):
                    yield event
                while True:
                    event = await live.next_within(self.poll_s)
                    if event is None:
                        if (head := await self._head(session_id)) > place.last:
                            async for stored in self._read_stored(session_id, place, head):
                                yield stored
                        else:
                            yield None
                    elif event.seq is None:
                        if event.run_id not in (None, place.run_id):
                            # Its run.started may still be on the way, and belongs before it.
                            async for stored in self._read_stored(session_id, place, _ALL):
                                yield stored
                            place.run_id = event.run_id
                        if (shown := place.live(event)) is not None:
                            yield shown
                    elif event.seq == place.last + 1:
                        yield place.stored(event)
                    elif event.seq > place.last:
                        async for stored in self._read_stored(session_id, place, event.seq):
                            yield stored

    async def _head(self, session_id: SessionId) -> int:
        """The last number in the log. While the store is unavailable it is 0, so the stream goes on."""
        try:
            head = await self.heads.look(session_id)
        except UnavailableError:
            logger.warning("a stream is waiting for the database", extra={"session_id": session_id})
            return 0
        if head is None:
            raise SessionNotFoundError("The session was removed.")
        return head

    async def _read_stored(
        self, session_id: SessionId, place: _Position, until: int, limit: int = PAGE
    ) -> AsyncIterator[Event]:
        """Reads at least up to the number `until`, if there are so many events. A short page may have been cut by
        size."""
        while True:
            events = await self.log.read(session_id, after=place.last, limit=limit, most=PAGE_BYTES)
            for event in events:
                yield place.stored(event)
            if not events or (len(events) < limit and place.last >= until):
                return
            limit = PAGE


class _Position:
    """A reader's position: the last stored number, and how much it saw of each live text."""

    def __init__(self, after: int) -> None:
        self.last = after
        self.run_id: str | None = None
        self._seen: dict[str, int] = {}
        self._ended: dict[str, None] = {}

    def stored(self, event: Event) -> Event:
        self.last = cast("int", event.seq)
        if isinstance(event.payload, RunStarted):
            self.run_id = event.run_id
        if (key := completed_text(event.payload)) is not None:
            self._end(key)
        elif ends_all_texts(event.payload):
            # A paused worker may send further text once it wakes, however late.
            for key in [*self._seen]:
                self._end(key)
        elif (begun := started_text(event.payload)) is not None:
            self._ended.pop(begun, None)
        return event

    def _end(self, key: TextKey) -> None:
        self._seen.pop(key, None)
        self._ended[key] = None
        if len(self._ended) > _MAX_ENDED:
            del self._ended[next(iter(self._ended))]

    def live(self, event: Event) -> Event | None:
        key = text_key(event.payload)
        if key is None:
            return event
        if key in self._ended:
            return None
        payload = cast("TextPayload", event.payload)
        seen = self._seen.get(key, 0)
        end = payload.offset + len(payload.text)
        if payload.offset > seen or end <= seen:
            return None
        self._seen[key] = end
        if payload.offset == seen:
            return event
        return replace(event, payload=replace(payload, offset=seen, text=payload.text[seen - payload.offset :]))
