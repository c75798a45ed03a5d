"""A manager that listens, on a real database, with sandboxes in memory."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, nullcontext

import uvicorn
from pydantic import SecretStr

from sandbox_manager.bootstrap.app import create_app
from sandbox_manager.bootstrap.settings import RegistrySettings, Settings
from sandbox_manager.bootstrap.wiring import wire_over
from support.listening import on_loopback
from support.memory_manager.runtime import FakeRuntime


@asynccontextmanager
async def listening_manager(mongo_uri: str, database_name: str) -> AsyncGenerator[str]:
    """Its address. Other settings are the environment's."""
    settings = Settings()
    settings.registry = RegistrySettings(uri=SecretStr(mongo_uri), name=database_name)
    settings.lifecycle = settings.lifecycle.model_copy(update={"pool_size": 0})

    server = uvicorn.Server(
        uvicorn.Config(
            create_app(lambda: wire_over(settings, nullcontext(FakeRuntime()))),
            log_config=None,
            timeout_graceful_shutdown=1,
        )
    )
    async with on_loopback(server) as url:
        yield url
