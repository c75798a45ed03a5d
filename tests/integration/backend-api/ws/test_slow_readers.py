"""A reader that takes nothing is cut off, goes on later where it was, and holds up nobody."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator

import pytest
import websockets

from backend_api.agent.events import Notice
from backend_api.kit import measures
from backend_api.kit.ids import SessionId
from backend_api.kit.listening.slow_peers import HttpProtocol, WebSocketProtocol
from support.gateway import Gateway
from support.streams import reading

EVENTS = 400
TEXT = "x" * 50_000
"""Altogether more than any buffer between two sockets."""


@pytest.fixture
def short_write_timeout() -> Iterator[None]:
    """Half a second instead of 30."""
    before = HttpProtocol.write_timeout_s
    HttpProtocol.write_timeout_s = WebSocketProtocol.write_timeout_s = 0.5
    yield
    HttpProtocol.write_timeout_s = WebSocketProtocol.write_timeout_s = before


async def long_session(gateway: Gateway, headers: dict[str, str]) -> str:
    session_id = SessionId(await gateway.session(headers))
    for _ in range(EVENTS // 10):
        await gateway.ports.log.append(session_id, [Notice(text=TEXT)] * 10)
    return session_id


async def deaf_client(gateway: Gateway, request: str) -> socket.socket:
    """Sends a request and reads nothing; its receive buffer is small."""
    loop = asyncio.get_running_loop()
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
    client.setblocking(False)
    host, port = gateway.url.removeprefix("http://").split(":")
    await loop.sock_connect(client, (host, int(port)))
    await loop.sock_sendall(client, request.encode())
    return client


def counted(name: str, transport: str) -> float:
    return measures.REGISTRY.get_sample_value(name, {"transport": transport}) or 0.0


def slow_readers(transport: str) -> float:
    return counted("agent_slow_readers_total", transport)


async def cut(transport: str, before: float) -> None:
    async with asyncio.timeout(30):
        while slow_readers(transport) <= before:
            await asyncio.sleep(0.05)


async def nobody_streams() -> None:
    async with asyncio.timeout(30):
        while any(counted("agent_stream_readers", transport) for transport in ("sse", "ws")):
            await asyncio.sleep(0.05)


@pytest.mark.usefixtures("short_write_timeout")
async def test_an_event_stream_nobody_reads_is_cut_and_others_go_on(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await long_session(gateway, anna)
    path = f"/api/sessions/{session_id}/events"
    before = slow_readers("http")
    deaf = await deaf_client(
        gateway, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {anna['Authorization']}\r\n\r\n"
    )
    try:
        async with reading(gateway.client, path, anna) as reader:
            frames = await reader.take_frames(100)
        await cut("http", before)
        await nobody_streams()
        async with reading(gateway.client, path, anna, last_id=frames[-1].id) as reader:
            frames += await reader.take_frames(EVENTS - 100)
        assert [frame.data["seq"] for frame in frames] == list(range(1, EVENTS + 1))
    finally:
        deaf.close()


@pytest.mark.thorough
@pytest.mark.usefixtures("short_write_timeout")
async def test_a_socket_nobody_reads_is_cut(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await long_session(gateway, anna)
    path = f"/api/sessions/{session_id}/ws"
    before = slow_readers("ws")
    deaf = await deaf_client(
        gateway,
        f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {anna['Authorization']}\r\nConnection: Upgrade\r\n"
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    )
    try:
        await cut("ws", before)
        await nobody_streams()
        url = f"{gateway.url.replace('http', 'ws')}{path}?after=390"
        async with asyncio.timeout(20), websockets.connect(url, additional_headers=anna) as socket_:
            assert [json.loads(await socket_.recv())["seq"] for _ in range(10)] == list(range(391, 401))
    finally:
        deaf.close()


@pytest.mark.thorough
async def test_a_reader_that_is_slow_but_reads_gets_everything(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await long_session(gateway, anna)
    numbers: list[int] = []
    async with reading(gateway.client, f"/api/sessions/{session_id}/events", anna) as reader:
        for frame in range(EVENTS):
            if frame % 40 == 0:
                await asyncio.sleep(0.02)
            numbers.append((await reader.next()).data["seq"])
    assert numbers == list(range(1, EVENTS + 1))
