"""A gateway per test."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from backend_api.identity.application.limits import Quotas
from support.gateway import Gateway, run_gateway
from support.servers import Server, emptied_database_name

__all__ = ["emptied_database_name", "gateway"]


@pytest.fixture
async def gateway(mongo_server: Server, redis_server: Server, mongo_database_name: str) -> AsyncGenerator[Gateway]:
    """In password mode, with few places for streams."""
    async with run_gateway(
        mongo_server.uri, mongo_database_name, redis_server.uri, quotas=Quotas(streams=3)
    ) as running:
        yield running
