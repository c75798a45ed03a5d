"""A tool API that answers as it likes, in raw bytes, on a real socket."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import gzip
import hashlib
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

ENDLESS_S = 60.0
"""Nothing that is called endless goes on for longer: then the test has failed anyway."""
_BLOCK = 256 * 1024
_KEY = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


@dataclass(frozen=True, slots=True)
class Wire:
    """One connection, after the head of its request was read."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    request: bytes

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def send_for_ever(self, data: bytes, *, pause_s: float = 0.0) -> None:
        """Until nobody takes it any more."""
        repeated = data if pause_s else data * max(1, _BLOCK // len(data))
        async with asyncio.timeout(ENDLESS_S):
            while True:
                await self.send(repeated)
                if pause_s:
                    await asyncio.sleep(pause_s)

    async def hold(self) -> None:
        """Say nothing until the other side goes."""
        async with asyncio.timeout(ENDLESS_S):
            await self.reader.read()

    async def open_socket(self, *headers: str) -> None:
        """Shake hands as a WebSocket server."""
        key = next(
            line.split(b":")[1].strip()
            for line in self.request.split(b"\r\n")
            if line.lower().startswith(b"sec-websocket-key:")
        )
        accept = base64.b64encode(hashlib.sha1(key + _KEY).digest()).decode()
        lines = ["Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Accept: {accept}", *headers]
        await self.send("\r\n".join(["HTTP/1.1 101 Switching Protocols", *lines, "", ""]).encode())


Behaviour = Callable[[Wire], Awaitable[None]]


@asynccontextmanager
async def hostile_endpoint(path: Path, behave: Behaviour) -> AsyncGenerator[Path]:
    """Listens on the path while the block runs."""
    busy: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        busy.add(task)
        try:
            with contextlib.suppress(ConnectionError, TimeoutError, asyncio.IncompleteReadError):
                await behave(Wire(reader, writer, await reader.readuntil(b"\r\n\r\n")))
        finally:
            busy.discard(task)
            writer.close()

    server = await asyncio.start_unix_server(serve, path)
    try:
        yield path
    finally:
        server.close()
        for task in list(busy):
            task.cancel()
        await asyncio.gather(*busy, return_exceptions=True)


def head(*headers: str, status: str = "200 OK") -> bytes:
    """Of an answer that goes on until the connection is closed, unless the headers say more."""
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode()


def whole(body: bytes, *headers: str, status: str = "200 OK") -> Behaviour:
    """An answer as it should be, but for what it says."""

    async def behave(wire: Wire) -> None:
        await wire.send(head(f"Content-Length: {len(body)}", *headers, status=status) + body)
        await wire.hold()

    return behave


def said(*parts: bytes) -> Behaviour:
    """These bytes, and then silence."""

    async def behave(wire: Wire) -> None:
        for part in parts:
            await wire.send(part)
        await wire.hold()

    return behave


def endless(begin: bytes, block: bytes, *, pause_s: float = 0.0) -> Behaviour:
    """A beginning, and the same again and again."""

    async def behave(wire: Wire) -> None:
        await wire.send(begin)
        await wire.send_for_ever(block, pause_s=pause_s)

    return behave


def socket_endless(begin: bytes, block: bytes, *headers: str, reads: bool = True) -> Behaviour:
    """An open WebSocket that sends the same again and again; with `reads` false it takes nothing."""

    async def behave(wire: Wire) -> None:
        await wire.open_socket(*headers)
        await wire.send(begin)
        if reads:
            drained = asyncio.ensure_future(wire.reader.read())
            try:
                await wire.send_for_ever(block)
            finally:
                drained.cancel()
        else:
            await wire.send_for_ever(block)

    return behave


def frame(opcode: int, payload: bytes = b"", *, fin: bool = True, length: int | None = None) -> bytes:
    """A WebSocket frame of a server; `length` is what it says of itself."""
    size = len(payload) if length is None else length
    first = bytes([(0x80 if fin else 0) | opcode])
    if size < 126:
        return first + bytes([size]) + payload
    if size < 65536:
        return first + b"\x7e" + size.to_bytes(2, "big") + payload
    return first + b"\x7f" + size.to_bytes(8, "big") + payload


def result(**fields: object) -> bytes:
    """The last line of a call."""
    told = {"success": True, "output": "", **fields}
    return json.dumps({"type": "result", "result": told}).encode() + b"\n"


def output(text: str) -> bytes:
    """A line of live output."""
    return json.dumps({"type": "output", "offset": 0, "text": text}).encode() + b"\n"


def bomb(megabytes: int) -> bytes:
    """Compressed to a thousandth."""
    return gzip.compress(bytes(megabytes * 1024 * 1024), 6)
