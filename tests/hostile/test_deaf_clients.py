"""Clients without an account that ask for much and take nothing: they keep no place from anybody, and end."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from backend_api.kit.listening.server import listen, server_for
from backend_api.kit.listening.slow_peers import HttpProtocol
from service_kit.listening import peers
from service_kit.listening.http import Config
from service_kit.listening.peers import PENDING_PER_ADDRESS
from support.bare import honest_client
from support.gateway_process import GatewayProcess, run_gateway_process
from support.listening import on_loopback
from support.servers import Server
from support.tls import NO_TLS

EACH = 1000
"""Connections of each address: two of them hold all places there are."""
ADDRESSES = ("127.0.0.2", "127.0.0.3")
SERVED_S = 20.0
"""Long before those who read nothing are cut for it."""
BUNDLE = b"GET /docs/assets/swagger-ui-bundle.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


@pytest.fixture(scope="module")
def gateway(
    mongo_server: Server, redis_server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GatewayProcess]:
    with run_gateway_process(tmp_path_factory.mktemp("gateway"), mongo_server, "deaf_clients", redis_server) as running:
        yield running


async def deaf(port: int, source: str, request: bytes) -> socket.socket:
    """Sends, and reads nothing; next to nothing fits into what it may have unread."""
    loop = asyncio.get_running_loop()
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    client.setblocking(False)
    client.bind((source, 0))
    await loop.sock_connect(client, ("127.0.0.1", port))
    await loop.sock_sendall(client, request)
    return client


@asynccontextmanager
async def deaf_clients(port: int, sources: tuple[str, ...], each: int, request: bytes) -> AsyncGenerator[None]:
    """All of them at once, some hundreds at a time."""
    clients: list[socket.socket] = []
    try:
        for _ in range(0, each, 100):
            wanted = [deaf(port, source, request) for source in sources for _ in range(min(100, each))]
            tried = await asyncio.gather(*wanted, return_exceptions=True)
            clients += [client for client in tried if isinstance(client, socket.socket)]
        assert len(clients) >= each
        yield
    finally:
        for client in clients:
            client.close()


@pytest.mark.quiet
async def test_two_addresses_that_read_nothing_shut_nobody_out(gateway: GatewayProcess) -> None:
    async with (
        deaf_clients(gateway.port, ADDRESSES, EACH, BUNDLE * 8),
        honest_client(gateway.url) as honest,
    ):
        async with asyncio.timeout(SERVED_S):
            while len(honest.seconds) < 20:
                await asyncio.sleep(0.1)
    assert honest.failures == []


@pytest.mark.thorough
async def test_the_description_of_the_api_costs_nothing_to_ask_for(gateway: GatewayProcess) -> None:
    async with httpx.AsyncClient(base_url=gateway.url, trust_env=False, verify=NO_TLS) as http:
        asked = await http.get("/openapi.json")
        again = await http.get("/openapi.json", headers={"If-None-Match": asked.headers["ETag"]})
        assert (asked.status_code, asked.json()["openapi"][:2], again.status_code) == (200, "3.", 304)
        assert (again.content, again.headers["ETag"]) == (b"", asked.headers["ETag"])
        before = gateway.cpu_s()
        for _ in range(1000):
            await http.get("/openapi.json")
    assert gateway.cpu_s() - before < 4.0


async def test_the_kernel_takes_little_for_who_reads_nothing() -> None:
    loop = asyncio.get_running_loop()
    with listen("127.0.0.1", 0) as listener:
        listener.listen()
        listener.setblocking(False)
        client = await deaf(listener.getsockname()[1], "127.0.0.2", b"x")
        answering, _ = await loop.sock_accept(listener)
        taken = 0
        with client, answering, contextlib.suppress(BlockingIOError):
            while taken < 4_000_000:
                taken += answering.send(bytes(64 * 1024))
    assert taken < 500_000


async def test_an_address_keeps_few_connections_whose_answers_it_does_not_take() -> None:
    async with sizes() as (url, connected):
        request = b"GET /?n=9000000 HTTP/1.1\r\nHost: x\r\n\r\n" * 2
        port = int(url.rpartition(":")[2])
        async with deaf_clients(port, ("127.0.0.2",), 100, request):
            await asyncio.sleep(0.5)
            async with deaf_clients(port, ("127.0.0.2",), 100, request):
                assert connected() <= PENDING_PER_ADDRESS


async def test_what_is_answered_and_never_read_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "CLOSE_S", 1.0)
    monkeypatch.setattr(HttpProtocol, "write_timeout_s", 1.0)
    clients: list[socket.socket] = []
    async with sizes() as (url, connected):
        port = int(url.rpartition(":")[2])
        # What the kernel takes differs: of some of these so little is left that nothing else notices it.
        for size in range(2_000_000, 6_000_000, 36_000):
            request = f"GET /?n={size} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
            clients.append(await deaf(port, "127.0.0.2", request))
        async with asyncio.timeout(40):
            while connected():
                await asyncio.sleep(0.2)
    for client in clients:
        client.close()


@asynccontextmanager
async def sizes() -> AsyncGenerator[tuple[str, Callable[[], int]]]:
    """A server of ours that answers with as many bytes as asked, its address, and how many are connected to it."""

    async def sized(request: Request) -> Response:
        return Response(bytes(int(request.query_params["n"])))

    server = server_for(Starlette(routes=[Route("/", sized)]), graceful_s=1)
    assert isinstance(server.config, Config)
    held = server.config.peers
    async with on_loopback(server) as url:
        yield url, lambda: len(held)
