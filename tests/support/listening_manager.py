"""A manager that listens, on a real database, with sandboxes in memory."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import uvicorn

from sandbox_manager.bootstrap.app import create_app
from sandbox_manager.bootstrap.settings import Settings
from sandbox_manager.bootstrap.wiring import keep
from sandbox_manager.infrastructure.clock import SystemClock
from sandbox_manager.infrastructure.mongo.connect import connected, load_token_keys
from sandbox_manager.infrastructure.mongo.leases import MongoLeases
from sandbox_manager.infrastructure.mongo.registry import MongoRegistry
from sandbox_manager.infrastructure.runtimes.fake import FakeRuntime
from sandbox_manager.interfaces.http.use_cases import UseCases
from support.listening import on_loopback


@asynccontextmanager
async def listening_manager(mongo_uri: str, database_name: str) -> AsyncGenerator[str]:
    """Its address. Settings are the environment's."""

    @asynccontextmanager
    async def wiring() -> AsyncGenerator[UseCases]:
        async with connected(mongo_uri, database_name):
            keys = await load_token_keys()
            async with keep(Settings(), MongoRegistry(), MongoLeases(), FakeRuntime(), keys, SystemClock()) as made:
                yield made

    server = uvicorn.Server(uvicorn.Config(create_app(wiring), log_config=None, timeout_graceful_shutdown=1))
    async with on_loopback(server) as url:
        yield url
