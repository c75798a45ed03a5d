"""`WorkQueue`: one suite for memory, the broadcast to gateways and the queue of worker processes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator

import pytest
import redis

from backend_api.domain.conversation.entity import RunId
from backend_api.domain.conversation.ports import WorkQueue
from backend_api.infrastructure.redis.job_queue import SaqWorkQueue
from support.backend_stores import memory_channels, redis_channels
from support.servers import Server, free_port


@pytest.fixture(params=["memory", "broadcast", "queue"])
async def work(request: pytest.FixtureRequest) -> AsyncGenerator[WorkQueue]:
    if request.param == "memory":
        yield memory_channels().queue
        return
    server: Server = request.getfixturevalue("redis_server")
    _empty(server)
    if request.param == "broadcast":
        async with redis_channels(server.uri) as channels:
            yield channels.queue
    else:
        async with SaqWorkQueue(server.uri) as queue:
            yield queue


def _empty(server: Server) -> None:
    with redis.Redis(port=server.port) as client:
        client.flushall()


async def waits(queue: WorkQueue, timeout_s: float) -> float:
    began = time.monotonic()
    await queue.wait(timeout_s)
    return time.monotonic() - began


async def test_an_announcement_before_the_wait_counts_once(work: WorkQueue) -> None:
    await work.announce(RunId("one"))
    async with asyncio.timeout(20):
        await work.wait(30)
    assert await waits(work, 0.2) >= 0.15


async def test_an_announcement_during_the_wait_ends_it(work: WorkQueue) -> None:
    async with asyncio.timeout(20):
        waiting = asyncio.ensure_future(work.wait(30))
        await asyncio.sleep(0)
        while not waiting.done():
            # Again, since one that is not told within a second is given up.
            await work.announce(RunId("one"))
            await asyncio.wait({waiting}, timeout=2)
        await waiting


async def test_announcing_a_run_twice_is_one_job_and_after_its_end_another(redis_server: Server) -> None:
    _empty(redis_server)
    async with SaqWorkQueue(redis_server.uri) as gateway, SaqWorkQueue(redis_server.uri) as other:
        await gateway.announce(RunId("one"))
        await other.announce(RunId("one"))
        assert await gateway.waiting() == 1
        async with asyncio.timeout(20):
            await other.wait(30)
        assert await gateway.waiting() == 0
        await gateway.announce(RunId("one"))
        assert await gateway.waiting() == 1


async def test_each_job_wakes_one_worker(redis_server: Server) -> None:
    _empty(redis_server)
    async with SaqWorkQueue(redis_server.uri) as gateway, SaqWorkQueue(redis_server.uri) as other:
        waiting = [asyncio.ensure_future(queue.wait(30)) for queue in (gateway, other)]
        await gateway.announce(RunId("one"))
        async with asyncio.timeout(20):
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            assert sum(one.done() for one in waiting) == 1
            await gateway.announce(RunId("two"))
            await asyncio.wait(waiting)


async def test_whoever_takes_a_job_is_told_its_run_and_none_when_there_is_none(redis_server: Server) -> None:
    _empty(redis_server)
    async with SaqWorkQueue(redis_server.uri) as gateway, SaqWorkQueue(redis_server.uri) as other:
        for name in ("one", "two"):
            await gateway.announce(RunId(name))
        async with asyncio.timeout(20):
            assert [await other.wait(30), await other.wait(30)] == ["one", "two"]
        assert await other.wait(0.05) is None
    with redis.Redis(port=redis_server.port) as client:
        assert client.keys("saq:*") == []


async def test_a_queue_that_is_away_or_was_emptied_raises_nothing(redis_server: Server) -> None:
    async with SaqWorkQueue(f"redis://127.0.0.1:{free_port()}/0") as away:
        await away.announce(RunId("one"))
        await away.wait(0.05)
    async with SaqWorkQueue(redis_server.uri) as queue:
        await queue.announce(RunId("one"))
        _empty(redis_server)
        assert await waits(queue, 0.2) >= 0.15
        await queue.announce(RunId("one"))
        assert await queue.waiting() == 1
