"""The driver's client and database, typed for our documents."""

from __future__ import annotations

from typing import Any

from pymongo import AsyncMongoClient
from pymongo.asynchronous.database import AsyncDatabase

Document = dict[str, Any]
Database = AsyncDatabase[Document]
Client = AsyncMongoClient[Document]


async def forget_connections(client: Client) -> None:
    """Have what is asked from now on asked over new connections (docs/decisions/0021)."""
    # The driver has no public way, and keeps what a connection was told when it was opened for as long as it lives.
    for server in client._topology._servers.values():  # pyright: ignore[reportPrivateUsage]
        await server.pool.reset_without_pause()
