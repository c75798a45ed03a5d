"""Gives the screen another size over an RFB connection of its own (the extension ExtendedDesktopSize)."""

from __future__ import annotations

import asyncio
import struct
from contextlib import suppress

from tool_api.vnc.sizes import ScreenSize

_VERSION = b"RFB 003.008\n"
_RAW, _EXTENDED_DESKTOP_SIZE = 0, -308
_SET_ENCODINGS, _UPDATE_REQUEST, _SET_DESKTOP_SIZE = 2, 3, 251
_UPDATE, _COLOURS, _BELL, _CUT_TEXT = 0, 1, 2, 3
_BY_US = 1
_MOST_BYTES = 16 * 1024 * 1024
_PIXEL_BYTES = 4
RESIZE_S = 5.0


class ResizeError(Exception):
    """The X server does not take another size."""


async def resize_screen(socket_path: str, size: ScreenSize) -> None:
    """Give the screen this size; does nothing if it has it. Raises `ResizeError`."""
    try:
        async with asyncio.timeout(RESIZE_S):
            reader, writer = await asyncio.open_unix_connection(socket_path)
            try:
                await _resize(reader, writer, size)
            finally:
                writer.close()
                with suppress(OSError):
                    await writer.wait_closed()
    except (OSError, EOFError, TimeoutError) as error:
        raise ResizeError("it does not answer") from error


async def _resize(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, size: ScreenSize) -> None:
    await reader.readexactly(len(_VERSION))
    writer.write(_VERSION)
    kinds = await reader.readexactly((await reader.readexactly(1))[0])
    if 1 not in kinds:
        raise ResizeError("it asks for a password")
    writer.write(b"\x01")
    await reader.readexactly(4)
    writer.write(b"\x01")
    head = await reader.readexactly(24)
    has = ScreenSize(*struct.unpack(">HH", head[:4]))
    await _skip(reader, struct.unpack(">I", head[20:])[0])
    if has == size:
        return
    writer.write(struct.pack(">BxH2i", _SET_ENCODINGS, 2, _RAW, _EXTENDED_DESKTOP_SIZE))
    # The answer lists the screens; only one pixel of the picture is requested.
    writer.write(struct.pack(">BBHHHH", _UPDATE_REQUEST, 0, 0, 0, 1, 1))
    await writer.drain()
    _, _, screen = await _next_layout(reader)
    wanted = (size.width, size.height)
    writer.write(struct.pack(">BxHHBx", _SET_DESKTOP_SIZE, *wanted, 1))
    writer.write(struct.pack(">IHHHHI", screen[0], 0, 0, *wanted, screen[1]))
    writer.write(struct.pack(">BBHHHH", _UPDATE_REQUEST, 1, 0, 0, 1, 1))
    await writer.drain()
    while True:
        reason, status, _ = await _next_layout(reader)
        if reason == _BY_US:
            if status:
                raise ResizeError(f"it refuses the size with the code {status}")
            return


async def _next_layout(reader: asyncio.StreamReader) -> tuple[int, int, tuple[int, int]]:
    """The reason for and status of the next layout message, and the number and flags of its first screen."""
    while True:
        kind = (await reader.readexactly(1))[0]
        if kind == _UPDATE:
            count: int = struct.unpack(">xH", await reader.readexactly(3))[0]
            found = None
            for _ in range(count):
                found = await _rectangle(reader) or found
            if found is not None:
                return found
        elif kind == _COLOURS:
            await _skip(reader, 6 * struct.unpack(">xHH", await reader.readexactly(5))[1])
        elif kind == _CUT_TEXT:
            await _skip(reader, abs(struct.unpack(">3xi", await reader.readexactly(7))[0]))
        elif kind != _BELL:
            raise ResizeError(f"it sent an unexpected message {kind}")


async def _rectangle(reader: asyncio.StreamReader) -> tuple[int, int, tuple[int, int]] | None:
    reason, status, width, height, encoding = struct.unpack(">HHHHi", await reader.readexactly(12))
    if encoding == _RAW:
        await _skip(reader, width * height * _PIXEL_BYTES)
        return None
    if encoding != _EXTENDED_DESKTOP_SIZE:
        raise ResizeError(f"it sent an unexpected rectangle {encoding}")
    screens: int = (await reader.readexactly(4))[0]
    layout = await reader.readexactly(16 * screens)
    if not screens:
        raise ResizeError("it has no screen")
    number, flags = struct.unpack(">I8xI", layout[:16])
    return reason, status, (number, flags)


async def _skip(reader: asyncio.StreamReader, size: int) -> None:
    if size > _MOST_BYTES:
        raise ResizeError("it sent too much")
    while size > 0:
        size -= len(await reader.readexactly(min(size, 65_536)))
