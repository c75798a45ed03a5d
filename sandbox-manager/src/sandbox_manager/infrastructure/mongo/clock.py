"""The database's clock, which all managers share."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta

from sandbox_manager.domain.errors import RegistryUnavailableError
from sandbox_manager.infrastructure.mongo.documents import LeaseDocument, collection_of
from sandbox_manager.infrastructure.mongo.errors import registry_errors

_FOLLOW_S = 10.0


class DatabaseClock:
    """The database's time as last read, moved on by this machine's steady clock: a wrong or newly set date of the
    machine ends nothing."""

    def __init__(self) -> None:
        self._read = datetime.now(UTC)
        self._at = time.monotonic()

    def now(self) -> datetime:
        now = self._read + timedelta(seconds=time.monotonic() - self._at)
        return now.replace(microsecond=now.microsecond // 1000 * 1000)

    async def read(self) -> None:
        """Raises `RegistryUnavailableError`."""
        with registry_errors():
            answer = await collection_of(LeaseDocument).database.command("hello")
        self._read, self._at = answer["localTime"].replace(tzinfo=UTC), time.monotonic()


@contextlib.asynccontextmanager
async def database_clock() -> AsyncGenerator[DatabaseClock]:
    """The database's clock, followed while the block lasts."""
    clock = DatabaseClock()
    await clock.read()
    following = asyncio.create_task(_follow(clock), name="database-clock")
    try:
        yield clock
    finally:
        following.cancel()
        await asyncio.wait({following})


async def _follow(clock: DatabaseClock) -> None:
    while True:
        await asyncio.sleep(_FOLLOW_S)
        with contextlib.suppress(RegistryUnavailableError):
            await clock.read()
