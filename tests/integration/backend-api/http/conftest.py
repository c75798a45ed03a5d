"""A gateway per test, or two."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from support.gateway import Gateway, run_gateway
from support.gateways import gateways, preview_domain, web_options
from support.servers import Server, emptied_database_name

__all__ = ["emptied_database_name", "gateway", "gateways", "preview_domain", "web_options"]


@pytest.fixture
async def gateway(mongo_server: Server, redis_server: Server, mongo_database_name: str) -> AsyncGenerator[Gateway]:
    """In password mode, without limits."""
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri) as running:
        yield running
