"""Programs behind opened ports that do their worst: each ends with its request, and costs nobody else anything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, suppress
from urllib.parse import urlsplit

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.utils import accept_key

from backend_api.previews.tool_api.sandbox_apps import MAX_MESSAGE_BYTES
from support.endpoint import RunningEndpoint
from support.gate import some_in_gate
from support.gateway import Gateway
from support.previews import Reached, endpoint, preview_gateway, program, reach, web_app
from support.servers import Server, emptied_database_name

__all__ = ["emptied_database_name", "endpoint"]

HEAD_S = 1.5


@pytest.fixture
async def gateway(
    endpoint: RunningEndpoint, mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> AsyncGenerator[Gateway]:
    """It waits for heads of answers for a moment only."""
    async with preview_gateway(mongo_server, redis_server, mongo_database_name, endpoint, head_s=HEAD_S) as gateway:
        yield gateway


class Worst:
    """A program that says the same without end, or once, and knows when it is left."""

    def __init__(self, *pieces: bytes, for_ever: bytes = b"", every_s: float = 0.0) -> None:
        self._pieces = pieces
        self._for_ever = for_ever
        self._every_s = every_s
        self.sent = 0
        self.left = asyncio.Event()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            for piece in self._pieces:
                writer.write(piece)
            await writer.drain()
            while self._for_ever:
                writer.write(self._for_ever)
                self.sent += len(self._for_ever)
                await writer.drain()
                await asyncio.sleep(self._every_s)
            await reader.read()
        self.left.set()
        writer.close()


HEAD = b"HTTP/1.1 200 OK\r\n"
HEADS = {
    "endless headers": Worst(HEAD, for_ever=b"X-A: " + b"a" * 2000 + b"\r\n"),
    "one endless header": Worst(HEAD, b"X-A: ", for_ever=b"a" * 65536),
    "100 for ever": Worst(for_ever=b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
    "103 for ever": Worst(for_ever=b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n"),
    "a byte now and then": Worst(for_ever=b"H", every_s=0.1),
    "nothing": Worst(),
    "no HTTP": Worst(b"SSH-2.0-OpenSSH_9.6\r\n\r\n", for_ever=b"\x00" * 1000),
    "many headers": Worst(HEAD, b"X-A: a\r\n" * 1000, b"\r\nhello"),
    "a switch nobody asked for": Worst(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
    "a status that is none": Worst(b"HTTP/1.1 600 Odd\r\nContent-Length: 0\r\n\r\n"),
    "a control character": Worst(HEAD, b"X-A: a\x01b\r\nContent-Length: 0\r\n\r\n"),
    "two lengths": Worst(HEAD, b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
    "a header that breaks a line": Worst(HEAD, b"X-A: a\rSet-Cookie: b=1\r\nX\x00: y\r\n\r\n"),
}


@pytest.mark.parametrize(
    "case",
    some_in_gate(
        HEADS,
        (
            "endless headers",
            "100 for ever",
            "a byte now and then",
            "nothing",
            "no HTTP",
            "many headers",
            "a switch nobody asked for",
            "two lengths",
            "a header that breaks a line",
        ),
    ),
)
async def test_a_head_that_is_none_ends_in_a_page_and_the_program_is_left(gateway: Gateway, case: str) -> None:
    worst = HEADS[case]
    worst.left.clear()
    async with program(worst) as port:
        app = await reach(gateway, port)
        async with asyncio.timeout(8):
            answer = await app.get("/")
            assert answer.status_code == 502
            assert "did not answer" in answer.text
            await worst.left.wait()
    assert worst.sent < 16_000_000
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "body",
    [
        HEAD + b"Content-Length: 5\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhelloX",
    ],
)
async def test_a_body_that_is_not_as_its_head_says_is_broken_off(gateway: Gateway, body: bytes) -> None:
    async def lies(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(body)
        await writer.drain()
        writer.close()

    async with program(lies) as port:
        app = await reach(gateway, port)
        with pytest.raises(httpx.RemoteProtocolError):
            await app.get("/")


async def test_what_a_program_says_after_its_answer_reaches_nobody(gateway: Gateway) -> None:
    answer = HEAD + b"Content-Length: 5\r\n\r\nhello"
    worst = Worst(answer, HEAD + b"Content-Length: 4\r\nSet-Cookie: a=1\r\n\r\nevil")
    async with program(worst) as port:
        app = await reach(gateway, port)
        async with httpx.AsyncClient(limits=httpx.Limits(max_connections=1)) as client:
            found = [(await client.get(app.url("/"), headers=app.headers)).text for _ in range(3)]
    assert found == ["hello"] * 3


async def test_a_flood_is_held_back_by_a_reader_who_does_not_read(gateway: Gateway) -> None:
    worst = Worst(HEAD + b"\r\n", for_ever=bytes(65536))
    async with program(worst) as port:
        app = await reach(gateway, port)
        async with httpx.AsyncClient() as client, client.stream("GET", app.url("/"), headers=app.headers):
            sent = -1
            async with asyncio.timeout(10):
                while sent != worst.sent:
                    sent = worst.sent
                    await asyncio.sleep(0.5)
            assert sent < 32 * 1024 * 1024
            assert (await gateway.client.get("/api/auth/me", headers=app.owner)).status_code == 200
        await asyncio.wait_for(worst.left.wait(), 8)


async def test_a_port_takes_so_many_at_once_and_another_users_none_of_them(gateway: Gateway) -> None:
    silent = Worst(HEAD + b"\r\nfirst")
    async with program(silent) as port, web_app() as other, httpx.AsyncClient(timeout=10) as client:
        app, beside = await reach(gateway, port), await reach(gateway, other, "bert")
        streams = [client.stream("GET", app.url("/"), headers=app.headers) for _ in range(48)]
        entered = await asyncio.gather(*(stream.__aenter__() for stream in streams))
        assert {answer.status_code for answer in entered} == {200}
        over = await app.get("/")
        assert (over.status_code, over.headers["retry-after"]) == (429, "5")
        assert (await beside.get("/echo")).status_code == 200
        await asyncio.gather(*(stream.__aexit__(None, None, None) for stream in streams))
        async with asyncio.timeout(8):
            while await status_of(client, app) != 200:
                await asyncio.sleep(0.1)


async def status_of(client: httpx.AsyncClient, app: Reached) -> int:
    async with client.stream("GET", app.url("/"), headers=app.headers) as answer:
        return answer.status_code


SOCKET = (
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Accept: not-it\r\n\r\n"
)


@pytest.mark.parametrize(
    "worst",
    [
        pytest.param(Worst(SOCKET), marks=pytest.mark.thorough),
        Worst(HEAD + b"\r\nno socket"),
        pytest.param(Worst(b"HTTP/1.1 302 Found\r\nLocation: ws://127.0.0.1:1/\r\n\r\n"), marks=pytest.mark.thorough),
    ],
    ids=["a wrong handshake", "an answer", "a redirect"],
)
async def test_a_socket_that_is_none_is_refused(gateway: Gateway, worst: Worst) -> None:
    async with program(worst) as port:
        app = await reach(gateway, port)
        with pytest.raises(InvalidStatus) as refused:
            await app.socket("/ws")
        assert refused.value.response.status_code == 403
        await asyncio.wait_for(worst.left.wait(), 8)


async def raw_socket(app: Reached, target: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A handshake by hand, of which nothing is read yet."""
    uri = urlsplit(app.gateway.url)
    reader, writer = await asyncio.open_connection(uri.hostname, uri.port, limit=4096)
    said = {
        **app.headers,
        "Origin": f"http://{app.host}",
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    lines = [f"GET {target} HTTP/1.1", *(f"{name}: {value}" for name, value in said.items())]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n")
    return reader, writer


async def test_a_socket_with_a_whole_address_in_the_place_of_a_path_is_refused(gateway: Gateway) -> None:
    async with web_app() as port:
        app = await reach(gateway, port)
        reader, writer = await raw_socket(app, "http://evil.example/ws")
        async with asyncio.timeout(8):
            assert (await reader.readline()).startswith(b"HTTP/1.1 403 ")
        writer.close()
        await writer.wait_closed()


async def test_a_user_has_so_many_sockets_and_requests_beside_them(gateway: Gateway) -> None:
    async with web_app() as port:
        app = await reach(gateway, port)
        async with AsyncExitStack() as sockets:
            for _ in range(24):
                await sockets.enter_async_context(app.socket("/ws"))
            with pytest.raises(InvalidStatus):
                await app.socket("/ws")
            assert (await app.get("/echo")).status_code == 200


class LargeMessages:
    """A program that accepts a socket and sends the largest messages there may be, for as long as they are taken."""

    def __init__(self) -> None:
        self.sent = 0
        self.left = asyncio.Event()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            (key,) = (line.partition(": ")[2] for line in lines if line.lower().startswith("sec-websocket-key:"))
            writer.write(SOCKET.replace(b"not-it", accept_key(key).encode()))
            while True:
                writer.write(b"\x82\x7f" + MAX_MESSAGE_BYTES.to_bytes(8))
                for _ in range(0, MAX_MESSAGE_BYTES, 65536):
                    writer.write(bytes(65536))
                    await writer.drain()
                    self.sent += 65536
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
        self.left.set()


async def test_large_messages_are_held_back_by_a_reader_who_does_not_read(gateway: Gateway) -> None:
    app_sends = LargeMessages()
    async with program(app_sends) as port:
        app = await reach(gateway, port)
        reader, writer = await raw_socket(app, "/ws")
        await reader.readuntil(b"\r\n\r\n")
        sent = -1
        async with asyncio.timeout(10):
            while sent != app_sends.sent:
                sent = app_sends.sent
                await asyncio.sleep(0.5)
        writer.transport.abort()
        with suppress(OSError):
            await writer.wait_closed()
        await asyncio.wait_for(app_sends.left.wait(), 8)
    assert MAX_MESSAGE_BYTES < sent < 6 * MAX_MESSAGE_BYTES + 4 * 1024 * 1024


async def test_a_message_over_the_bound_ends_its_socket(gateway: Gateway) -> None:
    async with web_app() as port:
        app = await reach(gateway, port)
        async with app.socket("/ws", max_size=None) as socket:
            await socket.send(bytes(3 * 1024 * 1024))
            with pytest.raises(ConnectionClosed):
                await asyncio.wait_for(socket.recv(), 8)
        assert (await app.get("/echo")).status_code == 200
