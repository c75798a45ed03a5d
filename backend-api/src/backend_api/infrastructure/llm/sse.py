"""Server-sent events of model providers, read with one split a network chunk and no object an event."""

from __future__ import annotations

MAX_LINE_BYTES = 16 * 1024 * 1024


class SseOverflowError(Exception):
    """A line longer than any provider sends."""


class DataLines:
    """The `data` fields of one stream. Providers send one line an event."""

    def __init__(self) -> None:
        # Grows in place: a long line that comes in small pieces is not copied with each of them.
        self._rest = bytearray()

    def split(self, chunk: bytes) -> list[bytes]:
        """Those that end in the next chunk. Raises `SseOverflowError`."""
        rest, lines = self._rest, []
        if b"\n" in chunk:
            lines = (bytes(rest) + chunk if rest else chunk).split(b"\n")
            rest = self._rest = bytearray(lines.pop())
        else:
            rest += chunk
        if len(rest) > MAX_LINE_BYTES:
            raise SseOverflowError
        return [line[5:].strip() for line in lines if line.startswith(b"data:")]
