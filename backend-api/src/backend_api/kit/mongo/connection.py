"""The connection to MongoDB: opened, made writable, and closed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress

from beanie import Document, init_beanie  # pyright: ignore[reportUnknownVariableType] -- its database is untyped
from pymongo import AsyncMongoClient
from pymongo.errors import OperationFailure, PyMongoError
from pymongo.read_concern import ReadConcern

from backend_api.kit.errors import StoreUnavailableError
from backend_api.kit.mongo.database import Client, Database
from backend_api.kit.mongo.transactions import DURABLE
from service_kit.amounts import duration_text

logger = logging.getLogger(__name__)

_NOT_YET_INITIALIZED = 94
_ALREADY_INITIALIZED = 23
DURABLE_READS = ReadConcern("majority")
"""Excludes data that a crash of the server could undo (docs/decisions/0016)."""

ORPHAN_S = 5
"""The most seconds a transaction lives; the server's default is 60 s."""
LOOK_AGAIN_S = 5.0


@asynccontextmanager
async def open_database(
    uri: str,
    name: str,
    *,
    documents: Sequence[type[Document]],
    migrate: Callable[[Database], Awaitable[int]],
    wait_s: float = 30.0,
    has_indexes: bool = False,
) -> AsyncGenerator[Database]:
    """A database migrated to this program's version by `migrate`, with its documents and indexes, which are not looked
    at if the caller knows that the database `has_indexes`. Raises `StoreUnavailableError` if it does not answer in
    time, or holds data of a later version."""
    client: Client = AsyncMongoClient(
        uri, tz_aware=True, serverSelectionTimeoutMS=5000, timeoutMS=None, maxPoolSize=100, appname="backend-api"
    )
    async with client:
        await ensure_replica_set(client, wait_s=wait_s)
        database = client.get_database(name, read_concern=DURABLE_READS)
        version = await migrate(database)
        try:
            durable = database.with_options(write_concern=DURABLE)
            await init_beanie(database=durable, document_models=[*documents], skip_indexes=has_indexes)
        except PyMongoError as error:
            raise StoreUnavailableError("The database refused the indexes.") from error
        logger.info("database is open", extra={"version": version})
        binding = asyncio.create_task(_keep_transactions_bound(client), name="transactions-bound")
        try:
            yield database
        finally:
            binding.cancel()
            await asyncio.wait({binding})


async def ensure_replica_set(client: Client, *, wait_s: float) -> None:
    """Waits for a writable primary; a server started with `--replSet` and never initiated becomes a set of one.

    Transactions need a replica set. It is only initiated over a direct connection: a set of several is up to its
    owner.
    """
    try:
        async with asyncio.timeout(wait_s):
            while not await _is_writable(client):  # noqa: ASYNC110 -- another process changes it
                await asyncio.sleep(0.1)
    except TimeoutError as error:
        raise StoreUnavailableError(f"MongoDB did not become writable within {duration_text(wait_s)}.") from error


async def _is_writable(client: Client) -> bool:
    try:
        hello = await client.admin.command("hello")
        if hello.get("isWritablePrimary"):
            return True
        if hello.get("isreplicaset"):
            await _initiate(client)
    except OperationFailure as error:
        if error.code not in (_NOT_YET_INITIALIZED, _ALREADY_INITIALIZED):
            raise StoreUnavailableError("MongoDB refused to report its state. Check MONGO_URI.") from error
    except PyMongoError:
        logger.warning("database does not answer yet")
    return False


async def _keep_transactions_bound(client: Client) -> None:
    process: object = None
    while True:
        with suppress(PyMongoError):
            process = await _bound_transactions(client, process)
        await asyncio.sleep(LOOK_AGAIN_S)


async def _bound_transactions(client: Client, process: object) -> object:
    """Limits the lifetime of transactions: those of a killed process lock its session and run until the server ends
    them (docs/decisions/0007).

    The server forgets the setting when it restarts, so the process id that has it now is returned.
    """
    hello = await client.admin.command("hello")
    current = hello.get("topologyVersion", {}).get("processId", "unknown")
    if current != process:
        try:
            await client.admin.command({"setParameter": 1, "transactionLifetimeLimitSeconds": ORPHAN_S})
        except OperationFailure:
            logger.warning("may not set transactionLifetimeLimitSeconds; set it to 5 on the server", exc_info=True)
    return current


async def _initiate(client: Client) -> None:
    options = await client.admin.command("getCmdLineOpts")
    name = options["parsed"]["replication"]["replSet"]
    address = await client.address
    host, port = address or ("127.0.0.1", 27017)
    members = [{"_id": 0, "host": f"{host}:{port}"}]
    await client.admin.command("replSetInitiate", {"_id": name, "members": members})
    logger.info("replica set initiated", extra={"replica_set": name})
