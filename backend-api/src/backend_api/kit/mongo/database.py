"""The driver's client and database, typed for our documents."""

from __future__ import annotations

from typing import Any

from pymongo import AsyncMongoClient
from pymongo.asynchronous.database import AsyncDatabase

Document = dict[str, Any]
Database = AsyncDatabase[Document]
Client = AsyncMongoClient[Document]


async def forget_connections(client: Client) -> None:
    """Makes later requests use new connections (docs/decisions/0021)."""
    # The driver has no public API for it, and each connection keeps what the server reported when it was opened.
    for server in client._topology._servers.values():  # pyright: ignore[reportPrivateUsage]
        await server.pool.reset_without_pause()
