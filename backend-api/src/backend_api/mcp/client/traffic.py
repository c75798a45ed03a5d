"""How much one connection to a server may ask and be sent, however the server goes about it."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass

from service_kit.bounded_json import has_at_most

MAX_ANSWER_BYTES = 4 * 1024 * 1024
"""Of one answer, or of one stream of events however long it is open."""
MAX_EVENT_LINES = 20_000
"""Of a stream of events: small ones cost more than their bytes."""
MAX_VALUES = 100_000
"""Of one answer or event: each is an object of a hundred bytes. How deep they lie, what reads them bounds: 200."""
MAX_CONNECTION_BYTES = 256 * 1024 * 1024
MAX_CONNECTION_LINES = 10 * MAX_EVENT_LINES
MAX_REQUESTS = 5_000
"""Of all of a connection: what a server says may make the protocol's package ask and answer."""
MAX_STREAMS = 100
"""Streams of events that are opened by GET, anew whenever a server ends one."""
STREAMS_AT_ONCE = 5
STREAM_EVERY_S = 1.0
"""So many at once, and then one in each second, however soon a server wants the next."""

_EVENT_END = re.compile(rb"(?:\r\n|\r(?!\n)|\n){2}")
_LONGEST_END = 4


class TooMuchError(Exception):
    """The message says of what, for people."""


TOO_MUCH = f"It sends more than {MAX_ANSWER_BYTES // 1024 // 1024} MB, or too many events."
TOO_MUCH_OF_ALL = "It sent too much over one connection."
TOO_MANY_VALUES = f"It sends an answer of more than {MAX_VALUES:,} values."
TOO_MANY_REQUESTS = "It makes us ask too often over one connection."
TOO_MANY_STREAMS = f"It ended its stream of events more than {MAX_STREAMS} times."


@dataclass(slots=True)
class Traffic:
    """Counts what one connection asks and is sent."""

    size: int = 0
    lines: int = 0
    requests: int = 0
    streams: int = 0
    _next_stream_at: float = 0.0

    async def ask(self, method: str) -> None:
        """Before a request; waits where a server ends its streams too soon. Raises `TooMuchError`."""
        self.requests += 1
        if self.requests > MAX_REQUESTS:
            raise TooMuchError(TOO_MANY_REQUESTS)
        if method != "GET":
            return
        self.streams += 1
        if self.streams > MAX_STREAMS:
            raise TooMuchError(TOO_MANY_STREAMS)
        now = asyncio.get_running_loop().time()
        self._next_stream_at = max(self._next_stream_at, now - STREAMS_AT_ONCE * STREAM_EVERY_S) + STREAM_EVERY_S
        await asyncio.sleep(max(self._next_stream_at - now, 0.0))

    def take(self, size: int, lines: int) -> None:
        """What came of any answer. Raises `TooMuchError`."""
        self.size += size
        self.lines += lines
        if self.size > MAX_CONNECTION_BYTES or self.lines > MAX_CONNECTION_LINES:
            raise TooMuchError(TOO_MUCH_OF_ALL)

    def take_message(self, content: bytes) -> None:
        """One that came by itself. Raises `TooMuchError`."""
        if len(content) > MAX_ANSWER_BYTES:
            raise TooMuchError(TOO_MUCH)
        self.take(len(content), 1)
        _check_values(content)


class CountedAnswer:
    """One answer as it comes: its bytes, and its values, of a stream of events those of each event."""

    def __init__(self, traffic: Traffic, *, is_stream: bool) -> None:
        self._traffic = traffic
        self._is_stream = is_stream
        self._size = 0
        self._lines = 0
        self._open = bytearray()
        """What came of an event, or of an answer, whose end did not."""

    def take(self, piece: bytes) -> None:
        """Before a piece is handed on, and with it the end of an event. Raises `TooMuchError`."""
        lines = piece.count(b"\n") + piece.count(b"\r") if self._is_stream else 0
        self._size += len(piece)
        self._lines += lines
        if self._size > MAX_ANSWER_BYTES or self._lines > MAX_EVENT_LINES:
            raise TooMuchError(TOO_MUCH)
        self._traffic.take(len(piece), lines)
        begin = max(len(self._open) - _LONGEST_END, 0)
        self._open += piece
        while self._is_stream and (found := _EVENT_END.search(self._open, begin)):
            _check_values(bytes(self._open[: found.start()]))
            del self._open[: found.end()]
            begin = 0

    def end(self) -> bytes:
        """What came since the last event ended, or of an answer all. Raises `TooMuchError`."""
        rest = bytes(self._open)
        _check_values(rest)
        return rest


def _check_values(content: bytes) -> None:
    if not has_at_most(content, MAX_VALUES):
        raise TooMuchError(TOO_MANY_VALUES)
