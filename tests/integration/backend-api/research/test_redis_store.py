"""Turns at hosts, answers and counts that all processes have together."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator

import pytest

from backend_api.kit.redis.client import Redis, connect_redis
from backend_api.research.ports import Rate, SourceFaultError
from backend_api.research.redis_store import RedisAnswers, RedisThrottle
from support.servers import Server


@pytest.fixture
async def redis(redis_server: Server) -> AsyncGenerator[Redis]:
    client = connect_redis(redis_server.uri, connect_s=1, reads_for_s=1)
    yield client
    await client.aclose()


def host() -> str:
    return f"{uuid.uuid4().hex}.example.org"


async def take(throttle: RedisThrottle, name: str, rate: Rate) -> float:
    async with throttle.turn(name, rate):
        return time.monotonic()


async def test_two_processes_keep_the_gap_of_a_host_together(redis: Redis) -> None:
    one, other, name = RedisThrottle(redis), RedisThrottle(redis), host()
    rate, began = Rate(gap_ms=300, at_once=4), time.monotonic()
    times = sorted(await asyncio.gather(*(take(each, name, rate) for each in (one, other, one, other))))
    # Since the beginning: a turn that a busy machine shows late would leave the next one too short a gap.
    assert all(taken - began > 0.3 * turns - 0.05 for turns, taken in enumerate(times))


async def test_another_host_is_not_waited_for(redis: Redis) -> None:
    throttle, rate = RedisThrottle(redis), Rate(gap_ms=10_000, at_once=4)
    await take(throttle, host(), rate)
    await asyncio.wait_for(take(throttle, host(), rate), 5)


async def test_one_at_once_means_one_of_all_processes(redis: Redis) -> None:
    one, other, name = RedisThrottle(redis), RedisThrottle(redis), host()
    rate = Rate(gap_ms=1, at_once=1)
    async with one.turn(name, rate):
        waits = asyncio.create_task(take(other, name, rate))
        done, _ = await asyncio.wait({waits}, timeout=0.5)
        assert not done
    await asyncio.wait_for(waits, 5)


async def test_what_a_host_says_holds_for_all_processes(redis: Redis) -> None:
    one, other, name = RedisThrottle(redis), RedisThrottle(redis), host()
    says = {"x-rate-limit-limit": "1", "x-rate-limit-interval": "20s", "x-concurrency-limit": "2"}
    await one.learn(name, 200, says)
    await take(other, name, Rate(gap_ms=1, at_once=1))
    with pytest.raises(SourceFaultError, match=r"wait (20|19) seconds"):
        await take(one, name, Rate(gap_ms=1, at_once=1))
    blocked = host()
    await one.learn(blocked, 429, {"retry-after": "40"})
    with pytest.raises(SourceFaultError, match="wait 40 seconds"):
        await take(other, blocked, Rate(gap_ms=1, at_once=1))


async def test_answers_are_kept_and_calls_counted_for_all_processes(redis: Redis) -> None:
    one, other, key = RedisAnswers(redis), RedisAnswers(redis), uuid.uuid4().hex
    assert await one.get(key) is None
    await one.put(key, "一個 answer", 60)
    assert await other.get(key) == "一個 answer"
    assert [await one.count_call(key), await other.count_call(key)] == [1, 2]


async def test_calls_are_counted_on_where_redis_was_emptied_or_another_process_counted_before(redis: Redis) -> None:
    one, other, run = RedisAnswers(redis), RedisAnswers(redis), uuid.uuid4().hex
    assert [await one.count_call(run) for _ in range(3)] == [1, 2, 3]
    assert await other.count_call(run) == 4
    await redis.delete(f"research:calls:{run}")
    assert [await other.count_call(run), await one.count_call(run)] == [5, 4]


async def test_without_redis_each_process_keeps_the_rates_by_itself() -> None:
    nobody = connect_redis("redis://127.0.0.1:1/0", connect_s=0.2, reads_for_s=0.2)
    throttle, answers, name = RedisThrottle(nobody), RedisAnswers(nobody), host()
    began = time.monotonic()
    times = [await take(throttle, name, Rate(gap_ms=300, at_once=1)) for _ in range(2)]
    assert times[1] - began > 0.25
    await answers.put("x", "y", 60)
    assert await answers.get("x") is None
    assert [await answers.count_call(run) for run in ("x", "x", "y")] == [1, 2, 1]
    await throttle.learn(name, 429, {"retry-after": "40"})
    with pytest.raises(SourceFaultError, match="wait 40 seconds"):
        await take(throttle, name, Rate(gap_ms=1, at_once=1))
    await nobody.aclose()
