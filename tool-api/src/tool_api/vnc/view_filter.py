"""Let a viewer see without touching: a filter over the client's half of the RFB stream (RFC 6143 and extensions).

Only messages that request pictures pass, each of them whole; input is dropped, except from a viewer that has control.
The size that a viewer wants is reported, not passed on: the screen is not theirs alone. Unknown messages are refused,
so that a client can't hide input behind a message the X server reads differently.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

VERSION_LENGTH = 12
VERSIONS_WITH_CHOICE = (b"RFB 003.007\n", b"RFB 003.008\n")
VERSION_WITHOUT_CHOICE = b"RFB 003.003\n"
SECURITY_NONE = 1
EXTENDED_MOUSE_BUTTONS = (-316).to_bytes(4, "big", signed=True)
MAX_ENCODINGS = 1024
MAX_FENCE_PAYLOAD = 64
MAX_CLIPBOARD = 16 * 1024 * 1024

SET_PIXEL_FORMAT, SET_ENCODINGS, UPDATE_REQUEST, KEY, POINTER, CUT_TEXT = 0, 2, 3, 4, 5, 6
CONTINUOUS_UPDATES, FENCE, XVP, SET_DESKTOP_SIZE, GII, QEMU = 150, 248, 250, 251, 253, 255


class RfbProtocolError(Exception):
    """The client sent what no well-behaved viewer sends; the connection has to be closed."""


@dataclass(frozen=True, slots=True)
class _Message:
    """The framing of a message: its length follows from its first `header` bytes."""

    header: int
    length: Callable[[bytes], int]
    passes: bool


def _fixed(length: int) -> Callable[[bytes], int]:
    return lambda _: length


def _set_encodings(head: bytes) -> int:
    count = int.from_bytes(head[2:4], "big")
    if count > MAX_ENCODINGS:
        raise RfbProtocolError("too many encodings")
    return 4 + 4 * count


def _cut_text(head: bytes) -> int:
    # A negative length marks the extended clipboard: its size is the absolute value.
    size = abs(int.from_bytes(head[4:8], "big", signed=True))
    if size > MAX_CLIPBOARD:
        raise RfbProtocolError("clipboard too large")
    return 8 + size


def _fence(head: bytes) -> int:
    if head[8] > MAX_FENCE_PAYLOAD:
        raise RfbProtocolError("fence payload too large")
    return 9 + head[8]


def _qemu(head: bytes) -> int:
    if head[1] == 0:
        return 12
    if head[1] == 1:
        return 10 if int.from_bytes(head[2:4], "big") == 2 else 4
    raise RfbProtocolError("unknown QEMU message")


_MESSAGES = {
    SET_PIXEL_FORMAT: _Message(1, _fixed(20), passes=True),
    SET_ENCODINGS: _Message(4, _set_encodings, passes=True),
    UPDATE_REQUEST: _Message(1, _fixed(10), passes=True),
    KEY: _Message(1, _fixed(8), passes=False),
    POINTER: _Message(2, _fixed(6), passes=False),
    CUT_TEXT: _Message(8, _cut_text, passes=False),
    CONTINUOUS_UPDATES: _Message(1, _fixed(10), passes=True),
    FENCE: _Message(9, _fence, passes=True),
    XVP: _Message(1, _fixed(4), passes=False),
    SET_DESKTOP_SIZE: _Message(7, lambda head: 8 + 16 * head[6], passes=False),
    GII: _Message(4, lambda head: 4 + int.from_bytes(head[2:4], "big"), passes=False),
    QEMU: _Message(4, _qemu, passes=False),
}


class ViewerFilter:
    """Takes the client's bytes, cut anywhere, and returns the bytes the X server may read.

    It holds at most one unfinished message of those that pass; dropped ones are not kept at all.
    """

    def __init__(self, *, view_only: bool = True, want_size: Callable[[int, int], None] | None = None) -> None:
        self._view_only, self._want_size = view_only, want_size
        self._buffer = bytearray()
        self._skip = 0
        self._take: Callable[[], bytes | None] = self._take_version
        self._extended_pointer = False

    @property
    def held(self) -> int:
        """Bytes of an unfinished message waiting for their rest."""
        return len(self._buffer)

    def feed(self, data: bytes) -> bytes:
        """The bytes of `data`, and of those held back before, that may go on. Raises `RfbProtocolError`."""
        if self._skip >= len(data):
            self._skip -= len(data)
            return b""
        self._buffer += memoryview(data)[self._skip :]
        self._skip = 0
        passed = bytearray()
        while self._buffer and (piece := self._take()) is not None:
            passed += piece
        return bytes(passed)

    def _take_version(self) -> bytes | None:
        if len(self._buffer) < VERSION_LENGTH:
            return None
        version = self._pop(VERSION_LENGTH)
        if version in VERSIONS_WITH_CHOICE:
            self._take = self._take_security
        elif version == VERSION_WITHOUT_CHOICE:
            self._take = self._take_client_init
        else:
            raise RfbProtocolError("unknown protocol version")
        return version

    def _take_security(self) -> bytes | None:
        if self._buffer[0] != SECURITY_NONE:
            raise RfbProtocolError("unknown security type")
        self._take = self._take_client_init
        return self._pop(1)

    def _take_client_init(self) -> bytes | None:
        self._take = self._take_message
        return self._pop(1)

    def _take_message(self) -> bytes | None:
        kind = _MESSAGES.get(self._buffer[0])
        if kind is None:
            raise RfbProtocolError("unknown message")
        if len(self._buffer) < kind.header:
            return None
        length = kind.length(bytes(self._buffer[: kind.header]))
        if self._buffer[0] == POINTER and self._extended_pointer and self._buffer[1] & 0x80:
            length += 1
        is_size = self._buffer[0] == SET_DESKTOP_SIZE
        if not is_size and self._view_only and not kind.passes:
            self._skip = max(0, length - len(self._buffer))
            del self._buffer[:length]
            return b""
        if len(self._buffer) < length:
            return None
        message = self._pop(length)
        if is_size:
            if self._want_size is not None:
                self._want_size(int.from_bytes(message[2:4], "big"), int.from_bytes(message[4:6], "big"))
            return b""
        if message[0] == SET_ENCODINGS:
            # With this extension agreed, the highest button bit announces one more byte of buttons.
            encodings = {message[at : at + 4] for at in range(4, length, 4)}
            self._extended_pointer = EXTENDED_MOUSE_BUTTONS in encodings
        return message

    def _pop(self, length: int) -> bytes:
        piece = bytes(self._buffer[:length])
        del self._buffer[:length]
        return piece
