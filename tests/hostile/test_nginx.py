"""A client without an account before the compose stack's nginx: the same bounds, and no secret of a path in its log."""

from __future__ import annotations

import asyncio
import json
import secrets
import subprocess

import httpx
import pytest

from support.bare import ended, honest_client
from support.compose_stack import ComposeStack
from support.stack import wait_until
from support.tls import NO_TLS

pytestmark = pytest.mark.thorough

HEAD_S = 10.0
GET = b"GET /api/auth/status HTTP/1.1\r\nHost: 127.0.0.1\r\n"


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2])


async def connect(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", port_of(url))


async def answer(url: str, sent: bytes, within_s: float = 30) -> tuple[int, bytes]:
    reader, writer = await connect(url)
    writer.write(sent)
    raw = await ended(reader, within_s)
    writer.close()
    return int(raw.split(b" ", 2)[1]) if raw else 0, raw.partition(b"\r\n\r\n")[2]


def logged(stack: ComposeStack, service: str) -> str:
    command = ["docker", "logs", "--tail", "2000", stack.container_of(service)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True, timeout=60)
    return done.stdout.decode(errors="replace")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        pytest.param(b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n", 414, id="a long address"),
        pytest.param(GET + b"X-A: " + b"a" * 20_000 + b"\r\n\r\n", 431, id="a long header"),
        pytest.param(GET + b"X-A: aaaaaaaa\r\n" * 20_000 + b"\r\n", 431, id="many headers"),
        pytest.param(GET + b"a: b\r\n" * 200 + b"Connection: close\r\n\r\n", 431, id="many small headers"),
        pytest.param(b"\x16\x03\x01 garbage\r\n\r\n", 400, id="garbage"),
        pytest.param(GET + b"Content-Length: 999999999\r\n\r\n", 413, id="a large body"),
    ],
)
async def test_what_is_too_large_is_refused_in_the_gateways_words(
    compose_stack: ComposeStack, sent: bytes, status: int
) -> None:
    urls = (compose_stack.base_url, compose_stack.api_url)
    for got, body in await asyncio.gather(*(answer(url, sent) for url in urls)):
        assert (got, json.loads(body)["status"]) == (status, status)


async def test_half_requests_and_half_a_body_end_and_shut_nobody_out(compose_stack: ComposeStack) -> None:
    """Nginx's own windows, 10 s for a head and 20 s for a body, waited for at the same time."""
    head = b"POST /api/auth/login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    body = asyncio.create_task(answer(compose_stack.api_url, head + b"Content-Length: 100\r\n\r\n{", 60))
    async with honest_client(compose_stack.api_url) as honest:
        half = [await connect(compose_stack.api_url) for _ in range(2050)]
        for _, writer in half:
            writer.write(GET)
        await asyncio.gather(*(ended(reader, HEAD_S + 30) for reader, _ in half))
        for _, writer in half:
            writer.transport.abort()
    assert honest.failures == []
    status, _ = await body
    assert status in (0, 408)


async def test_a_strange_name_stays_strange_behind_nginx(compose_stack: ComposeStack) -> None:
    async with httpx.AsyncClient(trust_env=False, verify=NO_TLS) as http:
        for url in (compose_stack.base_url, compose_stack.api_url):
            strange = {"Host": "evil.example", "X-Forwarded-Host": "localhost", "Forwarded": "host=localhost"}
            refused = await http.get(f"{url}/api/auth/status", headers=strange)
            assert (refused.status_code, refused.json()["code"]) == (403, "host_forbidden")
            assert (await http.get(f"{url}/api/auth/status")).status_code == 200


async def test_an_absolute_address_leads_to_nothing_that_its_host_does_not(compose_stack: ComposeStack) -> None:
    head = b"GET http://p-a.localhost/metrics HTTP/1.1\r\nConnection: close\r\nHost: "

    status, _ = await answer(compose_stack.base_url, head + b"127.0.0.1\r\n\r\n")
    of_app, _ = await answer(compose_stack.base_url, head + b"p-a.localhost\r\n\r\n")

    assert status == 400
    assert of_app in (403, 404)  # the gateway's own: there is no such port, or there are none here


async def test_a_request_that_asks_for_another_protocol_keeps_its_body(compose_stack: ComposeStack) -> None:
    """Many clients ask for HTTP/2 in each request. Of those that reach the gateway so, it takes none with a body."""
    asking = {"Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c", "HTTP2-Settings": "AAMAAABkAAQAAP__"}
    async with httpx.AsyncClient(trust_env=False, timeout=60, verify=NO_TLS) as http:
        for url in (compose_stack.base_url, compose_stack.api_url):
            person = {"username": f"u{secrets.token_hex(5)}", "password": secrets.token_hex(12)}
            answered = await http.post(f"{url}/api/auth/register", json=person, headers=asking)
            assert answered.status_code == 201, answered.text


async def test_a_forwarded_address_a_client_makes_up_counts_for_nothing(compose_stack: ComposeStack) -> None:
    async with httpx.AsyncClient(trust_env=False, base_url=compose_stack.api_url, timeout=60, verify=NO_TLS) as http:
        told: list[int] = []
        # The minute that is counted may end in the middle: two of them let no more than 20 pass.
        while 429 not in told and len(told) < 21:
            guess = await http.post(
                "/api/auth/login",
                json={"username": "nobody-here", "password": "guess"},
                headers={"X-Forwarded-For": f"203.0.113.{len(told)}", "X-Real-IP": f"203.0.113.{len(told)}"},
            )
            told.append(guess.status_code)
    assert told == [401] * (len(told) - 1) + [429]
    assert len(told) > 10


async def test_the_log_repeats_no_link_no_ticket_and_no_control_character(compose_stack: ComposeStack) -> None:
    link, ticket, mark = (secrets.token_hex(16) for _ in range(3))
    for url in (compose_stack.base_url, compose_stack.api_url):
        for path in (f"/api/files/{link}", f"/api/%66iles/{link}", f"//api//files/{link}"):
            await answer(url, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        path = f"/api/sessions/none/vnc?ticket={ticket}"
        await answer(url, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        odd = f"GET /{mark}%0a%1b%9b%7f HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
        await answer(url, odd)
    told = logged(compose_stack, "frontend") + logged(compose_stack, "backend-api")
    assert link not in told
    assert ticket not in told
    assert not any(sign in told for sign in "\x1b\x9b\x7f")
    assert mark in told
    assert '"logger": "backend_api.access"' in told


def test_its_places_are_not_cut_down_by_an_engines_own_limit_of_files(compose_stack: ComposeStack) -> None:
    image = json.loads(docker("inspect", compose_stack.container_of("frontend")))[0]["Config"]["Image"]
    options = (
        "--rm",
        "--detach",
        "--read-only",
        "--tmpfs",
        "/tmp",
        "--ulimit",
        "nofile=1024:12000",
        "--network",
        "none",
    )
    started = docker("run", *options, image).strip()
    try:
        assert wait_until(lambda: most_files(started) > 8192, 20), most_files(started)
    finally:
        docker("rm", "--force", started)


def most_files(container: str) -> int:
    """The limit of open files of whichever process there has the highest: the workers', not the first one's."""
    limits = docker("exec", container, "sh", "-c", "grep -h 'open files' /proc/[0-9]*/limits")
    return max(int(line.split()[3]) for line in limits.splitlines())


def docker(*command: str) -> str:
    return subprocess.run(["docker", *command], capture_output=True, check=True, timeout=60, text=True).stdout
