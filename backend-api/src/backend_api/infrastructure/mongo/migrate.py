"""Changes to what is stored: each is made once, in order, by whichever process starts first, and never undone.

A process that starts waits until the data is of its own version, and refuses data of a later one. A process that ends
in the middle of a change leaves it to the next one, so each change can be begun again.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from pymongo import ReturnDocument
from pymongo.errors import DuplicateKeyError, PyMongoError

from backend_api.domain.errors import StoreUnavailableError
from backend_api.infrastructure.mongo.database import Database, Document

logger = logging.getLogger(__name__)

LEASE_S = 15
LOOK_S = 0.25
_VERSION, _LOCK = "version", "lock"
_UNTIL: Document = {"$dateAdd": {"startDate": "$$NOW", "unit": "second", "amount": LEASE_S}}
_EPOCH = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class Migration:
    """A change, and what it does in words for the log."""

    what: str
    run: Callable[[Database], Awaitable[None]]


async def migrate(database: Database, migrations: Sequence[Migration]) -> None:
    """Bring the data to the version that is the number of `migrations`. Raises `StoreUnavailableError` for data of a
    later version, or when the database fails."""
    try:
        while (version := await _version(database, len(migrations))) != len(migrations):
            if version > len(migrations):
                raise StoreUnavailableError(
                    f"The data is of version {version}, and this program knows versions up to {len(migrations)}. Start "
                    "the program that wrote it, or a later one, or restore a backup made by this one."
                )
            async with _lock(database) as is_ours:
                if is_ours:
                    await _run_pending(database, migrations)
    except PyMongoError as error:
        logger.exception("a change of what is stored failed")
        raise StoreUnavailableError("The database refused a migration. The log has the details.") from error


async def _run_pending(database: Database, migrations: Sequence[Migration]) -> None:
    version = await _version(database, len(migrations))
    for number, migration in list(enumerate(migrations, start=1))[version:]:
        logger.info("data is changed", extra={"version": number, "change": migration.what})
        await migration.run(database)
        await database["schema"].update_one({"_id": _VERSION}, {"$max": {"version": number}}, upsert=True)


async def _version(database: Database, newest: int) -> int:
    """Of the data; a database without sessions has nothing to change."""
    stored = await database["schema"].find_one({"_id": _VERSION})
    if stored is not None:
        return stored["version"]
    if await database["sessions"].find_one({}, projection={"_id": 1}) is not None:
        return 0
    try:
        await database["schema"].insert_one({"_id": _VERSION, "version": newest})
    except DuplicateKeyError:
        return await _version(database, newest)
    return newest


@asynccontextmanager
async def _lock(database: Database) -> AsyncGenerator[bool]:
    """Whether the lock was free; by the database's clock it is again `LEASE_S` after its holder was last there."""
    owner = uuid.uuid4().hex
    if not await _acquire_lock(database, owner):
        await asyncio.sleep(LOOK_S)
        yield False
        return
    holder = asyncio.current_task()
    renewing = asyncio.create_task(_renew(database, owner, holder), name="migration-lock")
    try:
        yield True
    except asyncio.CancelledError:
        if renewing.done():
            raise StoreUnavailableError("Another process took over the migration. Start again.") from None
        raise
    finally:
        renewing.cancel()
        await asyncio.wait({renewing})
        await database["schema"].delete_one({"_id": _LOCK, "owner": owner})


async def _acquire_lock(database: Database, owner: str) -> bool:
    is_free = {"$lt": [{"$ifNull": ["$until", _EPOCH]}, "$$NOW"]}
    mine = {"owner": {"$cond": [is_free, owner, "$owner"]}, "until": {"$cond": [is_free, _UNTIL, "$until"]}}
    try:
        lock = await database["schema"].find_one_and_update(
            {"_id": _LOCK}, [{"$set": mine}], upsert=True, return_document=ReturnDocument.AFTER
        )
    except DuplicateKeyError:
        return False
    return lock is not None and lock["owner"] == owner


async def _renew(database: Database, owner: str, holder: asyncio.Task[object] | None) -> None:
    while True:
        await asyncio.sleep(LEASE_S / 5)
        try:
            held = await database["schema"].update_one({"_id": _LOCK, "owner": owner}, [{"$set": {"until": _UNTIL}}])
        except PyMongoError:
            logger.warning("the lock of a change could not be renewed", exc_info=True)
            continue
        if not held.matched_count and holder is not None:
            logger.error("the lock of a change was lost")
            holder.cancel()
            return
