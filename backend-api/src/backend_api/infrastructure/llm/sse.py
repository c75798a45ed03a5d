"""Server-sent events of model providers, read with one split a network chunk and no object an event."""

from __future__ import annotations

from typing import Literal

MAX_LINE_BYTES = 16 * 1024 * 1024
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")


class SseOverflowError(Exception):
    """A line longer than any provider sends."""


class ErrorData(bytes):
    """What an event says that is called an error."""


def form_of(head: bytes) -> Literal["stream", "body"] | None:
    """Whether an answer that begins so is a stream of events, or a body of another kind; None where that is not clear
    yet."""
    begin = head.removeprefix(BYTE_ORDER_MARK).lstrip()
    if not begin or begin.startswith(_FIELDS):
        return "stream" if begin else None
    return None if any(field.startswith(begin) for field in _FIELDS) else "body"


class DataLines:
    """The `data` fields of one stream. Providers send one line an event."""

    def __init__(self) -> None:
        # Grows in place: a long line that comes in small pieces is not copied with each of them.
        self._rest = bytearray()
        self._is_error = False

    def split(self, chunk: bytes) -> list[bytes]:
        """Those that end in the next chunk. Raises `SseOverflowError`."""
        rest, lines, has_error = self._rest, [], self._is_error
        if b"\n" in chunk:
            block = bytes(rest) + chunk if rest else chunk
            has_error = has_error or b"event: error" in block or b"event:error" in block
            lines = block.split(b"\n")
            rest = self._rest = bytearray(lines.pop())
        else:
            rest += chunk
        if len(rest) > MAX_LINE_BYTES:
            raise SseOverflowError
        if has_error:
            return self._marked(lines)
        return [line[5:].strip() for line in lines if line.startswith(b"data:")]

    def _marked(self, lines: list[bytes]) -> list[bytes]:
        """With what events say that are called errors as such."""
        found: list[bytes] = []
        for line in lines:
            if line.startswith(b"event:"):
                self._is_error = line[6:].strip() == b"error"
            elif line.startswith(b"data:"):
                data = line[5:].strip()
                found.append(ErrorData(data) if self._is_error else data)
            elif not line.strip():
                self._is_error = False
        return found
