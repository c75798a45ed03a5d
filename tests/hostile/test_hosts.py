"""A page that points its own name at this server is refused under that name, by HTTP and by socket, in each mode."""

from __future__ import annotations

import asyncio
from collections.abc import Generator

import httpx
import pytest

from support.bare import connect, ended
from support.gateway_process import GatewayProcess, run_gateway_process
from support.servers import Server
from support.stack import Stack
from support.tls import NO_TLS


@pytest.fixture(scope="module")
def gateway(
    mongo_server: Server, redis_server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Generator[GatewayProcess]:
    with run_gateway_process(
        tmp_path_factory.mktemp("gateway"),
        mongo_server,
        "hostile_hosts",
        redis_server,
        ALLOWED_HOSTS="chat.example.org, *.lan.example",
        CORS_ORIGINS="https://page.example.net",
    ) as running:
        yield running


async def status(port: int, *hosts: str, path: str = "/api/auth/status", more: str = "", version: str = "1.1") -> int:
    reader, writer = await connect(port, "127.0.0.1")
    named = "".join(f"Host: {host}\r\n" for host in hosts)
    writer.write(f"GET {path} HTTP/{version}\r\n{named}{more}Connection: close\r\n\r\n".encode())
    raw = await ended(reader, 20)
    writer.close()
    return int(raw.split(b" ", 2)[1])


FINE = [
    "127.0.0.1",
    "127.0.0.1:8000",
    "localhost:5173",
    "LOCALHOST",
    "localhost.",
    "[::1]:8000",
    "192.0.2.7",
    "[2001:db8::7]",
    "chat.example.org",
    "Chat.Example.ORG.:443",
    "a.lan.example",
    "a.b.lan.example:80",
    "page.example.net",
]
STRANGE = [
    "evil.example",
    "evil.example:8000",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "chat.example.org.evil.example",
    "evilchat.example.org",
    "lan.example",
    "xlan.example",
    "2130706433",
    "0x7f000001",
    "evil",
]
BROKEN = ["localhost@evil.example", "evil.example@localhost", "localhost:x", "[::1", "a b", "localhost/evil", "."]


async def test_with_passwords_addresses_and_named_hosts_are_served_and_no_others(gateway: GatewayProcess) -> None:
    assert {host: await status(gateway.port, host) for host in FINE} == dict.fromkeys(FINE, 200)
    assert {host: await status(gateway.port, host) for host in STRANGE} == dict.fromkeys(STRANGE, 403)
    assert {host: await status(gateway.port, host) for host in BROKEN} == dict.fromkeys(BROKEN, 400)


async def test_what_is_refused_says_what_to_do(gateway: GatewayProcess) -> None:
    async with httpx.AsyncClient(trust_env=False, verify=NO_TLS) as http:
        answer = await http.get(f"{gateway.url}/api/auth/status", headers={"Host": "evil.example"})
        told = answer.json()
        assert (answer.status_code, told["code"]) == (403, "host_forbidden")
        assert "evil.example" in told["detail"]
        assert "ALLOWED_HOSTS" in told["detail"]
        register = {"username": "rebound", "password": "rebound-password"}
        for headers in ({"Host": "evil.example"}, {"Host": "evil.example", "Origin": "http://evil.example"}):
            refused = await http.post(f"{gateway.url}/api/auth/register", json=register, headers=headers)
            assert refused.status_code == 403
        assert (await http.get(f"{gateway.url}/api/auth/status")).json()["has_users"] is False


async def test_one_host_is_said_once_and_the_target_of_a_request_is_none(gateway: GatewayProcess) -> None:
    assert await status(gateway.port, "localhost", "evil.example") == 400
    assert await status(gateway.port, "evil.example", path="http://localhost/api/auth/status") == 403
    assert await status(gateway.port, version="1.0") == 200
    forwarded = "X-Forwarded-Host: localhost\r\nForwarded: host=localhost\r\n"
    assert await status(gateway.port, "evil.example", more=forwarded) == 403


SOCKET = (
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


async def socket_status(port: int, host: str, origin: str) -> int:
    reader, writer = await connect(port, "127.0.0.1")
    line = f"GET /api/sessions/none/ws HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\n{SOCKET}\r\n"
    writer.write(line.encode())
    async with asyncio.timeout(20):
        head = await reader.readuntil(b"\r\n\r\n")
    writer.transport.abort()
    return int(head.split(b" ", 2)[1])


async def test_a_socket_is_refused_under_a_strange_name_and_to_a_page_of_elsewhere(gateway: GatewayProcess) -> None:
    port = gateway.port
    assert await socket_status(port, "evil.example", "http://evil.example") == 403
    assert await socket_status(port, "localhost", "http://evil.example") == 403
    assert await socket_status(port, "localhost", "http://[::1") == 403
    assert await socket_status(port, "localhost", "null") == 403
    assert await socket_status(port, f"localhost:{port}", f"http://localhost:{port}") == 101
    assert await socket_status(port, "chat.example.org", "https://chat.example.org") == 101
    assert await socket_status(port, "chat.example.org", "https://page.example.net") == 101


async def test_the_local_mode_answers_to_this_machines_names_alone(stack: Stack) -> None:
    port = int(stack.base_url.rpartition(":")[2])
    assert await status(port, "localhost") == 200
    assert await status(port, "[::1]") == 200
    for host in ("evil.example", "192.0.2.7", "chat.example.org"):
        assert await status(port, host) == 403
    assert await status(port) == 400
    foreign = "Origin: http://evil.example\r\n"
    assert await status(port, "localhost", more=foreign) == 403
    assert await status(port, "localhost", more="Origin: http://[::1\r\n") == 403
