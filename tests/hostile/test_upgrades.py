"""Requests that ask for another protocol: their bodies are not taken for requests, and no answer is left without an
end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from backend_api.kit.listening.server import server_for
from support.bare import connect, ended
from support.listening import on_loopback

WAIT_S = 20.0
BEHIND = b"GET /behind HTTP/1.1\r\nHost: x\r\n\r\n"


class Site:
    """What was asked for, and when the endless answer began and ended."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.begun, self.ended = asyncio.Event(), asyncio.Event()
        self.port = 0

    async def hello(self, request: Request) -> Response:
        self.asked.append(request.url.path)
        return Response("hello")

    async def stream(self, request: Request) -> Response:
        return StreamingResponse(self._pieces())

    async def _pieces(self) -> AsyncGenerator[bytes]:
        self.begun.set()
        try:
            while True:
                yield b"piece"
                await asyncio.sleep(0.05)
        finally:
            self.ended.set()


@pytest.fixture
async def site() -> AsyncGenerator[Site]:
    made = Site()
    routes = [Route("/stream", made.stream), Route("/{path:path}", made.hello, methods=["GET", "POST"])]
    async with on_loopback(server_for(Starlette(routes=routes), graceful_s=1)) as url:
        made.port = int(url.rpartition(":")[2])
        yield made


def request_of(method: str, path: str, protocol: str, *lines: str) -> bytes:
    head = [f"{method} {path} HTTP/1.1", "Host: x", "Connection: upgrade", f"Upgrade: {protocol}", *lines]
    return "\r\n".join([*head, "", ""]).encode()


@pytest.mark.parametrize("protocol", ["h2c", "websocket", "other"])
@pytest.mark.parametrize("line", [f"Content-Length: {len(BEHIND)}", "Transfer-Encoding: chunked"])
async def test_the_body_of_a_request_with_upgrade_is_not_carried_out_as_the_next_one(
    site: Site, protocol: str, line: str
) -> None:
    reader, writer = await connect(site.port)
    writer.write(request_of("POST", "/", protocol, line))
    answer = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), WAIT_S)
    assert answer.startswith(b"HTTP/1.1 400 ")
    writer.write(BEHIND)
    assert b"Send it without Upgrade." in await ended(reader, WAIT_S)
    assert site.asked == []
    writer.close()


async def test_a_request_with_upgrade_and_no_body_is_answered_as_if_it_had_none(site: Site) -> None:
    reader, writer = await connect(site.port)
    writer.write(request_of("POST", "/", "h2c", "Content-Length: 0"))
    assert (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), WAIT_S)).startswith(b"HTTP/1.1 200 ")
    writer.close()


async def test_an_answer_under_way_ends_where_a_socket_is_asked_for_behind_it(site: Site) -> None:
    reader, writer = await connect(site.port)
    writer.write(b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
    await asyncio.wait_for(site.begun.wait(), WAIT_S)
    socket = ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]
    writer.write(request_of("GET", "/socket", "websocket", *socket))
    assert b"403" not in await ended(reader, WAIT_S), "the answer of the one behind came first"
    await asyncio.wait_for(site.ended.wait(), WAIT_S)
    writer.close()
