"""A real tool API on a unix socket, and a gateway before it."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from support.endpoint import RunningEndpoint
from support.gateway import Gateway
from support.previews import endpoint, preview_gateway
from support.servers import Server, emptied_database_name

__all__ = ["emptied_database_name", "endpoint"]


@pytest.fixture
async def gateway(
    endpoint: RunningEndpoint, mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> AsyncGenerator[Gateway]:
    async with preview_gateway(mongo_server, redis_server, mongo_database_name, endpoint) as gateway:
        yield gateway
