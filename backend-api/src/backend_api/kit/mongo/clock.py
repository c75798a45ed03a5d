"""The database's clock, which all gateways and workers share."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from datetime import UTC

from pymongo.errors import PyMongoError

from backend_api.kit.mongo.database import Database

FOLLOW_S = 30.0


class DatabaseClock:
    """Unix seconds: the database's time as last read, advanced by this machine's monotonic clock.

    So a machine with a wrong date, or one that is changed, signs no tokens that others consider expired.
    """

    def __init__(self) -> None:
        self.set(time.time())

    def set(self, now: float) -> None:
        self._read, self._at = now, time.monotonic()

    def __call__(self) -> float:
        return self._read + time.monotonic() - self._at

    @asynccontextmanager
    async def following(self, database: Database) -> AsyncGenerator[None]:
        """Reads the time at once, and repeatedly during the block. Raises the driver's errors the first time."""
        await self._follow(database)
        task = asyncio.create_task(self._keep_following(database), name="database-clock")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait({task})

    async def _keep_following(self, database: Database) -> None:
        while True:
            await asyncio.sleep(FOLLOW_S)
            with suppress(PyMongoError):
                await self._follow(database)

    async def _follow(self, database: Database) -> None:
        hello = await database.client.admin.command("hello")
        # Commands return times without a zone, whatever the client's options.
        self.set(hello["localTime"].replace(tzinfo=UTC).timestamp())
