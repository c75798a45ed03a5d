"""Turns at hosts, cached answers and counts in Redis, for all processes together."""

from __future__ import annotations

import asyncio
import time
import uuid
import zlib
from base64 import b64decode, b64encode
from collections import OrderedDict
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress

from backend_api.kit.redis.client import Redis
from backend_api.kit.redis.failures import ERRORS, count_failure
from backend_api.research.ports import Rate
from backend_api.research.throttling import LOOK_AGAIN_S, MAX_WAIT_S, InProcessThrottle, lesson_of, too_long

LEASE_S = 90
"""Seconds after which a turn ends that was never released, as its process died."""
RATE_S = 24 * 3_600
MAX_TEXT_BYTES = 2 * 1024**2
"""The largest answer that is kept, packed."""
RUN_S = 24 * 3_600
MOST_RUNS = 10_000
"""The most runs whose calls this process counts itself."""
_LATER = -2

_TAKE = """
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local gap, most = tonumber(ARGV[1]), tonumber(ARGV[2])
local learned = redis.call('GET', KEYS[2])
if learned then
  local own_gap, own_most = string.match(learned, '^(%d+):(%d+)$')
  gap, most = tonumber(own_gap), tonumber(own_most)
end
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
if redis.call('ZCARD', KEYS[3]) >= most then return {-1, 0} end
local at = math.max(now, tonumber(redis.call('GET', KEYS[1]) or '0'))
if at - now > tonumber(ARGV[3]) then return {-2, at - now} end
redis.call('SET', KEYS[1], at + gap, 'PX', at - now + gap + 1000)
redis.call('ZADD', KEYS[3], now + tonumber(ARGV[5]), ARGV[4])
redis.call('PEXPIRE', KEYS[3], tonumber(ARGV[5]))
return {at - now, 0}
"""
_BLOCK = """
local clock = redis.call('TIME')
local to = clock[1] * 1000 + math.floor(clock[2] / 1000) + tonumber(ARGV[1])
if to > tonumber(redis.call('GET', KEYS[1]) or '0') then
  redis.call('SET', KEYS[1], to, 'PX', tonumber(ARGV[1]) + 1000)
end
"""
_GIVE_BACK = "redis.call('ZREM', KEYS[1], ARGV[1])"
_COUNT = """
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
return count
"""


class RedisThrottle:
    """`Throttle`. Without Redis each process keeps to the rates by itself."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._take = redis.register_script(_TAKE)
        self._block = redis.register_script(_BLOCK)
        self._give_back = redis.register_script(_GIVE_BACK)
        self._own = InProcessThrottle()

    @asynccontextmanager
    async def turn(self, host: str, rate: Rate) -> AsyncGenerator[None]:
        """Take one round trip, and one more at the end; more if all of the host's places are taken."""
        token = uuid.uuid4().hex
        try:
            wait_s = await self._wait_for(host, rate, token)
        except ERRORS:
            async with self._own.turn(host, rate):
                yield
            return
        try:
            await asyncio.sleep(wait_s)
            yield
        finally:
            with suppress(*ERRORS), count_failure():
                await self._give_back(keys=[_key("open", host)], args=[token])

    async def _wait_for(self, host: str, rate: Rate, token: str) -> float:
        until = time.monotonic() + MAX_WAIT_S
        keys = [_key("next", host), _key("rate", host), _key("open", host)]
        while True:
            left_ms = max(round((until - time.monotonic()) * 1_000), 0)
            with count_failure():
                answer = await self._take(keys=keys, args=[rate.gap_ms, rate.at_once, left_ms, token, LEASE_S * 1_000])
            code, later_ms = int(answer[0]), int(answer[1])
            if code >= 0:
                return code / 1_000
            if code == _LATER:
                raise too_long(later_ms / 1_000)
            if left_ms == 0:
                raise too_long(LOOK_AGAIN_S)
            await asyncio.sleep(LOOK_AGAIN_S)

    async def learn(self, host: str, status: int, headers: Mapping[str, str]) -> None:
        """No round trip if the answer has no such headers."""
        lesson = lesson_of(status, headers)
        await self._own.learn(host, status, headers)
        with suppress(*ERRORS), count_failure():
            if lesson.rate is not None:
                await self._redis.set(_key("rate", host), f"{lesson.rate.gap_ms}:{lesson.rate.at_once}", ex=RATE_S)
            if lesson.blocked_s:
                await self._block(keys=[_key("next", host)], args=[round(lesson.blocked_s * 1_000)])


class RedisAnswers:
    """`Answers`: without Redis nothing is kept. Calls are counted in this process too, which works on a run until its
    end: Redis may be away or emptied, which must not open the sources to any number of calls."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._own = OrderedDict[str, int]()
        self._count = redis.register_script(_COUNT)

    async def get(self, key: str) -> str | None:
        """One round trip."""
        try:
            with count_failure():
                (found,) = await self._redis.mget([f"research:answer:{key}"])
            return None if found is None else zlib.decompress(b64decode(found)).decode()
        except (*ERRORS, zlib.error, ValueError):
            return None

    async def put(self, key: str, text: str, within_s: int) -> None:
        """Store in one round trip; a very large answer is not kept."""
        packed = b64encode(zlib.compress(text.encode("utf-8", "replace"))).decode()
        if len(packed) > MAX_TEXT_BYTES:
            return
        with suppress(*ERRORS), count_failure():
            await self._redis.set(f"research:answer:{key}", packed, ex=within_s)

    async def count_call(self, run_id: str) -> int:
        """One round trip; the larger of the counts of all processes and of this one."""
        count = self._own[run_id] = self._own.get(run_id, 0) + 1
        self._own.move_to_end(run_id)
        if len(self._own) > MOST_RUNS:
            self._own.popitem(last=False)
        try:
            with count_failure():
                of_all = int(await self._count(keys=[f"research:calls:{run_id}"], args=[RUN_S]))
        except ERRORS:
            return count
        if of_all > self._own.get(run_id, 0):
            self._own[run_id] = of_all
        return max(count, of_all)


def _key(what: str, host: str) -> str:
    return f"research:{what}:{host}"
