"""The stores of a conversation, in memory and on the real database: what holds for one holds for the other."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from support.backend_stores import ConversationStores, memory_stores, mongo_stores
from support.servers import Server


@pytest.fixture(params=["memory", "mongo"])
async def stores(request: pytest.FixtureRequest) -> AsyncGenerator[ConversationStores]:
    if request.param == "memory":
        yield memory_stores()
        return
    server: Server = request.getfixturevalue("mongo_server")
    async with mongo_stores(server.uri, request.getfixturevalue("mongo_database_name")) as opened:
        yield opened
