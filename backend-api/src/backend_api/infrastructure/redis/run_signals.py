"""Knocks between processes over Redis; within the process they work without it."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from redis.exceptions import RedisError

from backend_api.domain.conversation.entity import RunId
from backend_api.infrastructure.redis.client import Redis
from backend_api.infrastructure.redis.hub import Hub, Listener

logger = logging.getLogger(__name__)

_KNOCKS = "runs:knock"


class RedisRunSignals:
    """`RunSignals`; an async context manager that listens while it is open."""

    def __init__(self, redis: Redis, hub: Hub) -> None:
        self._redis = redis
        self._hub = hub
        self._me = uuid.uuid4().hex.encode()
        self._knocks: dict[str, set[asyncio.Queue[None]]] = {}
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> RedisRunSignals:
        await self._stack.enter_async_context(self._hub.listen(_KNOCKS, Listener(self._heard)))
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self._stack.aclose()

    def _heard(self, data: bytes) -> None:
        sender, _, run_id = data.partition(b":")
        if sender != self._me:
            self._knock_here(run_id.decode())

    def _knock_here(self, run_id: str) -> None:
        for queue in self._knocks.get(run_id, ()):
            if not queue.full():
                queue.put_nowait(None)

    async def knock(self, run_id: RunId) -> None:
        """This process first."""
        self._knock_here(run_id)
        await self._publish(_KNOCKS, self._me + b":" + run_id.encode())

    @asynccontextmanager
    async def knocks(self, run_id: RunId) -> AsyncGenerator[AsyncIterator[None]]:
        """Bounded: a knock that was not heard yet stands for later ones."""
        queue: asyncio.Queue[None] = asyncio.Queue(maxsize=1)
        queues = self._knocks.setdefault(run_id, set())
        queues.add(queue)
        try:
            yield _drain(queue)
        finally:
            queues.discard(queue)
            if not queues:
                self._knocks.pop(run_id, None)

    async def _publish(self, channel: str, data: bytes) -> None:
        try:
            await self._redis.publish(channel, data)
        except (RedisError, OSError, TimeoutError):
            logger.warning("signal not sent; the ledger is polled")


async def _drain(queue: asyncio.Queue[None]) -> AsyncIterator[None]:
    while True:
        yield await queue.get()
