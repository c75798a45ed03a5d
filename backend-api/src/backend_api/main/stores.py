"""The stores: MongoDB, which must answer, and Redis, which may be away."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from beanie import Document

from backend_api.conversations.redis.session_stream import RedisSessionStream
from backend_api.kit.background_tasks import background_task
from backend_api.kit.mongo.database import Database
from backend_api.kit.redis.client import Redis, connect_redis
from backend_api.kit.redis.failures import count_failure
from backend_api.kit.redis.hub import Hub
from backend_api.kit.redis.notifier import RedisNotifier
from backend_api.main.database import connect
from backend_api.main.settings import Settings

COMMAND_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """Open connections."""

    database: Database
    redis: Redis
    stream: RedisSessionStream
    notifier: RedisNotifier

    async def probe_database(self) -> None:
        """Raises when MongoDB does not answer."""
        await self.database.client.admin.command("ping")

    async def probe_redis(self) -> None:
        """Raises when Redis does not answer."""
        with count_failure():
            await self.redis.ping()


@asynccontextmanager
async def open_stores(settings: Settings, documents: Sequence[type[Document]]) -> AsyncGenerator[Stores]:
    """Connected, with these documents of modules, and closed after everything that uses them."""
    async with connect(settings.mongo_uri, settings.mongo_db_name, documents=documents) as database:
        redis = connect_redis(settings.redis_address, connect_s=COMMAND_S, reads_for_s=COMMAND_S)
        listener = connect_redis(settings.redis_address, connect_s=COMMAND_S, reads_for_s=None)
        hub = Hub(listener)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(redis.aclose)
            stack.push_async_callback(listener.aclose)
            await stack.enter_async_context(background_task(hub.receive_messages(), "hub"))
            notifier = await stack.enter_async_context(RedisNotifier(redis, hub).listening())
            yield Stores(
                database=database,
                redis=redis,
                stream=RedisSessionStream(redis, hub),
                notifier=notifier,
            )
