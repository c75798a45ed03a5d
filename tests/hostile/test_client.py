"""A client without an account, on a bare socket: it costs little, what it leaves half done ends, others are served."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import struct
import time
from collections.abc import Iterator

import httpx
import pytest

from service_kit.listening.peers import PENDING_PER_ADDRESS
from support.bare import connect, ended, honest_client, pour
from support.gateway_process import GatewayProcess, run_gateway_process
from support.hurried_gateway import BODY_WINDOW_S, HEAD_S, LINGER_S
from support.servers import Server
from support.tls import NO_TLS

MB = 1_000_000
GROWTH_MB = 80
"""What an attack may cost; each of them cost hundreds before."""
TAKEN_LATE = 40_000
"""After its end was told, a socket reads so much and more, so that who sends no more is not reset."""
PATIENT_S = 10.0
"""An honest answer meanwhile, on two cores that also run the attack and other tests. Whoever is shut out has none for
30 s or is refused; what holds the gateway up for less shows in the processor time it takes."""
SLACK_S = 20.0
"""Beyond a deadline that is kept, as the one who looks has to wait for a processor, too."""


@pytest.fixture(scope="module")
def gateway(
    mongo_server: Server, redis_server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GatewayProcess]:
    with run_gateway_process(
        tmp_path_factory.mktemp("gateway"),
        mongo_server,
        "hostile_client",
        redis_server,
        program="support.hurried_gateway",
    ) as running:
        yield running


def problem(body: bytes) -> tuple[int, str]:
    told = json.loads(body)
    return told["status"], told["code"]


GET = b"GET /api/auth/status HTTP/1.1\r\nHost: 127.0.0.1\r\n"
POST = b"POST /api/auth/login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize(
    ("head", "piece", "refusal"),
    [
        pytest.param(GET, b"X-A: " + b"a" * 8000 + b"\r\n", (431, "headers_too_large"), id="headers without end"),
        pytest.param(
            GET,
            b"a:b\r\n" * 1000,
            (431, "headers_too_large"),
            id="small headers without end",
            marks=pytest.mark.thorough,
        ),
        pytest.param(GET + b"X-A: ", b"a" * 65536, (431, "headers_too_large"), id="one header without end"),
        pytest.param(
            GET,
            b"a" * 65536,
            (431, "headers_too_large"),
            id="the name of a header without end",
            marks=pytest.mark.thorough,
        ),
        pytest.param(b"GET /", b"a" * 65536, (414, "uri_too_long"), id="an address without end"),
        pytest.param(
            b"GET /?", b"%00" * 20000, (414, "uri_too_long"), id="a query without end", marks=pytest.mark.thorough
        ),
        pytest.param(
            b"", b"\r\n" * 30000, (431, "headers_too_large"), id="empty lines without end", marks=pytest.mark.thorough
        ),
        pytest.param(b"\x16\x03\x01", b"\x00" * 65536, (400, "bad_request"), id="TLS where there is none"),
        pytest.param(
            POST + b"Transfer-Encoding: chunked\r\n\r\n",
            b"1\r\na\r\n" * 10000,
            (400, "bad_request"),
            id="chunks of one byte",
        ),
        pytest.param(
            POST + b"Transfer-Encoding: chunked\r\n\r\n2;",
            b"a" * 65536,
            (400, "bad_request"),
            id="an extension of a chunk without end",
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            POST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n",
            b"X-A: b\r\n" * 1000,
            (431, "headers_too_large"),
            id="trailers without end",
        ),
    ],
)
async def test_what_has_no_end_is_refused_early(
    gateway: GatewayProcess, head: bytes, piece: bytes, refusal: tuple[int, str]
) -> None:
    before, cpu = gateway.rss_mb(), gateway.cpu_s()
    async with honest_client(gateway.url) as honest:
        answer = await pour(gateway.port, head, piece, 150 * MB)
    assert problem(answer.body) == refusal
    assert answer.status == refusal[0]
    assert answer.sent < 20 * MB, "it was read on"
    assert gateway.rss_mb() - before < GROWTH_MB
    assert gateway.cpu_s() - cpu < 2.0
    assert (honest.failures, honest.slowest < PATIENT_S) == ([], True)


async def test_thousands_of_half_requests_shut_nobody_out_and_end_by_themselves(gateway: GatewayProcess) -> None:
    before = gateway.rss_mb()
    async with honest_client(gateway.url) as honest:
        half = [await connect(gateway.port) for _ in range(2050)]
        for _, writer in half:
            writer.write(GET)
        began = time.monotonic()
        await asyncio.sleep(1.0)
        await asyncio.gather(*(ended(reader, HEAD_S + LINGER_S + SLACK_S) for reader, _ in half))
        took = time.monotonic() - began
        for _, writer in half:
            writer.transport.abort()
    assert (honest.failures, honest.slowest < PATIENT_S) == ([], True)
    assert len(honest.seconds) > 5
    assert took < HEAD_S + LINGER_S + SLACK_S
    assert gateway.rss_mb() - before < GROWTH_MB


@pytest.mark.quiet
async def test_half_requests_of_many_addresses_go_before_an_honest_one(gateway: GatewayProcess) -> None:
    sources = [f"127.0.1.{number}" for number in range(1, 21)]
    async with honest_client(gateway.url) as honest:
        half = [await connect(gateway.port, source) for source in sources for _ in range(PENDING_PER_ADDRESS)]
        for _, writer in half:
            writer.write(POST + b"Content-Length: 100\r\n\r\n{")
        await asyncio.sleep(2.0)
        for _, writer in half:
            writer.transport.abort()
    assert (honest.failures, honest.slowest < PATIENT_S) == ([], True)


@pytest.mark.thorough
async def test_what_is_left_half_done_ends_and_what_comes_on_does_not(gateway: GatewayProcess) -> None:
    """All of them wait at the same time, each on a connection of its own."""
    async with asyncio.TaskGroup() as tasks:
        for one in (head_by_bytes, half_a_body, body_that_drips, slow_body, silent_connection, done_connection):
            tasks.create_task(one(gateway), name=one.__name__)


async def head_by_bytes(gateway: GatewayProcess) -> None:
    reader, writer = await connect(gateway.port)
    began = time.monotonic()

    async def drip() -> None:
        for byte in GET + b"X-A: " + b"a" * 1000:
            writer.write(bytes([byte]))
            await asyncio.sleep(0.2)

    dripping = asyncio.create_task(drip())
    raw = await ended(reader, HEAD_S + LINGER_S + SLACK_S)
    dripping.cancel()
    assert problem(raw.partition(b"\r\n\r\n")[2]) == (408, "request_timeout")
    assert time.monotonic() - began > HEAD_S - 1, "it has its time"
    writer.transport.abort()


async def half_a_body(gateway: GatewayProcess) -> None:
    reader, writer = await connect(gateway.port)
    writer.write(POST + b"Content-Length: 1000\r\n\r\n{")
    raw = await ended(reader, BODY_WINDOW_S + LINGER_S + SLACK_S)
    assert problem(raw.partition(b"\r\n\r\n")[2]) == (408, "request_timeout")
    writer.transport.abort()


async def body_that_drips(gateway: GatewayProcess) -> None:
    reader, writer = await connect(gateway.port)
    writer.write(POST + b"Content-Length: 100000\r\n\r\n{")

    async def drip() -> None:
        while True:
            writer.write(b" ")
            await asyncio.sleep(0.5)

    dripping = asyncio.create_task(drip())
    raw = await ended(reader, BODY_WINDOW_S + LINGER_S + SLACK_S)
    dripping.cancel()
    assert problem(raw.partition(b"\r\n\r\n")[2]) == (408, "request_timeout")
    writer.transport.abort()


async def slow_body(gateway: GatewayProcess) -> None:
    """Over more than a window, and far over what has to come in each."""
    reader, writer = await connect(gateway.port)
    body = json.dumps({"username": "nobody", "password": "x" * 20}).encode().ljust(12_000)
    writer.write(POST + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body))
    pieces = [body[start : start + 400] for start in range(0, len(body), 400)]
    for piece in pieces:
        writer.write(piece)
        await asyncio.sleep(1.5 * BODY_WINDOW_S / len(pieces))
    assert (await ended(reader, SLACK_S)).startswith(b"HTTP/1.1 401 ")
    writer.close()


async def silent_connection(gateway: GatewayProcess) -> None:
    reader, writer = await connect(gateway.port)
    assert await ended(reader, HEAD_S + SLACK_S) == b""
    writer.close()


async def done_connection(gateway: GatewayProcess) -> None:
    reader, writer = await connect(gateway.port)
    writer.write(GET + b"\r\n")
    assert (await ended(reader, HEAD_S + SLACK_S)).startswith(b"HTTP/1.1 200 ")
    writer.close()


async def test_a_request_answered_early_is_not_read_for_ever(gateway: GatewayProcess) -> None:
    head = POST + b"Content-Length: 9000000000\r\n\r\n"
    before = gateway.rss_mb()
    answer = await pour(gateway.port, head, b" " * 65536, 9_000_000_000, within_s=LINGER_S + SLACK_S)
    assert answer.status == 413
    assert gateway.rss_mb() - before < GROWTH_MB


async def test_requests_sent_ahead_are_bounded(gateway: GatewayProcess) -> None:
    before = gateway.rss_mb()
    async with honest_client(gateway.url) as honest:
        answers = [
            await pour(gateway.port, b"", b"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 5000, 20 * MB)
            for _ in range(10)
        ]
    assert all(answer.sent < 20 * MB for answer in answers)
    assert gateway.rss_mb() - before < GROWTH_MB
    assert (honest.failures, honest.slowest < PATIENT_S) == ([], True)


async def open_socket(gateway: GatewayProcess) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A WebSocket without a token: it has five seconds for an auth frame."""
    reader, writer = await connect(gateway.port)
    key = base64.b64encode(os.urandom(16)).decode()
    writer.write(
        f"GET /api/sessions/none/ws HTTP/1.1\r\nHost: 127.0.0.1:{gateway.port}\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode()
    )
    async with asyncio.timeout(10):
        head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 101 ")
    return reader, writer


