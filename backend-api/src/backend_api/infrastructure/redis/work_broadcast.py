"""Wake-ups for workers inside gateways: told to all of them over Redis; within the process they work without it."""

from __future__ import annotations

import asyncio
import logging
import uuid
from contextlib import AsyncExitStack

from redis.exceptions import RedisError

from backend_api.domain.conversation.entity import RunId
from backend_api.infrastructure.redis.client import Redis
from backend_api.infrastructure.redis.hub import Hub, Listener

logger = logging.getLogger(__name__)

_WORK = "runs:work"


class RedisWorkBroadcast:
    """`WorkQueue`; an async context manager that listens while it is open."""

    def __init__(self, redis: Redis, hub: Hub) -> None:
        self._redis = redis
        self._hub = hub
        self._me = uuid.uuid4().hex.encode()
        self._work = asyncio.Event()
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> RedisWorkBroadcast:
        await self._stack.enter_async_context(self._hub.listen(_WORK, Listener(self._heard, self._work.set)))
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self._stack.aclose()

    def _heard(self, data: bytes) -> None:
        if data != self._me:
            self._work.set()

    async def announce(self, run_id: RunId) -> None:
        """This process first."""
        self._work.set()
        try:
            await self._redis.publish(_WORK, self._me)
        except (RedisError, OSError, TimeoutError):
            logger.warning("run not announced; the ledger is polled", extra={"run_id": run_id})

    async def wait(self, timeout_s: float) -> RunId | None:
        """An announcement that came before the wait counts; it may stand for many, and others hear it too."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._work.wait()
        except TimeoutError:
            return
        self._work.clear()
