"""A gateway per test, or two."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack

import pytest

from support.gateway import Gateway, run_gateway
from support.servers import Server


@pytest.fixture
async def gateway(mongo_server: Server, redis_server: Server, mongo_database_name: str) -> AsyncGenerator[Gateway]:
    """In password mode, without limits."""
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri) as running:
        yield running


@pytest.fixture
async def gateways(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> AsyncGenerator[list[Gateway]]:
    """Two over the same stores."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri))
            for _ in range(2)
        ]
