"""Transactions over session, run and events, and the driver's errors as ours."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import TypeVar

from pymongo.asynchronous.client_session import AsyncClientSession
from pymongo.errors import (
    ConfigurationError,
    ConnectionFailure,
    DuplicateKeyError,
    ExecutionTimeout,
    OperationFailure,
    PyMongoError,
)
from pymongo.read_concern import ReadConcern
from pymongo.write_concern import WriteConcern

from backend_api.kit import measures
from backend_api.kit.errors import StoreUnavailableError
from backend_api.kit.mongo.database import Database, forget_connections

DURABLE = WriteConcern("majority")
"""Waits for the journal of a majority: no data that was shown is lost with a server."""

DEADLINE_S = 10.0
"""The most seconds a request waits for the database, even for one that hangs while its machine responds."""
_ABORT_S = 1.0
_ASK_AGAIN_S = 0.1
_SILENT = "The database does not answer. Try again in a moment."
_Result = TypeVar("_Result")
_WRITE_CONFLICT = 112
_after_commit: ContextVar[list[Callable[[], None]] | None] = ContextVar("after_commit", default=None)


class AbandonedError(Exception):
    """Raised by the work of a transaction to abandon it."""


@contextmanager
def giving_way() -> Generator[None]:
    """Raises `AbandonedError` if another transaction is writing the same document, instead of the error that makes this
    one retry."""
    try:
        yield
    except OperationFailure as error:
        if error.code != _WRITE_CONFLICT:
            raise
        raise AbandonedError from error


@asynccontextmanager
async def store_errors(*, within_s: float = DEADLINE_S) -> AsyncGenerator[None]:
    """Turns connection errors and timeouts of the driver into `StoreUnavailableError`, as well as anything that takes
    more than `within_s` seconds: the driver itself waits endlessly for a server that hangs."""
    deadline = asyncio.timeout(within_s)
    try:
        with _driver_errors():
            async with deadline:
                yield
    except TimeoutError as error:
        if not deadline.expired():
            raise
        raise StoreUnavailableError(_SILENT) from error


@contextmanager
def _driver_errors() -> Generator[None]:
    try:
        yield
    except DuplicateKeyError:
        raise
    except (ConnectionFailure, ExecutionTimeout) as error:
        raise StoreUnavailableError(_SILENT) from error


async def in_transaction(database: Database, work: Callable[[AsyncClientSession], Awaitable[_Result]]) -> _Result:
    """Runs `work` in one transaction, and again if it lost a race; it must have no effects elsewhere.

    Raises `StoreUnavailableError` if it can't be done in ten seconds.
    """
    outcome = "failed"
    try:
        with _driver_errors():
            async with asyncio.timeout(DEADLINE_S), database.client.start_session() as session:
                attempt = 0
                while True:
                    try:
                        result = await _attempt(session, work)
                        outcome = "committed"
                        return result
                    except ConfigurationError:
                        # A connection opened before the server was readable reports that sessions are not supported.
                        await forget_connections(database.client)
                        await asyncio.sleep(_ASK_AGAIN_S)
                    except PyMongoError as error:
                        if not error.has_error_label("TransientTransactionError"):
                            raise
                    attempt += 1
                    measures.TRANSACTION_RETRIES.inc()
                    await asyncio.sleep(random.uniform(0, min(0.001 * 2**attempt, 0.05)))
    except AbandonedError:
        outcome = "abandoned"
        raise
    except TimeoutError as error:
        outcome = "timed_out"
        raise StoreUnavailableError("The database is too busy. Try again in a moment.") from error
    finally:
        measures.TRANSACTIONS.labels(outcome).inc()


def on_commit(action: Callable[[], None]) -> None:
    """Calls `action` once the current transaction is committed; never if it is not, nor outside of one."""
    actions = _after_commit.get()
    if actions is not None:
        actions.append(action)


async def _attempt(session: AsyncClientSession, work: Callable[[AsyncClientSession], Awaitable[_Result]]) -> _Result:
    actions: list[Callable[[], None]] = []
    _after_commit.set(actions)
    await session.start_transaction(read_concern=ReadConcern("snapshot"), write_concern=DURABLE)
    try:
        result = await work(session)
        await _commit(session)
    except BaseException:
        await _abort(session)
        raise
    for action in actions:
        action()
    return result


async def _abort(session: AsyncClientSession) -> None:
    """Aborts without waiting for a server that hangs, which ends the transaction by itself (docs/decisions/0007)."""
    if not session.in_transaction:
        return
    aborting = asyncio.ensure_future(session.abort_transaction())
    try:
        await asyncio.wait({aborting}, timeout=_ABORT_S)
    finally:
        if not aborting.done():
            aborting.cancel()
            await asyncio.wait({aborting})


async def _commit(session: AsyncClientSession) -> None:
    """Commits, and repeats that until the outcome is known: if the answer was lost, the server reports the result
    again."""
    while True:
        try:
            await session.commit_transaction()
        except PyMongoError as error:
            if not error.has_error_label("UnknownTransactionCommitResult"):
                raise
            await asyncio.sleep(_ASK_AGAIN_S)
        else:
            return
