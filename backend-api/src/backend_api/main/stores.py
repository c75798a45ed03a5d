"""The stores: MongoDB, which is required, and Redis, which may be unavailable."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from beanie import Document

from backend_api.conversations.mongo.migrations import migrate
from backend_api.kit.background_tasks import background_task
from backend_api.kit.mongo.connection import open_database
from backend_api.kit.mongo.database import Database
from backend_api.kit.redis.client import Redis, connect_redis
from backend_api.kit.redis.failures import count_failure
from backend_api.kit.redis.hub import Hub
from backend_api.kit.redis.notifier import RedisNotifier
from backend_api.main.core import CORE

COMMAND_S = 1.0
DOCUMENTS: list[type[Document]] = [one for module in CORE for one in module.documents]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """Open connections."""

    database: Database
    redis: Redis
    hub: Hub
    notifier: RedisNotifier

    async def probe_database(self) -> None:
        """Raises if MongoDB does not answer."""
        await self.database.client.admin.command("ping")

    async def probe_redis(self) -> None:
        """Raises if Redis does not answer."""
        with count_failure():
            await self.redis.ping()


def connect(
    uri: str,
    name: str,
    *,
    documents: Sequence[type[Document]] = (),
    wait_s: float = 30.0,
    has_indexes: bool = False,
) -> AbstractAsyncContextManager[Database]:
    """Connects to the database, with the documents of the core and these of other modules. Raises the errors of
    `open_database`."""
    every = [*dict.fromkeys([*DOCUMENTS, *documents])]
    return open_database(uri, name, documents=every, migrate=migrate, wait_s=wait_s, has_indexes=has_indexes)


@asynccontextmanager
async def open_stores(
    mongo_uri: str, database_name: str, redis_address: str, documents: Sequence[type[Document]]
) -> AsyncGenerator[Stores]:
    """Connects the stores, with these documents of modules; they are closed after everything that uses them."""
    async with connect(mongo_uri, database_name, documents=documents) as database:
        redis = connect_redis(redis_address, connect_s=COMMAND_S, reads_for_s=COMMAND_S)
        listener = connect_redis(redis_address, connect_s=COMMAND_S, reads_for_s=None)
        hub = Hub(listener)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(redis.aclose)
            stack.push_async_callback(listener.aclose)
            await stack.enter_async_context(background_task(hub.receive_messages(), "hub"))
            notifier = await stack.enter_async_context(RedisNotifier(redis, hub).listening())
            yield Stores(database=database, redis=redis, hub=hub, notifier=notifier)
