"""Wake-ups between processes over one channel of Redis; within the process they work without it."""

from __future__ import annotations

import logging
import uuid
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from backend_api.kit.in_process_notifier import InProcessNotifier
from backend_api.kit.notifier import Subscription, Topic
from backend_api.kit.redis.client import Redis
from backend_api.kit.redis.failures import ERRORS, count_failure
from backend_api.kit.redis.hub import Hub, Listener

logger = logging.getLogger(__name__)

_CHANNEL = "notifications"
_TOPICS = {topic.value: topic for topic in Topic}


class RedisNotifier:
    """`Notifier`; it receives those of other processes inside `listening`."""

    def __init__(self, redis: Redis, hub: Hub) -> None:
        self._redis = redis
        self._hub = hub
        self._here = InProcessNotifier()
        self._me = uuid.uuid4().hex

    @asynccontextmanager
    async def listening(self) -> AsyncGenerator[RedisNotifier]:
        """Listens for the length of the block. After a lost connection every subscriber is woken."""
        async with self._hub.listen(_CHANNEL, Listener(self._receive, self._here.notify_all)):
            yield self

    async def notify(self, topic: Topic, about: str | None = None) -> None:
        """Notifies this process first, which ignores its own message."""
        self._here.notify_here(topic, about)
        try:
            with count_failure():
                await self._redis.publish(_CHANNEL, f"{self._me} {topic.value} {about or ''}")
        except ERRORS:
            logger.warning("notification not sent; waiters poll instead", extra={"topic": topic.value, "about": about})

    def subscribe(self, topic: Topic, about: str | None = None) -> AbstractAsyncContextManager[Subscription]:
        """Subscribes to notifications of this process and of others."""
        return self._here.subscribe(topic, about)

    def _receive(self, data: bytes) -> None:
        sender, _, rest = data.decode("utf-8", "replace").partition(" ")
        name, _, about = rest.partition(" ")
        # Another version may have topics that this one does not know.
        if sender != self._me and (topic := _TOPICS.get(name)) is not None:
            self._here.notify_here(topic, about or None)
