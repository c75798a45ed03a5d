"""A small RFB client: hand-shake, then whole pictures in raw encoding."""

from __future__ import annotations

import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

VERSION = b"RFB 003.008\n"
Send = Callable[[bytes], Awaitable[None]]
Receive = Callable[[], Awaitable[bytes]]


@dataclass
class RfbClient:
    """Speaks over any pair of `send` and `receive`; `receive` may answer any number of bytes, none at the end."""

    send: Send
    receive: Receive
    width: int = 0
    height: int = 0
    name: str = ""
    _held: bytes = b""

    async def connect(self) -> None:
        """Greet, choose no security, share the desktop, learn its size."""
        assert await self.read(12) == VERSION
        await self.send(VERSION)
        types = await self.read((await self.read(1))[0])
        assert 1 in types
        await self.send(b"\x01")
        assert await self.read(4) == b"\0\0\0\0"
        await self.send(b"\x01")
        head = await self.read(24)
        self.width, self.height = struct.unpack(">HH", head[:4])
        self.name = (await self.read(struct.unpack(">I", head[20:24])[0])).decode()

    async def picture(self) -> bytes:
        """The whole screen as 32-bit pixels (blue, green, red, unused)."""
        await self.send(struct.pack(">BxH", 2, 1) + struct.pack(">i", 0))
        await self.send(struct.pack(">BBHHHH", 3, 0, 0, 0, self.width, self.height))
        screen = bytearray(self.width * self.height * 4)
        covered = 0
        while covered < self.width * self.height:
            kind = (await self.read(1))[0]
            assert kind == 0, f"unexpected message {kind}"
            _, rectangles = struct.unpack(">BH", await self.read(3))
            for _ in range(rectangles):
                x, y, width, height, encoding = struct.unpack(">HHHHi", await self.read(12))
                assert encoding == 0
                pixels = await self.read(width * height * 4)
                for row in range(height):
                    at = ((y + row) * self.width + x) * 4
                    screen[at : at + width * 4] = pixels[row * width * 4 : (row + 1) * width * 4]
                covered += width * height
        return bytes(screen)

    async def pointer(self, x: int, y: int, buttons: int = 0) -> None:
        """Move the pointer, or try to."""
        await self.send(struct.pack(">BBHH", 5, buttons, x, y))

    async def read(self, size: int) -> bytes:
        """Exactly `size` bytes; raises `EOFError` when the stream ends first."""
        parts, have = [self._held], len(self._held)
        while have < size:
            part = await self.receive()
            if not part:
                raise EOFError
            parts.append(part)
            have += len(part)
        whole = b"".join(parts)
        self._held = whole[size:]
        return whole[:size]
