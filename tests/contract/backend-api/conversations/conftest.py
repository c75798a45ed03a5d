"""The stores of a conversation on the real database; a few suites run on their doubles in memory, too."""

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


@pytest.fixture
async def stores(request: pytest.FixtureRequest, bounds: dict[str, Any]) -> AsyncGenerator[ConversationStores]:
    """Those of MongoDB, unless a suite is parametrized by `DOUBLES_TOO`."""
    if getattr(request, "param", "mongo") == "memory":
        yield memory_stores()
        return
    server: Server = request.getfixturevalue("mongo_server")
    async with mongo_stores(server.uri, request.getfixturevalue("mongo_database_name"), **bounds) as opened:
        yield opened
