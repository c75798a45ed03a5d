"""Tunnels to real listening programs, through real WebSockets."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
import uvicorn
from fastapi import FastAPI
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from contracts.ports import MAX_FRAME_BYTES, CloseCode
from contracts.sandboxes import Scope
from support.endpoint import KeyPair
from support.listening import serving
from tool_api.access import Access
from tool_api.http.ports import ports_router
from tool_api.ports.rules import PortRules
from tool_api.ports.tunnel import TunnelLimits, Tunnels

KEYS = KeyPair()
BIG = bytes(range(256)) * 4096 * 8
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(65536):
        writer.write(chunk)
        await writer.drain()
    writer.close()


@asynccontextmanager
async def program(handler: Handler, host: str = "127.0.0.1") -> AsyncGenerator[int]:
    """A program that listens; its port."""
    server = await asyncio.start_server(handler, host, 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


@asynccontextmanager
async def endpoint(
    folder: Path, *, own: frozenset[int] = frozenset(), limits: TunnelLimits | None = None
) -> AsyncGenerator[Path]:
    """The socket of an endpoint with nothing but the route."""
    app, path = FastAPI(), folder / "door.sock"
    access = Access(sandbox_id="sandbox-1", generation=1, public_key_pem=KEYS.public_pem)
    tunnels = Tunnels(PortRules(own_ports=lambda: own), limits or TunnelLimits())
    app.include_router(ports_router(access, tunnels))
    async with serving(
        uvicorn.Server(uvicorn.Config(app, uds=str(path), log_level="error", ws_per_message_deflate=False))
    ):
        yield path


@asynccontextmanager
async def tunnel(path: Path, port: int | str) -> AsyncGenerator[ClientConnection]:
    made = socket.socket(socket.AF_UNIX)
    made.connect(str(path))
    made.setblocking(False)
    bearer = KEYS.token(scopes=[Scope.PORTS], sub="sandbox-1")
    async with connect(
        f"ws://endpoint/ports/{port}",
        sock=made,
        additional_headers={"Authorization": f"Bearer {bearer}"},
        max_size=None,
        compression=None,
        proxy=None,
    ) as opened:
        yield opened


async def closed_with(opened: ClientConnection) -> int:
    await asyncio.wait_for(opened.wait_closed(), 5)
    assert opened.close_code is not None
    return opened.close_code


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
async def test_bytes_pass_both_ways_whole_and_in_order(tmp_path: Path, host: str) -> None:
    async with program(echo, host) as port, endpoint(tmp_path) as path, tunnel(path, port) as opened:
        async with asyncio.TaskGroup() as group:
            group.create_task(_send(opened, BIG))
            received = bytearray()
            while len(received) < len(BIG):
                received += await asyncio.wait_for(_bytes(opened), 5)

    assert bytes(received) == BIG


async def test_what_a_program_said_before_it_ended_arrives_and_then_the_end(tmp_path: Path) -> None:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"good bye")
        writer.close()

    async with program(answer) as port, endpoint(tmp_path) as path, tunnel(path, port) as opened:
        assert await asyncio.wait_for(opened.recv(), 5) == b"good bye"
        assert await closed_with(opened) == CloseCode.ENDED


@pytest.mark.thorough
async def test_what_comes_in_very_small_pieces_is_gathered(tmp_path: Path) -> None:
    async def drip(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(3000):
            writer.write(b"x")
            await asyncio.sleep(0)
        writer.close()

    frames, received, clock = 0, b"", asyncio.get_running_loop().time
    async with program(drip) as port, endpoint(tmp_path) as path, tunnel(path, port) as opened:
        began = clock()
        with suppress(ConnectionClosed):
            while True:
                received += await asyncio.wait_for(_bytes(opened), 5)
                frames += 1
    assert received == b"x" * 3000
    assert frames < 1100 * (clock() - began) + 5


async def test_a_program_hears_that_the_other_side_has_gone(tmp_path: Path) -> None:
    ended = asyncio.Event()

    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()
        ended.set()

    async with program(wait) as port, endpoint(tmp_path) as path:
        async with tunnel(path, port) as opened:
            await opened.send(b"hello")
        await asyncio.wait_for(ended.wait(), 5)


@pytest.mark.parametrize("port", ["0", "80", "65536", "7000", "-1", "3000x", "٣٠٠٠", "9" * 5000])
async def test_a_port_that_is_none_is_refused(tmp_path: Path, port: str) -> None:
    async with endpoint(tmp_path) as path, tunnel(path, port) as opened:
        assert await closed_with(opened) == CloseCode.REFUSED_PORT


async def test_a_service_of_the_sandboxs_own_is_refused(tmp_path: Path) -> None:
    async with program(echo) as port, endpoint(tmp_path, own=frozenset({port})) as path, tunnel(path, port) as opened:
        assert await closed_with(opened) == CloseCode.REFUSED_PORT


async def test_where_nothing_listens_is_said(tmp_path: Path) -> None:
    async with program(echo) as port:
        pass
    async with endpoint(tmp_path) as path, tunnel(path, port) as opened:
        assert await closed_with(opened) == CloseCode.NOTHING_LISTENS


async def test_connections_of_a_port_are_bounded_and_a_place_comes_free(tmp_path: Path) -> None:
    limits = TunnelLimits(connections_of_a_port=1)
    async with program(echo) as port, program(echo) as other, endpoint(tmp_path, limits=limits) as path:
        async with tunnel(path, port) as first:
            await first.send(b"a")
            assert await asyncio.wait_for(first.recv(), 5) == b"a"
            async with tunnel(path, port) as second:
                assert await closed_with(second) == CloseCode.TOO_MANY
            async with tunnel(path, other) as third:
                await third.send(b"b")
                assert await asyncio.wait_for(third.recv(), 5) == b"b"
        async with asyncio.timeout(5):
            while not await _echoes(path, port):
                pass


@pytest.mark.thorough
async def test_a_connection_without_a_byte_for_too_long_ends(tmp_path: Path) -> None:
    limits = TunnelLimits(idle_s=0.2)
    async with program(echo) as port, endpoint(tmp_path, limits=limits) as path, tunnel(path, port) as opened:
        assert await closed_with(opened) == CloseCode.TOO_SLOW


async def test_a_program_that_reads_nothing_ends_the_connection(tmp_path: Path) -> None:
    release = asyncio.Event()

    async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await release.wait()
        writer.transport.abort()

    limits = TunnelLimits(stalled_s=0.3)
    async with program(deaf) as port, endpoint(tmp_path, limits=limits) as path, tunnel(path, port) as opened:
        sending = asyncio.create_task(_send(opened, BIG * 4))
        assert await closed_with(opened) == CloseCode.TOO_SLOW
        release.set()
        await asyncio.gather(sending, return_exceptions=True)


@pytest.mark.parametrize("frame", ["text", bytes(MAX_FRAME_BYTES + 1)])
async def test_a_frame_that_is_text_or_too_large_ends_the_connection(tmp_path: Path, frame: str | bytes) -> None:
    async with program(echo) as port, endpoint(tmp_path) as path, tunnel(path, port) as opened:
        await opened.send(frame)
        assert await closed_with(opened) == CloseCode.UNSUPPORTED


async def _send(opened: ClientConnection, body: bytes) -> None:
    for start in range(0, len(body), 65536):
        await opened.send(body[start : start + 65536])


async def _bytes(opened: ClientConnection) -> bytes:
    data = await opened.recv()
    assert isinstance(data, bytes)
    return data


async def _echoes(path: Path, port: int) -> bool:
    async with tunnel(path, port) as opened:
        try:
            await opened.send(b"c")
            return await asyncio.wait_for(opened.recv(), 5) == b"c"
        except ConnectionClosed:
            return False
