"""Puts a text on the desktop's clipboard over RFB, for as long as it takes a program to paste it.

Xvnc requests the text from its announcer when a program pastes (the extended clipboard of RFB), which shows whether one
did. Keys alone can't write every script: X has some twenty keys to spare, and a program that learns late of a key's new
meaning takes one character for another.
"""

from __future__ import annotations

import asyncio
import struct
import zlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

_VERSION = b"RFB 003.008\n"
_EXTENDED_CLIPBOARD = -0x3F5E1A32
_SET_ENCODINGS, _CLIENT_CUT_TEXT = 2, 6
_BELL, _SERVER_CUT_TEXT = 2, 3
_TEXT = 1
_CAPABILITIES, _REQUEST, _NOTIFY, _PROVIDE = 1 << 24, 1 << 25, 1 << 27, 1 << 28
_MOST_BYTES = 16 * 1024 * 1024
CONNECT_S = 5.0


class ClipboardError(Exception):
    """The X server does not take a text for its clipboard."""


class ClipboardText:
    """A text on the clipboard; `pasted` is set once a program has requested it."""

    def __init__(self, text: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.pasted = asyncio.Event()
        self._announced = asyncio.Event()
        self._text = text.replace("\n", "\r\n").encode() + b"\0"
        self._reader, self._writer = reader, writer

    async def greet(self) -> None:
        """The handshake, without a password as Xvnc has none."""
        await self._reader.readexactly(len(_VERSION))
        self._writer.write(_VERSION)
        kinds = await self._reader.readexactly((await self._reader.readexactly(1))[0])
        if 1 not in kinds:
            raise ClipboardError("it asks for a password")
        self._writer.write(b"\x01")
        await self._reader.readexactly(4)
        self._writer.write(b"\x01")
        head = await self._reader.readexactly(24)
        await self._skip(struct.unpack(">I", head[20:])[0])
        self._writer.write(struct.pack(">BxHi", _SET_ENCODINGS, 1, _EXTENDED_CLIPBOARD))

    async def serve(self) -> None:
        """Announce the text, and send it whenever it is requested."""
        while True:
            kind = (await self._reader.readexactly(1))[0]
            if kind == _BELL:
                continue
            if kind != _SERVER_CUT_TEXT:
                raise ClipboardError(f"it sent an unexpected message {kind}")
            size: int = struct.unpack(">3xi", await self._reader.readexactly(7))[0]
            if size >= 0:
                await self._skip(size)
                continue
            if -size < 4:
                raise ClipboardError("it sent an incomplete message")
            flags: int = struct.unpack(">I", await self._reader.readexactly(4))[0]
            await self._skip(-size - 4)
            if flags & _CAPABILITIES:
                self._send(_CAPABILITIES | _REQUEST | _NOTIFY | _PROVIDE | _TEXT, struct.pack(">I", _MOST_BYTES))
                self._send(_NOTIFY | _TEXT)
                self._announced.set()
            elif flags & _REQUEST:
                self._send(_PROVIDE | _TEXT, zlib.compress(struct.pack(">I", len(self._text)) + self._text))
                self.pasted.set()
            await self._writer.drain()

    async def announced(self) -> None:
        """Wait until the X server has it on its clipboard."""
        await self._announced.wait()

    def _send(self, flags: int, body: bytes = b"") -> None:
        self._writer.write(struct.pack(">B3xiI", _CLIENT_CUT_TEXT, -(4 + len(body)), flags) + body)

    async def _skip(self, size: int) -> None:
        if size > _MOST_BYTES:
            raise ClipboardError("it sent too much")
        while size > 0:
            size -= len(await self._reader.readexactly(min(size, 65_536)))


@asynccontextmanager
async def temporary_clipboard(text: str, socket_path: str) -> AsyncGenerator[ClipboardText]:
    """The text on the clipboard for as long as the block lasts. Raises `ClipboardError`."""
    try:
        async with asyncio.timeout(CONNECT_S):
            reader, writer = await asyncio.open_unix_connection(socket_path)
    except (OSError, TimeoutError) as error:
        raise ClipboardError("it takes no connection") from error
    clipboard = ClipboardText(text, reader, writer)
    serving: asyncio.Task[None] | None = None
    try:
        async with asyncio.timeout(CONNECT_S):
            await clipboard.greet()
            serving = asyncio.create_task(clipboard.serve(), name="clipboard")
            await clipboard.announced()
        yield clipboard
    except (OSError, EOFError, TimeoutError) as error:
        raise ClipboardError("it does not answer") from error
    finally:
        if serving is not None:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
