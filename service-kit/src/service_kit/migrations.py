"""Migrations of stored data: each is made once, in order, by the process that starts first, and never undone.

A process that starts waits until the data is of its own version, and refuses data of a later one. A process that ends
in the middle of a change leaves it to the next one, so each change must be repeatable; the same happens if the database
was away for a while, or another process took over while this one was suspended.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pymongo import ReturnDocument
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.errors import ConnectionFailure, CursorNotFound, DuplicateKeyError, PyMongoError

from service_kit.failures import UnavailableError

logger = logging.getLogger(__name__)

Document = dict[str, Any]
Database = AsyncDatabase[Document]

LEASE_S = 15
LOOK_S = 0.25
_VERSION, _LOCK = "version", "lock"
_UNTIL: Document = {"$dateAdd": {"startDate": "$$NOW", "unit": "second", "amount": LEASE_S}}
_EPOCH = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class Migration:
    """A change, and its description for the log."""

    what: str
    run: Callable[[Database], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredData:
    """The database of a service. `migrations` are never altered, as data out there has been through them; the version
    is their number. `filled` is a collection that is not empty wherever the service was used before, and `versions` the
    one that holds the version. The database may be away for `away_s`, such as for an election; `error` is raised if it
    is away longer, or fails."""

    database: Database
    migrations: Sequence[Migration]
    filled: str
    error: type[UnavailableError]
    versions: str = "schema"
    away_s: float = 60.0

    @property
    def newest(self) -> int:
        return len(self.migrations)

    @property
    def schema(self) -> AsyncCollection[Document]:
        return self.database[self.versions]


async def migrate(data: StoredData) -> None:
    """Bring the data to the newest version. Raises its `error` for data of a later version, or when the database fails
    or stays away."""
    owner = uuid.uuid4().hex
    away_since: float | None = None
    waits = False
    while True:
        try:
            version = await _version(data)
            away_since = None
            if version == data.newest:
                return
            _check_version(data, version)
            waits = not await _try_pending(data, owner, waits=waits)
        except PyMongoError as error:
            away_since = away_since or time.monotonic()
            is_away = _is_away(error)
            if not is_away or time.monotonic() - away_since >= data.away_s:
                logger.exception("a change of what is stored failed")
                reason = "does not answer" if is_away else "refused a migration"
                raise data.error(f"The database {reason}. The log has the details.") from error
            logger.warning("the database went away from a change of what is stored, which goes on when it is back")
            await asyncio.sleep(LOOK_S)


def _check_version(data: StoredData, version: int) -> None:
    if version > data.newest:
        raise data.error(
            f"The data is of version {version}, and this program knows versions up to {data.newest}. Start "
            "the program that wrote it, or a later one, or restore a backup made by this one."
        )


def _is_away(error: PyMongoError) -> bool:
    """Whether the database is away, or was: one that came back knows no earlier cursor."""
    return isinstance(error, ConnectionFailure | CursorNotFound) or error.has_error_label("RetryableWriteError")


async def _try_pending(data: StoredData, owner: str, *, waits: bool) -> bool:
    """Make the pending changes, unless another process makes them or took over meanwhile; returns whether this one
    did."""
    if await _acquire_lock(data.schema, owner):
        await _hold_lock(data.schema, owner, _run_pending(data))
        return True
    if not waits:
        logger.info("data is changed by another process, which is waited for")
    await asyncio.sleep(LOOK_S)
    return False


async def _run_pending(data: StoredData) -> None:
    version = await _version(data)
    for number, migration in list(enumerate(data.migrations, start=1))[version:]:
        logger.info("data is changed", extra={"version": number, "change": migration.what})
        await migration.run(data.database)
        await data.schema.update_one({"_id": _VERSION}, {"$max": {"version": number}}, upsert=True)


async def _version(data: StoredData) -> int:
    """The version of the data; a database that was never used has nothing to change."""
    stored = await data.schema.find_one({"_id": _VERSION})
    if stored is not None:
        return stored["version"]
    if await data.database[data.filled].find_one({}, projection={"_id": 1}) is not None:
        return 0
    try:
        await data.schema.insert_one({"_id": _VERSION, "version": data.newest})
    except DuplicateKeyError:
        return await _version(data)
    return data.newest


async def _hold_lock(schema: AsyncCollection[Document], owner: str, change: Coroutine[object, object, None]) -> None:
    """Hold the lock during the change. By the database's clock it is free again `LEASE_S` after its holder last renewed
    it. Once it is another's, the change ends."""
    changing = asyncio.create_task(change, name="migration")
    renewing = asyncio.create_task(_renew(schema, owner), name="migration-lock")
    try:
        await asyncio.wait({changing, renewing}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        renewing.cancel()
        changing.cancel()
        await asyncio.wait({changing, renewing})
        with suppress(ConnectionFailure):  # it lapses
            await schema.delete_one({"_id": _LOCK, "owner": owner})
    if not changing.cancelled():
        changing.result()


async def _acquire_lock(schema: AsyncCollection[Document], owner: str) -> bool:
    is_mine = {"$eq": ["$owner", owner]}
    is_free = {"$or": [is_mine, {"$lt": [{"$ifNull": ["$until", _EPOCH]}, "$$NOW"]}]}
    mine = {"owner": {"$cond": [is_free, owner, "$owner"]}, "until": {"$cond": [is_free, _UNTIL, "$until"]}}
    try:
        lock = await schema.find_one_and_update(
            {"_id": _LOCK}, [{"$set": mine}], upsert=True, return_document=ReturnDocument.AFTER
        )
    except DuplicateKeyError:
        return False
    return lock is not None and lock["owner"] == owner


async def _renew(schema: AsyncCollection[Document], owner: str) -> None:
    """Renew the lock; returns when it is another's."""
    while True:
        await asyncio.sleep(LEASE_S / 5)
        try:
            held = await schema.update_one({"_id": _LOCK, "owner": owner}, [{"$set": {"until": _UNTIL}}])
        except PyMongoError:
            logger.warning("the lock of a change could not be renewed", exc_info=True)
            continue
        if not held.matched_count:
            logger.error("the lock of a change was lost")
            return
