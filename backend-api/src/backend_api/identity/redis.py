"""Rate limits in Redis, for all replicas, and in this process too: Redis may be away or emptied, which must not open
log-in to guessing."""

from __future__ import annotations

import contextlib

from backend_api.identity.in_process_rate_limiter import InProcessRateLimiter
from backend_api.kit.errors import LimitError
from backend_api.kit.redis.client import Redis
from backend_api.kit.redis.failures import ERRORS, count_failure

_HIT = """
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
return {count, redis.call('TTL', KEYS[1])}
"""


class RedisRateLimiter:
    """`RateLimiter` by fixed windows."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._hit = redis.register_script(_HIT)
        self._own = InProcessRateLimiter()

    async def hit(self, key: str, *, limit: int, window_s: int) -> None:
        """One round trip, and none if this process alone refuses already."""
        if limit <= 0:
            return
        await self._own.hit(key, limit=limit, window_s=window_s)
        try:
            with count_failure():
                count, ttl = await self._hit(keys=[f"limit:{key}"], args=[window_s])
        except ERRORS:
            return
        if int(count) > limit:
            raise LimitError("Too many attempts. Try again later.", retry_after_s=max(int(ttl), 1))

    async def count(self, key: str, *, window_s: int) -> int:
        """One round trip; the larger of the counts of all replicas and of this process."""
        own = await self._own.count(key, window_s=window_s)
        try:
            with count_failure():
                count, _ = await self._hit(keys=[f"limit:{key}"], args=[window_s])
        except ERRORS:
            return own
        return max(own, int(count))

    async def forget(self, key: str) -> None:
        """One round trip. Other replicas' own counts end with their window."""
        await self._own.forget(key)
        with contextlib.suppress(*ERRORS), count_failure():
            await self._redis.delete(f"limit:{key}")
