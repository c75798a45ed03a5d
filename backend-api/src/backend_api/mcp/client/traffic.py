"""Limits on the traffic of one connection to a server, whatever the server does."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass

from service_kit.bounded_json import has_at_most

MAX_ANSWER_BYTES = 4 * 1024 * 1024
"""The limit for one response, or for one stream of events however long it is open."""
MAX_EVENT_LINES = 20_000
"""The limit of lines in a stream of events: small events cost more than their bytes."""
MAX_VALUES = 100_000
"""The limit of JSON values in one response or event: each becomes an object of a hundred bytes. The parser limits the
depth to 200."""
MAX_CONNECTION_BYTES = 256 * 1024 * 1024
MAX_CONNECTION_LINES = 10 * MAX_EVENT_LINES
MAX_REQUESTS = 5_000
"""The limit for a whole connection: a server's messages can make the protocol's package send requests."""
MAX_STREAMS = 100
"""The limit of streams of events opened by GET; a new one is opened whenever the server ends one."""
STREAMS_AT_ONCE = 5
STREAM_EVERY_S = 1.0
"""Streams opened without delay; after them one a second, however soon the server ends each."""

_EVENT_END = re.compile(rb"(?:\r\n|\r(?!\n)|\n){2}")
_LONGEST_END = 4


class TooMuchError(Exception):
    """A limit was exceeded; the message says which, for people."""


TOO_MUCH = f"It sent more than {MAX_ANSWER_BYTES // 1024 // 1024} MB, or too many events."
TOO_MUCH_OF_ALL = "It sent too much over one connection."
TOO_MANY_VALUES = f"It sent a response of more than {MAX_VALUES:,} values."
TOO_MANY_REQUESTS = "It caused too many requests over one connection."
TOO_MANY_STREAMS = f"It ended its stream of events more than {MAX_STREAMS} times."


@dataclass(slots=True)
class Traffic:
    """Counts the requests and responses of one connection."""

    size: int = 0
    lines: int = 0
    requests: int = 0
    streams: int = 0
    _next_stream_at: float = 0.0

    async def ask(self, method: str) -> None:
        """Counts a request before it is sent, and delays it if the server ends its streams too soon. Raises
        `TooMuchError`."""
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
        """Counts a piece of any response. Raises `TooMuchError`."""
        self.size += size
        self.lines += lines
        if self.size > MAX_CONNECTION_BYTES or self.lines > MAX_CONNECTION_LINES:
            raise TooMuchError(TOO_MUCH_OF_ALL)

    def take_message(self, content: bytes) -> None:
        """Counts a message that came on its own. Raises `TooMuchError`."""
        if len(content) > MAX_ANSWER_BYTES:
            raise TooMuchError(TOO_MUCH)
        self.take(len(content), 1)
        _check_values(content)


class CountedAnswer:
    """Counts one response as it comes: its bytes, and the values of the response or of each event."""

    def __init__(self, traffic: Traffic, *, is_stream: bool) -> None:
        self._traffic = traffic
        self._is_stream = is_stream
        self._size = 0
        self._lines = 0
        self._open = bytearray()
        """The bytes of an event or response that is not complete yet."""

    def take(self, piece: bytes) -> None:
        """Counts a piece before it is passed on, and checks the events it completes. Raises `TooMuchError`."""
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
        """Checks and returns what is left: all of a plain response, or the unfinished end of a stream. Raises
        `TooMuchError`."""
        rest = bytes(self._open)
        _check_values(rest)
        return rest


def _check_values(content: bytes) -> None:
    if not has_at_most(content, MAX_VALUES):
        raise TooMuchError(TOO_MANY_VALUES)
