"""Commands that fail: each is counted once, by every adapter, and one that only lost its connection is sent again."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from backend_api.agent.events import Event, MessageDelta
from backend_api.computers.domain import ScreenTicket
from backend_api.conversations.domain.entity import RunId
from backend_api.conversations.redis.session_stream import RedisSessionStream
from backend_api.identity.redis import RedisRateLimiter
from backend_api.kit import measures
from backend_api.kit.errors import UnavailableError
from backend_api.kit.ids import SessionId
from backend_api.kit.notifier import Topic
from backend_api.kit.redis.client import Redis, connect_redis
from backend_api.kit.redis.hub import Hub, Listener
from backend_api.kit.redis.notifier import RedisNotifier
from backend_api.kit.redis.tickets import RedisTickets
from backend_api.mcp.redis import RedisPendingSignIns
from backend_api.settings.domain.entity import Sealed
from support.flaky_proxy import FlakyProxy
from support.servers import Server, free_port

SESSION, RUN = SessionId("session"), RunId("run")
DELTA = MessageDelta(message_id="m", offset=0, text="Hello")
STORED = Event(seq=1, at=datetime.now(UTC), session_id=SESSION, run_id=RUN, payload=DELTA)
TICKET = ScreenTicket(user_id="anna", session_id=SESSION, mode="view")


def failures(use: str) -> float:
    return measures.REGISTRY.get_sample_value("agent_redis_failures_total", {"use": use}) or 0.0


@asynccontextmanager
async def client(port: int, reads_for_s: float | None = 1) -> AsyncGenerator[Redis]:
    redis = connect_redis(f"redis://127.0.0.1:{port}", connect_s=1, reads_for_s=reads_for_s)
    try:
        yield redis
    finally:
        await redis.aclose()


def stream(redis: Redis) -> RedisSessionStream:
    return RedisSessionStream(redis, Hub(redis))


COMMANDS: dict[str, Callable[[Redis], Awaitable[object]]] = {
    "notify": lambda redis: RedisNotifier(redis, Hub(redis)).notify(Topic.RUN_QUEUED, "one"),
    "append": lambda redis: stream(redis).append(SESSION, [STORED]),
    "show": lambda redis: stream(redis).show(SESSION, RUN, DELTA),
    "texts": lambda redis: stream(redis).texts(SESSION),
    "hit": lambda redis: RedisRateLimiter(redis).hit("login:anna", limit=1, window_s=60),
    "count": lambda redis: RedisRateLimiter(redis).count("login:anna", window_s=60),
    "forget": lambda redis: RedisRateLimiter(redis).forget("login:anna"),
    "issue a ticket": lambda redis: RedisTickets(redis, "ticket", ScreenTicket).issue(TICKET, ttl_s=60),
    "redeem a ticket": lambda redis: RedisTickets(redis, "ticket", ScreenTicket).redeem("secret"),
    "keep a sign-in": lambda redis: RedisPendingSignIns(redis).keep("a", Sealed(key_id="k", text="t"), ttl_s=60),
    "take a sign-in": lambda redis: RedisPendingSignIns(redis).take("a"),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS.keys())
async def test_a_command_without_a_server_is_counted_once(command: Callable[[Redis], Awaitable[object]]) -> None:
    before = failures("command")
    async with client(free_port()) as redis:
        with contextlib.suppress(UnavailableError):
            await command(redis)
    assert failures("command") == before + 1


async def test_pieces_that_go_together_are_one_command() -> None:
    before = failures("command")
    async with client(free_port()) as redis:
        shown = stream(redis)
        pieces = [MessageDelta(message_id=name, offset=0, text="Hello") for name in "abc"]
        await asyncio.gather(*(shown.show(SESSION, RUN, piece) for piece in pieces))
    assert failures("command") == before + 1


async def test_a_command_whose_connection_was_cut_is_sent_again_and_counts_as_none(redis_server: Server) -> None:
    before = failures("command")
    async with FlakyProxy("127.0.0.1", redis_server.port) as proxy, client(proxy.port) as redis:
        tickets = RedisTickets(redis, "ticket", ScreenTicket)
        secret = await tickets.issue(TICKET, ttl_s=60)
        proxy.tripwire, proxy.trips = b"GETDEL", 1
        assert await tickets.redeem(secret) == TICKET
        assert proxy.cuts == 1
    assert failures("command") == before


async def test_a_command_whose_connection_is_cut_twice_has_failed(redis_server: Server) -> None:
    before = failures("command")
    async with FlakyProxy("127.0.0.1", redis_server.port) as proxy, client(proxy.port) as redis:
        tickets = RedisTickets(redis, "ticket", ScreenTicket)
        secret = await tickets.issue(TICKET, ttl_s=60)
        proxy.tripwire, proxy.trips = b"GETDEL", 2
        assert await tickets.redeem(secret) is None
        assert proxy.cuts == 2
    assert failures("command") == before + 1


async def test_a_listener_that_finds_no_server_is_counted_as_such() -> None:
    before, commands = failures("listen"), failures("command")
    heard: list[bytes] = []
    async with client(free_port(), None) as redis:
        hub = Hub(redis)
        listening = asyncio.create_task(hub.receive_messages())
        try:
            async with hub.listen("channel", Listener(heard.append, lambda: None)):
                assert failures("listen") >= before + 2, "whoever waits for the channel, and who reads for all"
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
    assert failures("command") == commands


@pytest.mark.parametrize("said", [b"*0\r\n", b"*2\r\n:1\r\n:1\r\n", b":1\r\n", b"$-1\r\n", b"+OK\r\n"])
async def test_what_is_no_answer_to_a_piece_is_a_failure_and_nobody_waits_for_another(said: bytes) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while asked := await reader.read(65_536):
            writer.write(b"+OK\r\n" * asked.count(b"SETINFO") + said * asked.count(b"EVALSHA"))
        writer.close()

    before = failures("command")
    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        async with client(server.sockets[0].getsockname()[1]) as redis, asyncio.timeout(10):
            await stream(redis).show(SESSION, RUN, DELTA)
    assert failures("command") == before + 1
