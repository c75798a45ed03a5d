"""A user who is logged in and opens as much as a gateway takes: others hardly notice, and all of it is bounded."""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import psutil
import pytest
import websockets

from backend_api.agent.events import Notice
from backend_api.computers.application.upload_files import UPLOADS_PER_USER
from backend_api.conversations.mongo.event_log import MongoEventLog
from backend_api.identity.application.answer_slots import AT_ONCE
from backend_api.kit.ids import SessionId
from backend_api.kit.listening.slow_peers import WRITE_TIMEOUT_S
from backend_api.main.stores import connect as open_mongo
from service_kit.listening.http import BODY_WINDOW_S, LINGER_S
from support.api_client import ApiClient, register
from support.bare import all_of, connect, honest_client
from support.gateway_process import GatewayProcess, run_gateway_process
from support.servers import Server
from support.stack import Stack, run_stack

DATABASE = "hostile_one_account"
STREAMS = 50
MOST_MB = 300
PATIENT_S = 1.5
"""An honest answer meanwhile, on two cores that also run the attack."""
BURST_S = 4.0
"""The same while hundreds of requests come at once."""
HISTORY = 600
LONG = "x" * 100_000

pytestmark = [pytest.mark.timeout(240), pytest.mark.quiet]
"""Each holds how long an honest client waits."""


@pytest.fixture
def gateway(mongo_server: Server, redis_server: Server, tmp_path: Path) -> Iterator[GatewayProcess]:
    with run_gateway_process(tmp_path, mongo_server, DATABASE, redis_server) as running:
        yield running


@pytest.fixture
async def mallory(gateway: GatewayProcess) -> AsyncGenerator[ApiClient]:
    async with await register(gateway.url, f"mallory-{time.time_ns()}") as account:
        yield account
        account.keep_sessions()


@pytest.fixture(scope="module")
def tenants(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A whole stack with accounts and computers."""
    folder = tmp_path_factory.mktemp("tenants")
    with run_stack(folder, AUTH_MODE="password", RATE_LIMITS="tickets=0") as running:
        yield running


@pytest.fixture
def sockets() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


async def deaf(stack: ExitStack, account: ApiClient, path: str) -> socket.socket:
    """A request whose answer is not read, from an address of the attacker's."""
    client = stack.enter_context(socket.socket())
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.setblocking(False)
    client.bind(("127.0.0.2", 0))
    loop = asyncio.get_running_loop()
    await loop.sock_connect(client, ("127.0.0.1", port_of(account.base_url)))
    head = f"GET /api{path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {account.token}\r\n\r\n"
    await loop.sock_sendall(client, head.encode())
    return client


async def begun(client: socket.socket) -> None:
    """An answer comes, of which no more is read."""
    assert await asyncio.get_running_loop().sock_recv(client, 12) == b"HTTP/1.1 200"


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2])