def frame(opcode: int, payload: bytes, *, is_last: bool = True) -> bytes:
    """As a client sends it, masked with nothing."""
    first = opcode | (0x80 if is_last else 0)
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else b"\xff" + struct.pack("!Q", size)
    return bytes([first]) + length + bytes(4) + payload


PIECES = [
    pytest.param(frame(9, b""), 1008, id="pings"),
    pytest.param(frame(9, b"p" * 125), 1008, id="fat pings", marks=pytest.mark.thorough),
    pytest.param(frame(10, b""), 1008, id="pongs", marks=pytest.mark.thorough),
    pytest.param(frame(1, b"{}"), 4401, id="texts"),
    pytest.param(frame(0, b"", is_last=False), 1008, id="empty pieces", marks=pytest.mark.thorough),
    pytest.param(frame(1, b"a" * 1_000_000), 1009, id="a large frame"),
]


@pytest.mark.parametrize(("piece", "code"), PIECES)
async def test_a_socket_without_a_log_in_costs_next_to_nothing(
    gateway: GatewayProcess, piece: bytes, code: int
) -> None:
    before, cpu = gateway.rss_mb(), gateway.cpu_s()
    async with honest_client(gateway.url) as honest:
        for _ in range(5):
            reader, writer = await open_socket(gateway)
            writer.write(frame(1, b"", is_last=False) if piece[0] == 0 else b"")
            writer.write(piece * max(4 * MB // len(piece), 1))
            raw = await ended(reader, 10)
            # Who sends on and on may be reset before the code was read.
            if raw:
                assert struct.pack("!H", code) in raw
            writer.transport.abort()
    assert gateway.rss_mb() - before < GROWTH_MB
    assert gateway.cpu_s() - cpu < 2.0
    assert (honest.failures, honest.slowest < PATIENT_S) == ([], True)


@pytest.mark.parametrize(("piece", "code"), PIECES)
async def test_a_socket_that_is_refused_is_told_why(gateway: GatewayProcess, piece: bytes, code: int) -> None:
    reader, writer = await open_socket(gateway)
    writer.write(frame(1, b"", is_last=False) if piece[0] == 0 else b"")
    writer.write((piece * 20)[:TAKEN_LATE])
    raw = await ended(reader, 10)
    assert re.search(rb"\x88." + re.escape(struct.pack("!H", code)), raw, re.DOTALL), raw[-200:]
    writer.close()


def of_many_keys(size: int) -> bytes:
    keys = b",".join(b'"%x":1' % number for number in range(size // 9))
    return b"{%b}" % keys


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(of_many_keys(1_900_000), id="names nobody knows"),
        pytest.param(b'{"username":[' + b"[]," * 600_000 + b"1]}", id="lists"),
        pytest.param(b"[" * 1_900_000, id="nested without end"),
    ],
)
async def test_a_body_of_nothing_but_values_costs_next_to_nothing(gateway: GatewayProcess, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    async with httpx.AsyncClient(base_url=f"{gateway.url}/api", timeout=30, verify=NO_TLS) as client:
        before, busy = gateway.rss_mb(), gateway.cpu_s()
        answers = [await client.post("/auth/login", content=body, headers=headers) for _ in range(3)]
    assert {(answer.status_code, answer.json()["code"]) for answer in answers} == {(422, "invalid")}
    assert [answer.json()["errors"][0]["field"] for answer in answers] == ["body"] * 3
    assert max(len(answer.content) for answer in answers) < 1_000
    assert gateway.rss_mb() - before < GROWTH_MB
    assert gateway.cpu_s() - busy < 1.0, "each of them took a second"


async def test_of_what_is_wrong_with_a_body_the_first_is_told_and_names_are_not_repeated_whole(
    gateway: GatewayProcess,
) -> None:
    body = of_many_keys(15_000)[:-1] + b',"%b":1}' % (b"x" * 1_000_000)
    async with httpx.AsyncClient(base_url=f"{gateway.url}/api", timeout=30, verify=NO_TLS) as client:
        answer = await client.post("/auth/login", content=body, headers={"Content-Type": "application/json"})
        long = await client.post("/auth/login", json={"x" * 1_000_000: 1})
    assert [(one.status_code, len(one.content) < 20_000) for one in (answer, long)] == [(422, True), (422, True)]
    assert len(answer.json()["errors"]) == 20
