"""The sessions' streams over Redis: pub/sub for listeners, the text so far for late ones; all best effort."""

from __future__ import annotations

import asyncio
import json
import logging
import time
import uuid
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple, cast

from redis.exceptions import InvalidResponse

from backend_api.agent.events import Event, LivePayload
from backend_api.conversations.application.event_json import event_from, event_json
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
from backend_api.conversations.redis.stream_scripts import APPEND, END
from backend_api.kit.ids import SessionId
from backend_api.kit.redis.client import Redis
from backend_api.kit.redis.failures import ERRORS, count_failure
from backend_api.kit.redis.hub import Hub, Listener

logger = logging.getLogger(__name__)

TTL_S = 3600
_TTL = b"%d" % TTL_S
MAX_KEPT = 400_000
_AWAY_S = 1.0


def _encode(text: str) -> bytes:
    """Encodes a text. A model may cut a character in two; the halves are kept as they came."""
    return text.encode("utf-8", "surrogatepass")


def _channel(session_id: str) -> str:
    return f"tail:{session_id}"


def _index(session_id: str) -> str:
    return f"text:{session_id}"


@dataclass(slots=True)
class _Text:
    """The part of one text that this process has written."""

    run_id: str
    seen_seq: int = 0
    pieces: list[str] = field(default_factory=list[str])
    characters: int = 0
    size: int = 0
    _mark: bytes = b""

    def append(self, piece: str) -> bytes:
        """Appends a piece and returns its bytes for Redis."""
        encoded = _encode(piece)
        self.pieces.append(piece)
        self.characters += len(piece)
        self.size += len(encoded)
        return encoded

    def mark(self, key: TextKey, expected: int) -> bytes:
        """The header of its next piece, for the script `APPEND`."""
        if not self._mark:
            name = key.encode()
            self._mark = b"%d %b%b" % (len(name), name, self.meta.encode())
        return b"%d %b" % (expected, self._mark)

    @property
    def whole(self) -> str:
        return "".join(self.pieces)

    @property
    def meta(self) -> str:
        return json.dumps({"run_id": self.run_id, "seen_seq": self.seen_seq})


class _Piece(NamedTuple):
    """A piece on its way to Redis."""

    key: str
    args: tuple[bytes, bytes, bytes]
    fits: asyncio.Future[bool]


