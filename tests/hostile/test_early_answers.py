"""An answer that is sent before all of a body has come: the next request on the connection is answered, or the answer
says that there is none."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from backend_api.kit.listening.server import server_for
from service_kit.listening import http
from service_kit.listening.http import FRAMING_BYTES, LINGER_BYTES, LINGER_S, REST_BYTES
from support.bare import connect, ended
from support.listening import on_loopback

FAR = REST_BYTES + 1
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
LENGTH, CHUNKED = "Content-Length: %d", "Transfer-Encoding: chunked"
WAIT_S = 20.0


async def refuse(request: Request) -> Response:
    return Response("refused", 401)


async def read_some(request: Request) -> Response:
    taken = 0
    async for piece in request.stream():
        taken += len(piece)
        if taken > 10_000_000:
            return Response("too large", 413)
    return Response("taken")


async def stream(request: Request) -> Response:
    async def pieces() -> AsyncGenerator[bytes]:
        while True:
            yield b"piece"
            await asyncio.sleep(0.05)

    return StreamingResponse(pieces())


async def hello(request: Request) -> Response:
    return Response("hello")


async def later(request: Request) -> Response:
    await asyncio.sleep(0.3)
    return Response("later")


ROUTES = [
    Route("/refuse", refuse, methods=["POST"]),
    Route("/read", read_some, methods=["POST"]),
    Route("/stream", stream, methods=["POST"]),
    Route("/", hello),
    Route("/later", later),
]


@pytest.fixture
async def port() -> AsyncGenerator[int]:
    async with on_loopback(server_for(Starlette(routes=ROUTES), graceful_s=1)) as url:
        yield int(url.rpartition(":")[2])


async def opened(port: int, path: str, *lines: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await connect(port)
    writer.write("\r\n".join([f"POST {path} HTTP/1.1", "Host: x", *lines, "", ""]).encode())
    return reader, writer


async def answer(reader: asyncio.StreamReader) -> tuple[str, bool]:
    """Its status line, and whether it ends the connection."""
    async with asyncio.timeout(WAIT_S):
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = next(line for line in head.splitlines() if line.startswith("content-length:"))
        await reader.readexactly(int(length.partition(":")[2]))
    return head.splitlines()[0], "\r\nconnection: close\r\n" in head


async def send_all(writer: asyncio.StreamWriter, body: bytes) -> None:
    for start in range(0, len(body), 65_536):
        writer.write(body[start : start + 65_536])
        await writer.drain()


def chunk(size: int) -> bytes:
    return b"%x\r\n%s\r\n0\r\n\r\n" % (size, b"x" * size)


async def test_a_connection_of_which_little_is_missing_takes_the_next_request(port: int) -> None:
    reader, writer = await opened(port, "/refuse", LENGTH % REST_BYTES)
    assert await answer(reader) == ("http/1.1 401 unauthorized", False)
    await send_all(writer, b"x" * REST_BYTES + GET)
    assert await answer(reader) == ("http/1.1 200 ok", False)
    writer.close()


@pytest.mark.parametrize(
    ("path", "lines", "body", "status"),
    [
        pytest.param("/refuse", [LENGTH % FAR], b"x" * FAR, 401, id="more than little"),
        pytest.param("/refuse", [LENGTH % 2_000_000], b"x" * 2_000_000, 401, id="2 MB"),
        pytest.param("/refuse", [CHUNKED], chunk(10), 401, id="of a length that nobody knows"),
        pytest.param(
            "/refuse", [LENGTH % 10, "Connection: close"], b"x" * 10, 401, id="where the client wants no more"
        ),
        pytest.param("/read", [LENGTH % 11_000_000], b"x" * 11_000_000, 413, id="too large, once so much was read"),
        pytest.param("/read", [CHUNKED], chunk(11_000_000), 413, id="too large, in chunks"),
    ],
)
async def test_where_much_is_missing_the_answer_ends_the_connection_and_comes_whole(
    port: int, path: str, lines: list[str], body: bytes, status: int
) -> None:
    reader, writer = await opened(port, path, *lines)
    if status == 401:
        told = await answer(reader)
        await send_all(writer, body)
    else:
        # All of it first, as simple clients do: the rest is taken, so that they are not cut off.
        await send_all(writer, body)
        told = await answer(reader)
    assert (told[0].split()[1], told[1]) == (str(status), True)
    writer.write(GET)
    assert await ended(reader, WAIT_S) == b"", "what is sent all the same is not answered"
    writer.close()


@pytest.mark.parametrize("size", [pytest.param(10, marks=pytest.mark.thorough), 2_000_000])
async def test_a_client_that_waits_with_its_body_is_told_that_the_connection_ends(port: int, size: int) -> None:
    reader, writer = await opened(port, "/refuse", LENGTH % size, "Expect: 100-continue")
    assert await answer(reader) == ("http/1.1 401 unauthorized", True)
    # Whether its body comes or not is nobody's to know: a request would be taken for it.
    assert await ended(reader, LINGER_S + WAIT_S) == b""
    writer.close()


async def test_what_comes_right_behind_the_body_is_not_carried_out(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    begin = http.BoundedHttpProtocol.on_url

    def on_url(protocol: http.BoundedHttpProtocol, url: bytes) -> None:
        begun.append(url.decode())
        begin(protocol, url)

    monkeypatch.setattr(http.BoundedHttpProtocol, "on_url", on_url)
    reader, writer = await opened(port, "/refuse", CHUNKED)
    assert (await answer(reader))[1]
    writer.write(chunk(10) + GET * 3)
    assert await ended(reader, WAIT_S) == b""
    assert begun == ["/refuse"]
    writer.close()


async def test_what_is_sent_behind_the_body_is_left_with_the_sender_while_the_answer_goes_on(port: int) -> None:
    reader, writer = await opened(port, "/stream", CHUNKED)
    await asyncio.wait_for(reader.readuntil(b"piece"), WAIT_S)
    writer.write(chunk(10))
    sent, most = 0, 20 * LINGER_BYTES
    with contextlib.suppress(TimeoutError):
        while sent < most:
            writer.write(b"x" * 65_536)
            await asyncio.wait_for(writer.drain(), 1)
            sent += 65_536
    assert sent < most
    await asyncio.wait_for(reader.readuntil(b"piece"), WAIT_S)
    writer.transport.abort()


async def test_no_second_answer_comes_where_the_rest_of_the_body_breaks_a_bound(port: int) -> None:
    reader, writer = await opened(port, "/refuse", CHUNKED)
    assert (await answer(reader))[1]
    with contextlib.suppress(ConnectionError):
        await send_all(writer, b"1\r\nx\r\n" * (FRAMING_BYTES + 1_000))
    assert await ended(reader, WAIT_S) == b""
    writer.close()


async def test_an_answer_says_nothing_of_the_body_of_the_request_behind_it(port: int) -> None:
    reader, writer = await connect(port)
    head = f"POST /refuse HTTP/1.1\r\nHost: x\r\n{LENGTH % FAR}\r\n\r\n"
    writer.write(GET.replace(b"/", b"/later", 1) + head.encode())
    assert await answer(reader) == ("http/1.1 200 ok", False)
    assert await answer(reader) == ("http/1.1 401 unauthorized", True)
    writer.close()
