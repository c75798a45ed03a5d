"""Server-sent events of model providers, read with one split for each network chunk and no object for each event.

Source: the HTML standard's chapter on server-sent events. Beyond it, some servers put no empty line between events, and
llama.cpp sends errors in a field named `error`.
"""

from __future__ import annotations

from typing import Literal

MAX_LINE_BYTES = 16 * 1024 * 1024
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_ERROR = b"error:"
_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":", _ERROR)


class SseOverflowError(Exception):
    """A line is longer than any provider sends."""


class ErrorData(bytes):
    """The data of an event named error."""


def form_of(head: bytes) -> Literal["stream", "body"] | None:
    """Whether an answer that begins with this is a stream of events or another body; None until that is clear."""
    begin = head.removeprefix(BYTE_ORDER_MARK).lstrip()
    if not begin or begin.startswith(_FIELDS):
        return "stream" if begin else None
    return None if any(field.startswith(begin) for field in _FIELDS) else "body"


class DataLines:
    """The data of one stream's events. Providers send one line for each event; JSON that continues on further lines is
    joined."""

    def __init__(self) -> None:
        # Grows in place, so a long line is not copied for each small piece.
        self._rest = bytearray()
        self._is_error = False
        self._begun: list[bytes] = []
        """The lines so far of JSON that continues."""
        self._begun_bytes = 0

    def split(self, chunk: bytes) -> list[bytes]:
        """The data of the lines that end in the next chunk. Raises `SseOverflowError`."""
        rest, lines, is_marked = self._rest, [], self._is_error
        if b"\n" in chunk or b"\r" in chunk or rest.endswith(b"\r"):
            block = bytes(rest) + chunk if rest else chunk
            is_marked = is_marked or _has_error(block)
            lines = _lines_of(block)
            rest = self._rest = bytearray(lines.pop())
        else:
            rest += chunk
        if len(rest) > MAX_LINE_BYTES:
            raise SseOverflowError
        if is_marked or self._begun:
            return self._read(lines)
        found = [line[5:].strip() for line in lines if line.startswith(b"data:")]
        return self._read(lines) if any(map(_is_incomplete, found)) else found

    def _read(self, lines: list[bytes]) -> list[bytes]:
        """The data of the lines, with error events marked as such, and data of several lines joined."""
        found: list[bytes] = []
        for line in lines:
            if line.startswith(b"event:"):
                self._is_error = line[6:].strip() == b"error"
            elif line.startswith(_ERROR):
                found.append(ErrorData(line[len(_ERROR) :].strip()))
            elif line.startswith(b"data:"):
                data = line[5:].strip()
                if self._begun or _is_incomplete(data):
                    self._keep(data)
                else:
                    found.append(ErrorData(data) if self._is_error else data)
            elif not line.strip():
                if self._begun:
                    data, self._begun, self._begun_bytes = b"\n".join(self._begun), [], 0
                    found.append(ErrorData(data) if self._is_error else data)
                self._is_error = False
        return found

    def _keep(self, data: bytes) -> None:
        self._begun.append(data)
        self._begun_bytes += len(data) + 1
        if self._begun_bytes > MAX_LINE_BYTES:
            raise SseOverflowError


def _has_error(block: bytes) -> bool:
    return (
        b"event: error" in block
        or b"event:error" in block
        or block.startswith(_ERROR)
        or b"\nerror:" in block
        or b"\rerror:" in block
    )


def _lines_of(block: bytes) -> list[bytes]:
    """The lines of a block, and the rest after them. A carriage return at the end stays in the rest, since it may be
    half of a line break."""
    if b"\r" not in block:
        return block.split(b"\n")
    end = b"\r" if block.endswith(b"\r") else b""
    lines = block[: len(block) - len(end)].replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    lines[-1] += end
    return lines


def _is_incomplete(data: bytes) -> bool:
    """Whether the data is the beginning of JSON that ends on another line."""
    return data[:1] in (b"{", b"[") and data[-1:] not in (b"}", b"]")
