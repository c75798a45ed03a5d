"""Ends of log-ins, told between gateways over Redis."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from redis.exceptions import RedisError

from backend_api.domain.identity.entity import UserId
from backend_api.infrastructure.redis.client import Redis
from backend_api.infrastructure.redis.hub import Hub, Listener

logger = logging.getLogger(__name__)

_CHANNEL = "log-ins:ended"


class RedisLogInSignals:
    """`LogInSignals`: the user's id on one channel."""

    def __init__(self, redis: Redis, hub: Hub) -> None:
        self._redis = redis
        self._hub = hub

    async def tell(self, user_id: UserId) -> None:
        """This process hears it over Redis, too."""
        try:
            await self._redis.publish(_CHANNEL, user_id)
        except (RedisError, OSError, TimeoutError):
            logger.warning("end of a log-in not told; gateways look by themselves")

    @asynccontextmanager
    async def listen(self, heard: Callable[[UserId], None]) -> AsyncGenerator[None]:
        """For the length of the block."""
        async with self._hub.listen(_CHANNEL, Listener(lambda data: heard(UserId(data.decode())))):
            yield
