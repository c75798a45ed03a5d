"""The driver's client, typed for what we use: bytes in, bytes out."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, cast

import redis.asyncio
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from backend_api.application import measures


class Script(Protocol):
    """A Lua script, sent by its digest."""

    def __call__(self, *, keys: Sequence[str], args: Sequence[str | bytes | int]) -> Awaitable[Any]: ...


class Pipeline(Protocol):
    """Commands sent together."""

    def publish(self, channel: str, message: str | bytes) -> Any: ...
    def set(self, name: str, value: bytes, *, ex: int) -> Any: ...
    def hset(self, name: str, key: str, value: str) -> Any: ...
    def expire(self, name: str, time: int) -> Any: ...
    def execute(self) -> Awaitable[list[Any]]: ...


class PubSub(Protocol):
    """A connection that listens."""

    def subscribe(self, *channels: str) -> Awaitable[None]: ...
    def unsubscribe(self, *channels: str) -> Awaitable[None]: ...
    def ping(self) -> Awaitable[Any]: ...
    def get_message(self, *, timeout: float | None) -> Awaitable[dict[str, Any] | None]: ...


class Redis(Protocol):
    """The commands of the gateway: more than seven methods, as it uses so many of the driver's."""

    def ping(self) -> Awaitable[bool]: ...
    def publish(self, channel: str, message: str | bytes) -> Awaitable[int]: ...
    def set(self, name: str, value: str, *, ex: int) -> Awaitable[Any]: ...
    def delete(self, name: str) -> Awaitable[int]: ...
    def getdel(self, name: str) -> Awaitable[bytes | None]: ...
    def mget(self, keys: Sequence[str]) -> Awaitable[list[bytes | None]]: ...
    def hgetall(self, name: str) -> Awaitable[dict[bytes, bytes]]: ...
    def register_script(self, script: str) -> Script: ...
    def pipeline(self, *, transaction: bool) -> Pipeline: ...
    def pubsub(self) -> AbstractAsyncContextManager[PubSub]: ...
    def aclose(self) -> Awaitable[None]: ...


class _CountedRetry(Retry):
    """Once more at once, and then it is a failure that counts."""

    def __init__(self, use: str) -> None:
        super().__init__(NoBackoff(), 1)
        self._use = use

    async def call_with_retry(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return await super().call_with_retry(*args, **kwargs)
        except (RedisConnectionError, RedisTimeoutError):
            measures.REDIS_FAILURES.labels(self._use).inc()
            raise


def connect_redis(url: str, *, connect_s: float, reads_for_s: float | None) -> Redis:
    """A client; it connects at its first command. `reads_for_s` is None for one that listens."""
    client = redis.asyncio.Redis.from_url(  # pyright: ignore[reportUnknownMemberType] -- its keywords are untyped
        url,
        socket_timeout=reads_for_s,
        socket_connect_timeout=connect_s,
        retry=_CountedRetry("listen" if reads_for_s is None else "command"),
        max_connections=200,
    )
    return cast("Redis", client)
