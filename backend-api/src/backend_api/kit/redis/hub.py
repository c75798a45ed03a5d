"""One pub/sub connection of the process, shared by all listeners."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from redis.exceptions import ConnectionError as RedisConnectionError

from backend_api.kit.redis.client import PubSub, Redis
from backend_api.kit.redis.failures import ERRORS, count_failure

logger = logging.getLogger(__name__)

SILENCE_S = 10.0
"""Seconds of silence after which the server is pinged; after as long again without an answer the connection is lost."""
_SUBSCRIBE_TIMEOUT_S = 1.0
_MAX_BACKOFF_S = 2.0


class Listener(NamedTuple):
    """A listener of a channel. `restored` is called when the connection was lost and is back."""

    heard: Callable[[bytes], None]
    restored: Callable[[], None]


@asynccontextmanager
async def _tolerate_loss(message: str) -> AsyncGenerator[None]:
    try:
        with count_failure("listen"):
            async with asyncio.timeout(_SUBSCRIBE_TIMEOUT_S):
                yield
    except ERRORS:
        logger.warning(message)


class Hub:
    """Subscribes to each channel once and passes its messages to all listeners; reconnects by itself after a loss."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._listeners: dict[str, set[Listener]] = {}
        self._confirmed: dict[str, asyncio.Event] = {}
        self._pubsub: PubSub | None = None
        self._wanted = asyncio.Event()
        self._is_away = False

    @asynccontextmanager
    async def listen(self, channel: str, listener: Listener) -> AsyncGenerator[None]:
        """Subscribes on entering, or, if the server is unavailable, as soon as it is back."""
        listeners = self._listeners.setdefault(channel, set())
        listeners.add(listener)
        try:
            await self._subscribe(channel)
            yield
        finally:
            listeners.discard(listener)
            if not listeners and self._listeners.get(channel) is listeners:
                await self._forget(channel)

    async def _subscribe(self, channel: str) -> None:
        confirmed = self._confirmed.setdefault(channel, asyncio.Event())
        self._wanted.set()
        if confirmed.is_set() or self._is_away:
            return
        async with _tolerate_loss("live channel unavailable; reading from the store"):
            if self._pubsub is not None:
                await self._pubsub.subscribe(channel)
            await confirmed.wait()

    async def _forget(self, channel: str) -> None:
        self._listeners.pop(channel, None)
        self._confirmed.pop(channel, None)
        if self._pubsub is not None:
            async with _tolerate_loss("live channel unavailable; nothing to unsubscribe"):
                await self._pubsub.unsubscribe(channel)

    async def receive_messages(self) -> None:
        """Reads until cancelled."""
        backoff = 0.05
        was_lost = False
        while True:
            await self._wanted.wait()
            try:
                with count_failure("listen"):
                    async with self._redis.pubsub() as pubsub:
                        channels = list(self._listeners) or ["hub"]
                        await pubsub.subscribe(*channels)
                        self._pubsub = pubsub
                        if late := self._listeners.keys() - channels:
                            await pubsub.subscribe(*late)
                        backoff = 0.05
                        self._is_away = False
                        await self._read(pubsub, was_lost=was_lost)
            except ERRORS:
                logger.warning("live channel lost; reconnecting", extra={"backoff_s": backoff})
            finally:
                self._pubsub = None
            was_lost = self._is_away = True
            for confirmed in self._confirmed.values():
                confirmed.clear()
            await asyncio.sleep(backoff)
            backoff = min(backoff * 2, _MAX_BACKOFF_S)

    async def _read(self, pubsub: PubSub, *, was_lost: bool) -> None:
        is_asked = False
        while True:
            message: dict[str, Any] | None = await pubsub.get_message(timeout=SILENCE_S)
            if message is None:
                if is_asked:
                    raise RedisConnectionError("Redis did not answer the ping.")
                await pubsub.ping()
            is_asked = message is None
            if message is not None and message["type"] in ("subscribe", "message"):
                self._dispatch(message["channel"].decode(), message, was_lost=was_lost)

    def _dispatch(self, channel: str, message: dict[str, Any], *, was_lost: bool) -> None:
        """Passes a message to the listeners of its channel, or tells them that the subscription was restored."""
        listeners = tuple(self._listeners.get(channel, ()))
        if message["type"] == "message":
            for listener in listeners:
                listener.heard(message["data"])
            return
        confirmed = self._confirmed.get(channel)
        is_again = confirmed is not None and confirmed.is_set()
        if confirmed is not None:
            confirmed.set()
        if was_lost or is_again:
            for listener in listeners:
                listener.restored()
