"""Bare sockets of a client without manners, and an honest one that is timed beside it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx

from support.tls import NO_TLS

SENT_S = 30.0


@dataclass(slots=True)
class Answer:
    """What came back on one connection until it was closed."""

    status: int
    body: bytes
    seconds: float
    sent: int = 0
    sent_before: int = 0
    """When the first of the answer came."""


async def connect(port: int, source: str = "127.0.0.2") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """From an address of the attacker's."""
    return await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))


async def pour(
    port: int, head: bytes, piece: bytes, most: int, *, source: str = "127.0.0.2", within_s: float = SENT_S
) -> Answer:
    """Send the head and then the piece again and again, `most` bytes in all, until the server ends it."""
    began, sent, sent_before = time.monotonic(), 0, 0
    reader, writer = await connect(port, source)

    async def take() -> bytes:
        nonlocal sent_before
        with contextlib.suppress(ConnectionError):
            first = await reader.read(65536)
            sent_before = sent
            return first + await all_of(reader)
        return b""

    answered = asyncio.create_task(take())
    try:
        async with asyncio.timeout(within_s):
            with contextlib.suppress(ConnectionError):
                writer.write(head)
                while sent < most and not answered.done():
                    writer.write(piece)
                    await writer.drain()
                    sent += len(piece)
            raw = await answered
    finally:
        answered.cancel()
        writer.transport.abort()
    line = raw.split(b"\r\n", 1)[0].split()
    status = int(line[1]) if len(line) > 1 else 0
    return Answer(status, raw.partition(b"\r\n\r\n")[2], time.monotonic() - began, sent, sent_before)


async def ended(reader: asyncio.StreamReader, within_s: float) -> bytes:
    """All that came until the server closed the connection; fails when it stays open."""
    async with asyncio.timeout(within_s):
        return await all_of(reader)


async def all_of(reader: asyncio.StreamReader) -> bytes:
    """Also what came before the connection was reset."""
    came = bytearray()
    with contextlib.suppress(ConnectionError):
        while piece := await reader.read(65536):
            came += piece
    return bytes(came)


@dataclass(slots=True)
class Honest:
    """A client that calls all the time, each time on a new connection: how long each answer took."""

    seconds: list[float] = field(default_factory=list[float])
    failures: list[str] = field(default_factory=list[str])

    @property
    def slowest(self) -> float:
        return max(self.seconds, default=0.0)


@asynccontextmanager
async def honest_client(url: str, path: str = "/api/auth/status") -> AsyncGenerator[Honest]:
    """At work for the length of the block."""
    honest = Honest()

    async def call() -> None:
        while True:
            began = time.monotonic()
            try:
                async with httpx.AsyncClient(base_url=url, timeout=30, trust_env=False, verify=NO_TLS) as http:
                    answer = await http.get(path)
                if answer.status_code != 200:
                    honest.failures.append(str(answer.status_code))
            except httpx.HTTPError as error:
                honest.failures.append(repr(error))
            honest.seconds.append(time.monotonic() - began)
            await asyncio.sleep(0.05)

    calling = asyncio.create_task(call())
    try:
        yield honest
    finally:
        calling.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await calling
