"""A Redis that stopped answering without closing its connections, as a machine that is gone does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from redis import Redis

from backend_api.kit.redis import hub as module
from backend_api.kit.redis.client import connect_redis
from backend_api.kit.redis.hub import Hub, Listener
from support.flaky_proxy import FlakyProxy
from support.servers import Server


def pings(server: Server) -> int:
    with Redis.from_url(server.uri) as client:
        stats: Any = client.info("commandstats")
    return stats.get("cmdstat_ping", {"calls": 0})["calls"]


async def until(is_so: Callable[[], object]) -> None:
    async with asyncio.timeout(5):
        while not is_so():
            await asyncio.sleep(0.01)


async def test_one_that_gives_no_sign_of_life_counts_as_lost_and_is_come_back_to(
    redis_server: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "SILENCE_S", 0.1)
    heard: list[bytes] = []
    restored = asyncio.Event()
    async with FlakyProxy("127.0.0.1", redis_server.port) as proxy:
        listener = connect_redis(f"redis://127.0.0.1:{proxy.port}", connect_s=1, reads_for_s=None)
        redis = connect_redis(redis_server.uri, connect_s=1, reads_for_s=1)
        hub = Hub(listener)
        listening = asyncio.create_task(hub.receive_messages())
        try:
            async with hub.listen("channel", Listener(heard.append, restored.set)):
                before = pings(redis_server)
                await until(lambda: pings(redis_server) > before + 3)
                is_left_alone = not caplog.records
                proxy.freeze()
                await until(lambda: any("live channel lost" in record.message for record in caplog.records))
                proxy.thaw()
                await until(restored.is_set)
                await redis.publish("channel", b"again")
                await until(lambda: heard)
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
            await listener.aclose()
            await redis.aclose()

    assert is_left_alone, "one that has nothing to tell answers when it is asked"
    assert heard == [b"again"]