async def long_history(mongo: Server, session_id: str) -> None:
    async with open_mongo(mongo.uri, DATABASE) as database:
        log = MongoEventLog(database)
        for _ in range(HISTORY // 10):
            await log.append(SessionId(session_id), [Notice(text=LONG)] * 10)
        body = {"session_id": session_id, "seq": 1, "media_type": "text/plain", "content": bytes(200_000)}
        await database["bodies"].insert_many([body | {"part": part} for part in range(40)])


@asynccontextmanager
async def bounded(url: str, rss_mb: Callable[[], float], patient_s: float = PATIENT_S) -> AsyncGenerator[None]:
    """Inside, the gateway stays small and answers others, who come on new connections, quickly."""
    most = 0.0

    async def look() -> None:
        nonlocal most
        while True:
            most = max(most, rss_mb())
            await asyncio.sleep(0.02)

    looking = asyncio.create_task(look())
    try:
        async with honest_client(url) as honest:
            yield
    finally:
        looking.cancel()
    assert most < MOST_MB
    assert (honest.failures, honest.slowest < patient_s) == ([], True), honest.slowest


async def open_socket(account: ApiClient, path: str) -> websockets.ClientConnection:
    address = f"{account.base_url.replace('http', 'ws')}/api{path}"
    headers = {"Authorization": f"Bearer {account.token}"}
    return await websockets.connect(address, additional_headers=headers, ping_interval=None, proxy=None, max_size=None)


async def close_code(connection: websockets.ClientConnection, within_s: float = 10) -> int | None:
    async with asyncio.timeout(within_s):
        await connection.wait_closed()
    return connection.close_code


async def test_streams_of_a_user_are_counted_whichever_way_they_are_opened(
    gateway: GatewayProcess, mallory: ApiClient, sockets: ExitStack
) -> None:
    session_id = await mallory.new_session()
    events, ws = f"/sessions/{session_id}/events", f"/sessions/{session_id}/ws"
    async with bounded(gateway.url, gateway.rss_mb):
        held = [await open_socket(mallory, ws) for _ in range(STREAMS // 2)]
        for _ in range(STREAMS - len(held)):
            await begun(await deaf(sockets, mallory, events))
        refused = [await mallory.http.get(path) for path in [events, "/events"] * 10]
        assert {(answer.status_code, answer.json()["code"]) for answer in refused} == {(429, "too_many_streams")}
        assert all("retry-after" in answer.headers for answer in refused)
        late = [await open_socket(mallory, ws) for _ in range(200)]
        assert {await close_code(one) for one in late} == {4429}
    for one in held:
        await one.close()


async def test_streams_that_are_not_read_keep_little_of_a_long_history(
    gateway: GatewayProcess, mallory: ApiClient, mongo_server: Server, sockets: ExitStack
) -> None:
    session_id = await mallory.new_session()
    await long_history(mongo_server, session_id)
    async with bounded(gateway.url, gateway.rss_mb):
        for _ in range(STREAMS):
            await deaf(sockets, mallory, f"/sessions/{session_id}/events")
        await asyncio.sleep(8)


@pytest.mark.parametrize("query", ["/events?format=json&limit=1000", "/events/1/body"], ids=["pages", "bodies"])
async def test_long_answers_that_are_not_taken_wait_for_their_turn_and_end(
    gateway: GatewayProcess, mallory: ApiClient, mongo_server: Server, sockets: ExitStack, query: str
) -> None:
    session_id = await mallory.new_session()
    await long_history(mongo_server, session_id)
    path = f"/sessions/{session_id}{query}"
    async with await register(gateway.url, f"honest-{time.time_ns()}") as honest:
        own = await honest.new_session()
        async with bounded(gateway.url, gateway.rss_mb, BURST_S):
            for _ in range(AT_ONCE):
                await begun(await deaf(sockets, mallory, path))
            for _ in range(300):
                await deaf(sockets, mallory, path)
            if query.endswith("/body"):
                # Nothing else is larger than what the kernel takes of it at once.
                async with asyncio.timeout(2 * WRITE_TIMEOUT_S):
                    while (refused := await mallory.http.get(path)).status_code == 200:
                        # On a busy machine the first ones may have been given up by now.
                        for _ in range(AT_ONCE):
                            await deaf(sockets, mallory, path)
                assert (refused.status_code, refused.json()["code"]) == (429, "too_many_answers")
            async with asyncio.timeout(BURST_S):
                assert (await honest.http.get(f"/sessions/{own}/events?format=json")).status_code == 200
        sockets.close()
        async with asyncio.timeout(WRITE_TIMEOUT_S):
            while (await mallory.http.get(path)).status_code != 200:
                await asyncio.sleep(0.5)


async def test_answers_beyond_those_at_once_wait_and_come(gateway: GatewayProcess, mallory: ApiClient) -> None:
    session_id = await mallory.new_session()
    path = f"/sessions/{session_id}/events?format=json"
    answers = await asyncio.gather(*(mallory.http.get(path) for _ in range(5 * AT_ONCE)))
    assert {answer.status_code for answer in answers} == {200}


async def test_half_frames_of_all_sockets_are_bounded(gateway: GatewayProcess, mallory: ApiClient) -> None:
    path = f"/sessions/{await mallory.new_session()}/ws"
    async with bounded(gateway.url, gateway.rss_mb):
        held = [await open_socket(mallory, path) for _ in range(STREAMS)]
        for size in (4_000_000, 2_000_000):
            for one in held:
                # The beginning of a frame, all but its last byte.
                one.transport.write(b"\x01\xff" + struct.pack("!Q", size) + bytes(4) + b"a" * (size - 1))
            await asyncio.sleep(3)
            if size == 4_000_000:
                assert {await close_code(one) for one in held} <= {1009, 1006}
                held = [await open_socket(mallory, path) for _ in range(STREAMS)]
    for one in held:
        one.transport.abort()


async def first_answer_s(account: ApiClient) -> float:
    """From a message to the first event of its run."""
    session_id = await account.new_session()
    began = time.monotonic()
    accepted = await account.send(session_id, "hello")
    await account.until(session_id, "run.started", after=accepted["seq"] - 1)
    return time.monotonic() - began


async def test_screens_of_a_user_are_counted_and_others_are_answered(tenants: Stack) -> None:
    gateway = psutil.Process(tenants.children()["gateway"])
    async with (
        await register(tenants.base_url, "viewer") as viewer,
        await register(tenants.base_url, "beside") as beside,
    ):
        session_id = await viewer.new_session()
        await viewer.ask(session_id, "hello")
        root = f"/sessions/{session_id}"
        await viewer.json("GET", f"{root}/files")
        quiet = await first_answer_s(beside)

        async def screen() -> websockets.ClientConnection:
            ticket = await viewer.json("POST", f"{root}/vnc/ticket", json={"mode": "view"}, expect=201)
            return await open_socket(viewer, f"{root}/vnc?ticket={ticket['ticket']}")

        async with bounded(tenants.base_url, lambda: gateway.memory_info().rss / 1e6):
            opened = [await screen() for _ in range(STREAMS)]
            for one in opened:
                # A socket is accepted before it is counted: those that show something are.
                async with asyncio.timeout(20):
                    assert str(await one.recv(), "ascii").startswith("RFB")
            further = [await screen() for _ in range(10)]
            codes = [await close_code(one) for one in further]
            stormy = await first_answer_s(beside)
        assert codes == [4429] * 10
        assert all(one.close_code is None for one in opened)
        assert stormy < quiet + PATIENT_S
        for one in opened:
            one.transport.abort()


FILE = b'--b\r\nContent-Disposition: form-data; name="%s"; filename="a"\r\n\r\nx'
HALF = [(b"", b"\n"), (b"--b\r\nContent-Disp", b"x"), (FILE % b"files", b"x"), (FILE % b"other", b"x")]
"""Bodies as they begin, and what comes of them every other second."""


async def drip(port: int, begun: bytes, piece: bytes) -> bytes:
    """What it was answered."""
    reader, writer = await connect(port)
    answered = asyncio.create_task(all_of(reader))
    writer.write(begun)
    while not answered.done():
        await asyncio.wait([answered], timeout=2)
        writer.write(piece)
    writer.transport.abort()
    return await answered


async def test_uploads_that_drip_have_few_places_and_end_in_time(tenants: Stack) -> None:
    port, gateway = port_of(tenants.base_url), psutil.Process(tenants.children()["gateway"])
    async with (
        await register(tenants.base_url, f"dripping-{time.time_ns()}") as dripping,
        await register(tenants.base_url, f"uploader-{time.time_ns()}") as uploader,
    ):
        session_id, own = await dripping.new_session(), await uploader.new_session()
        head = (
            f"POST /api/sessions/{session_id}/files HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: Bearer {dripping.token}\r\n"
            "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n\r\n"
        ).encode()
        async with bounded(tenants.base_url, lambda: gateway.memory_info().rss / 1e6):
            began = time.monotonic()
            dripped = [drip(port, head + first, piece) for first, piece in HALF * UPLOADS_PER_USER]
            half = [asyncio.create_task(one) for one in dripped]
            await asyncio.sleep(2)
            answer = await uploader.http.post(f"/sessions/{own}/files", files={"files": ("a.txt", b"a")})
            assert answer.status_code == 201
            async with asyncio.timeout(BODY_WINDOW_S + LINGER_S + 15):
                answers = await asyncio.gather(*half)
        statuses = sorted(int(answer.split(b" ", 2)[1]) for answer in answers)
        assert statuses == [408] * UPLOADS_PER_USER + [429] * (len(HALF) - 1) * UPLOADS_PER_USER
        assert time.monotonic() - began < BODY_WINDOW_S + LINGER_S + 5
        again = await dripping.http.post(f"/sessions/{session_id}/files", files={"files": ("a.txt", b"a")})
        assert again.status_code == 201