class RedisSessionStream:
    """`SessionStream`. Listeners of this process are notified first, without a way through Redis."""

    def __init__(self, redis: Redis, hub: Hub) -> None:
        self._hub = hub
        self._redis = redis
        self._append = redis.register_script(APPEND)
        self._end = redis.register_script(END)
        self._texts: dict[str, dict[str, _Text]] = {}
        self._listeners: dict[str, set[StreamListener]] = {}
        self._waiting: list[_Piece] = []
        self._sending: set[asyncio.Task[None]] = set()
        self._me = uuid.uuid4().hex.encode() + b":"
        self._away_until = 0.0
        self._heard_data = b""
        self._heard_events: list[Event] = []

    async def append(self, session_id: SessionId, events: Sequence[Event]) -> None:
        """Sends events in one round trip; texts that are stored now are dropped, all of them if nothing is being
        written any more."""
        if not events:
            return
        ended = [key for event in events if (key := completed_text(event.payload)) is not None]
        self.forget(session_id, ended)
        is_over = any(ends_all_texts(event.payload) for event in events)
        if is_over:
            self._texts.pop(session_id, None)
        self._deliver_here(session_id, events)
        if self._is_away():
            return
        channel, message = _channel(session_id), self._message(events)
        try:
            with count_failure():
                if ended or is_over:
                    await self._end(keys=[_index(session_id)], args=[channel, message, int(is_over), *ended])
                else:
                    await self._redis.publish(channel, message)
        except ERRORS:
            self._mark_away()

    async def show(self, session_id: SessionId, run_id: RunId, payload: LivePayload) -> None:
        """Stores and publishes the piece in one round trip, together with pieces shown at the same moment."""
        event = Event(seq=None, at=datetime.now(UTC), session_id=session_id, run_id=run_id, payload=payload)
        key = text_key(payload)
        text = None if key is None else self._text(session_id, run_id, key, cast("TextPayload", payload))
        piece = text.append(cast("TextPayload", payload).text) if text is not None else b""
        self._deliver_here(session_id, [event])
        if self._is_away():
            return
        message = self._message([event])
        try:
            if key is None or text is None or text.characters > MAX_KEPT:
                with count_failure():
                    await self._redis.publish(_channel(session_id), message)
            elif not await self._keep(session_id, key, text, piece, message):
                await self._keep_whole(session_id, key, text)
        except ERRORS:
            self._mark_away()

    def forget(self, session_id: SessionId, texts: Collection[TextKey]) -> None:
        """Drops the texts here; those in Redis stay until another worker takes over the run."""
        kept = self._texts.get(session_id, {})
        for key in texts:
            kept.pop(key, None)
        if not kept:
            self._texts.pop(session_id, None)

    @asynccontextmanager
    async def listen(self, session_id: SessionId, listener: StreamListener) -> AsyncGenerator[None]:
        """Subscribes on entering, unless Redis is unavailable."""
        listeners = self._listeners.setdefault(session_id, set())
        listeners.add(listener)
        try:
            heard = Listener(partial(self._receive, session_id, listener), listener.restored)
            async with self._hub.listen(_channel(session_id), heard):
                yield
        finally:
            listeners.discard(listener)
            if not listeners and self._listeners.get(session_id) is listeners:
                del self._listeners[session_id]

    async def texts(self, session_id: SessionId) -> list[Event]:
        """Texts of this process as they are here, since their pieces may be on the way to Redis, and those of other
        processes from Redis."""
        found: dict[str, _Text] = {}
        with suppress(*ERRORS), count_failure():
            found = await self._read_texts(session_id)
        found |= self._texts.get(session_id, {})
        return [_whole_text(session_id, key, text) for key, text in found.items() if text.pieces]

    def _text(self, session_id: str, run_id: str, key: str, payload: TextPayload) -> _Text | None:
        texts = self._texts.setdefault(session_id, {})
        if payload.offset == 0:
            texts[key] = _Text(run_id, last_read_seq(payload))
        text = texts.get(key)
        return text if text is not None and text.characters == payload.offset else None

    def _deliver_here(self, session_id: str, events: Sequence[Event]) -> None:
        for listener in self._listeners.get(session_id, ()):
            listener.deliver(events)

    def _message(self, events: Sequence[Event]) -> bytes:
        return b"%b[%b]" % (self._me, b",".join([event_json(event, is_new=True) for event in events]))

    def _receive(self, session_id: str, listener: StreamListener, data: bytes) -> None:
        """Delivers a message of another process, parsed once for all listeners here; those of this process were
        delivered already."""
        if data.startswith(self._me):
            return
        if data is not self._heard_data:
            self._heard_data, self._heard_events = data, _readable_events(session_id, data.partition(b":")[2])
            if any(ends_all_texts(event.payload) for event in self._heard_events):
                # Another process continues the texts begun here.
                self._texts.pop(session_id, None)
        listener.deliver(self._heard_events)

    def _is_away(self) -> bool:
        return time.monotonic() < self._away_until

    def _mark_away(self) -> None:
        self._away_until = time.monotonic() + _AWAY_S
        logger.warning("live streams unavailable; readers poll the database")

    async def _keep(self, session_id: str, key: str, text: _Text, piece: bytes, message: bytes) -> bool:
        """Stores and publishes the last piece of a text; returns whether it continued the stored text."""
        args = (text.mark(key, text.size - len(piece)), piece, message)
        sent = _Piece(_index(session_id), args, asyncio.get_running_loop().create_future())
        self._waiting.append(sent)
        if len(self._waiting) == 1:
            sending = asyncio.create_task(self._send_waiting())
            self._sending.add(sending)
            sending.add_done_callback(self._sending.discard)
        return await sent.fits

    async def _send_waiting(self) -> None:
        pieces, self._waiting = self._waiting, []
        keys = [piece.key for piece in pieces]
        try:
            with count_failure():
                said = await self._append(keys=keys, args=[_TTL, *(arg for piece in pieces for arg in piece.args)])
                answers = cast("list[Any]", said if isinstance(said, list) else [])
                if len(answers) != len(pieces):
                    raise InvalidResponse("Redis did not return a result for each piece.")
        except Exception as error:  # noqa: BLE001 -- each writer is told what became of its piece
            for piece in pieces:
                if not piece.fits.done():
                    piece.fits.set_exception(error)
        else:
            for piece, fits in zip(pieces, answers, strict=True):
                if not piece.fits.done():
                    piece.fits.set_result(bool(fits))

    async def _keep_whole(self, session_id: str, key: str, text: _Text) -> None:
        """Stores and publishes the whole text, since Redis, and perhaps some readers, lost a part of it."""
        index = _index(session_id)
        pipeline = self._redis.pipeline(transaction=True)
        pipeline.set(f"{index}:{key}", _encode(text.whole), ex=TTL_S)
        pipeline.hset(index, key, text.meta)
        pipeline.expire(index, TTL_S)
        pipeline.publish(_channel(session_id), self._message([_whole_text(session_id, key, text)]))
        with count_failure():
            await pipeline.execute()

    async def _read_texts(self, session_id: str) -> dict[str, _Text]:
        """All texts being written, by key."""
        index = _index(session_id)
        found: dict[bytes, bytes] = await self._redis.hgetall(index)
        if not found:
            return {}
        keys = [key.decode() for key in found]
        values: list[bytes | None] = await self._redis.mget([f"{index}:{key}" for key in keys])
        return {
            key: _kept_text(json.loads(meta), value)
            for key, meta, value in zip(keys, found.values(), values, strict=True)
            if value
        }


def _readable_events(session_id: str, data: bytes) -> list[Event]:
    """The events of a message, or none if another version wrote it and it can't be read: its readers find the stored
    ones in the log."""
    try:
        return _events_from(data)
    except (LookupError, TypeError, ValueError):
        logger.warning("a message of a live stream is malformed", extra={"session_id": session_id})
        return []


def _events_from(data: bytes) -> list[Event]:
    """The events of a message; a single live event keeps its JSON for its readers, if nothing has to be merged or
    cut."""
    events = [event_from(values) for values in json.loads(data)]
    if len(events) == 1 and events[0].seq is None:
        events[0].serialized_once(lambda _: data[1:-1])
    return events


def _kept_text(meta: dict[str, Any], value: bytes) -> _Text:
    return _Text(meta["run_id"], meta.get("seen_seq", 0), [value.decode("utf-8", "surrogatepass")])


def _whole_text(session_id: str, key: str, text: _Text) -> Event:
    payload = live_text(key, 0, text.whole, text.seen_seq)
    return Event(seq=None, at=datetime.now(UTC), session_id=session_id, run_id=text.run_id, payload=payload)
