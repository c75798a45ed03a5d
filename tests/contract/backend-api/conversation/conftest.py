"""The stores of a conversation, in memory and on the real database: what holds for one holds for the other."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from support.backend_stores import ConversationStores, memory_stores, mongo_stores
from support.servers import Server, emptied_database_name

__all__ = ["bounds", "emptied_database_name", "stores"]


@pytest.fixture
def bounds() -> dict[str, Any]:
    """What the stores bound; a module of tests may have its own."""
    return {}


@pytest.fixture(params=["memory", "mongo"])
async def stores(request: pytest.FixtureRequest, bounds: dict[str, Any]) -> AsyncGenerator[ConversationStores]:
    if request.param == "memory":
        yield memory_stores(**bounds)
        return
    server: Server = request.getfixturevalue("mongo_server")
    async with mongo_stores(server.uri, request.getfixturevalue("mongo_database_name"), **bounds) as opened:
        yield opened
