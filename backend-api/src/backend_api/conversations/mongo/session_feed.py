"""The feed of sessions over one change stream of the process (docs/decisions/0010)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

from bson.timestamp import Timestamp
from pymongo.asynchronous.client_session import AsyncClientSession
from pymongo.errors import OperationFailure, PyMongoError

from backend_api.conversations.domain.errors import FeedLostError
from backend_api.conversations.domain.feed import SessionChange
from backend_api.conversations.mongo.feed_documents import (
    PIPELINE,
    change_from,
    number_of,
    seconds_of,
    updated_fields,
)
from backend_api.kit.errors import SlowReaderError, StoreUnavailableError
from backend_api.kit.ids import UserId
from backend_api.kit.mongo.database import Database, Document

logger = logging.getLogger(__name__)

KEPT_S = 900
"""Seconds of history a starting process reads, so that readers of another process can continue here."""
CATCH_UP_MS = 3_000
"""The most milliseconds the server may search that history: it scans all writes of that time, of all users, and no
reader gets anything before."""
KEPT_CHANGES = 20_000
BEHIND_S = 0.3
"""A delay, in seconds, of the server's answer that shows it lags behind the writes."""
READER_BUFFER = 1_024
_AWAIT_MS = 500
_GATHER_S = 0.05
"""Seconds to wait for more changes after some: each read costs this process and the server as much as a command of a
message."""
_READY_S = 10.0
_MIN_BACKOFF_S, _MAX_BACKOFF_S = 0.1, 2.0
_CLOSE_S = 0.5
_AHEAD_S = 300
_MAX_OWNERS = 50_000
_HISTORY_LOST = frozenset({260, 280, 286})
_TOOK_TOO_LONG = 50


class MongoSessionFeed:
    """`SessionFeed`; an async context manager that watches while it is open."""

    def __init__(
        self,
        database: Database,
        *,
        kept_s: int = KEPT_S,
        kept_changes: int = KEPT_CHANGES,
        catch_up_ms: int = CATCH_UP_MS,
        behind_s: float = BEHIND_S,
    ) -> None:
        # The driver: a change stream yields what an update set, never a whole document. By its commands and not its
        # cursor, which asks anew for every change and does not tell where a batch ends.
        self._database = database
        self._kept_s = kept_s
        self._kept: deque[SessionChange] = deque()
        self._kept_changes = kept_changes
        self._catch_up_ms = catch_up_ms
        self._behind_s = behind_s
        self._readers: dict[UserId, set[_Reader]] = {}
        self._owners: dict[str, UserId] = {}
        self._ready = asyncio.Event()
        self._token: Mapping[str, Any] | None = None
        self._floor = 0
        self._position = 0
        self._last: tuple[Timestamp, int] | None = None
        self._opened_at = Timestamp(0, 0)
        self._watching: asyncio.Task[None] | None = None

    async def __aenter__(self) -> MongoSessionFeed:
        self._watching = asyncio.create_task(self._run(), name="feed")
        return self

    async def __aexit__(self, *exception: object) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)

    @asynccontextmanager
    async def follow(self, user_id: UserId, after: int | None) -> AsyncGenerator[_Reader]:
        """Follows the changes cached here and those to come; readers cost the server nothing."""
        try:
            async with asyncio.timeout(_READY_S):
                await self._ready.wait()
        except TimeoutError as error:
            raise StoreUnavailableError("The feed is not ready. Try again in a moment.") from error
        reader = self._place(user_id, after)
        readers = self._readers.setdefault(user_id, set())
        readers.add(reader)
        try:
            yield reader
        finally:
            readers.discard(reader)
            if not readers and self._readers.get(user_id) is readers:
                del self._readers[user_id]

    def _place(self, user_id: UserId, after: int | None) -> _Reader:
        if after is None:
            return _Reader(self._position)
        if after < self._floor or seconds_of(after) > time.time() + _AHEAD_S:
            return _Reader(self._position, has_gap=True)
        missed: deque[SessionChange] = deque()
        for change in reversed(self._kept):
            if change.seq <= after:
                break
            if change.user_id == user_id:
                missed.appendleft(change)
        return _Reader(after, missed)

    async def _run(self) -> None:
        backoff = _MIN_BACKOFF_S
        while True:
            began = time.monotonic()
            try:
                await self._watch()
            except PyMongoError as error:
                if isinstance(error, OperationFailure) and error.code in _HISTORY_LOST:
                    self._disconnect_readers()
                logger.warning("feed interrupted; reconnecting", extra={"backoff_s": backoff}, exc_info=True)
            except Exception:
                logger.exception("feed failed; reconnecting", extra={"backoff_s": backoff})
            if time.monotonic() - began > _MAX_BACKOFF_S:
                backoff = _MIN_BACKOFF_S
            await asyncio.sleep(backoff)
            backoff = min(backoff * 2, _MAX_BACKOFF_S)

    async def _watch(self) -> None:
        async with self._database.client.start_session() as session:
            cursor = await self._open(session)
            try:
                await self._read(session, cursor)
            except BaseException:
                with suppress(PyMongoError, TimeoutError):
                    async with asyncio.timeout(_CLOSE_S):
                        await self._command(session, {"killCursors": "sessions", "cursors": [cursor["id"]]})
                raise
        # The collection is gone, and its changes with it.
        self._disconnect_readers()
        self._kept_s = 0

    async def _read(self, session: AsyncClientSession, cursor: Document) -> None:
        """Reads changes until the server ends the cursor."""
        changes: Sequence[Document] = cursor["firstBatch"]
        is_behind = False
        while True:
            for change in changes:
                await self._apply_change(change)
                self._token = change["_id"]
            self._token = cursor.get("postBatchResumeToken", self._token)
            if not changes or changes[-1]["clusterTime"] >= self._opened_at:
                self._ready.set()
            if not cursor["id"]:
                return
            if changes and not is_behind:
                await asyncio.sleep(_GATHER_S)
            more = {"getMore": cursor["id"], "collection": "sessions", "maxTimeMS": _AWAIT_MS}
            if is_behind:
                # Otherwise the server holds back its results until it has scanned all later writes.
                more["batchSize"] = 1
            asked = time.monotonic()
            cursor = (await self._command(session, more))["cursor"]
            changes = cursor["nextBatch"]
            is_slow = time.monotonic() - asked > _AWAIT_MS / 1000 + self._behind_s
            is_behind = is_slow or (is_behind and bool(changes))

    async def _open(self, session: AsyncClientSession) -> Document:
        if self._token is not None:
            return await self._changes(session, {"resumeAfter": self._token}, batch_size=self._kept_changes)
        now = await self._read_time()
        start = Timestamp(now.time - self._kept_s, 1) if self._kept_s else now
        try:
            # All in one batch: the time limit only applies to the first.
            cursor = await self._changes(
                session, {"startAtOperationTime": start}, batch_size=self._kept_changes, within_ms=self._catch_up_ms
            )
        except OperationFailure as error:
            if error.code not in _HISTORY_LOST | {_TOOK_TOO_LONG}:
                raise
            logger.info("feed starts without earlier changes", extra={"reason": error.code})
            start = await self._read_time()
            # Responds at once, without scanning the writes of that time before readers may follow.
            cursor = await self._changes(session, {"startAtOperationTime": start}, batch_size=0)
        self._floor = number_of(start) - 1
        self._position = max(self._position, self._floor)
        return cursor

    async def _read_time(self) -> Timestamp:
        """The store's time; changes after it are not history."""
        hello = await self._database.client.admin.command("hello")
        self._opened_at = hello["operationTime"]
        return self._opened_at

    async def _changes(
        self, session: AsyncClientSession, since: Document, *, batch_size: int, within_ms: int | None = None
    ) -> Document:
        stages: list[Document] = [{"$changeStream": since}, *PIPELINE]
        majority = {"level": "majority"}
        command: Document = {"aggregate": "sessions", "pipeline": stages, "readConcern": majority}
        command["cursor"] = {"batchSize": batch_size}
        if within_ms is not None:
            command["maxTimeMS"] = within_ms
        return cast("Document", (await self._command(session, command))["cursor"])

    async def _command(self, session: AsyncClientSession, command: Document) -> Document:
        # A command returns times without a zone unless codec options are given.
        return await self._database.command(command, session=session, codec_options=self._database.codec_options)

    def _disconnect_readers(self) -> None:
        """Makes all readers reconnect, and tells them that there is a gap."""
        self._ready.clear()
        self._token = self._last = None
        self._kept.clear()
        for readers in self._readers.values():
            for reader in readers:
                reader.lose()

    async def _apply_change(self, document: Mapping[str, Any]) -> None:
        user_id = await self._owner(document)
        number = self._number(document["clusterTime"])
        self._position = number
        if user_id is None:
            return
        change = change_from(document, user_id, number)
        self._kept.append(change)
        if len(self._kept) > self._kept_changes:
            self._floor = self._kept.popleft().seq
        for reader in self._readers.get(user_id, ()):
            reader.deliver(change)

    def _number(self, at: Timestamp) -> int:
        """The number of a change. Changes of one transaction have the same time and keep their order."""
        nth = self._last[1] + 1 if self._last is not None and self._last[0] == at else 0
        self._last = (at, nth)
        return number_of(at, nth)

    async def _owner(self, document: Mapping[str, Any]) -> UserId | None:
        """The session's user, or None if it is gone by now: its deletion, which names the owner, follows later."""
        session_id: str = document["documentKey"]["_id"]
        found: Document | None
        if document["operationType"] == "insert":
            found = document["fullDocument"]
        elif (deleted := updated_fields(document).get("owner")) is not None:
            self._owners.pop(session_id, None)
            return UserId(deleted)
        elif (known := self._owners.get(session_id)) is not None:
            return known
        else:
            wanted = {"user_id": 1, "owner": 1}
            found = await self._database["sessions"].find_one({"_id": session_id}, projection=wanted)
        owner = (found.get("user_id") or found.get("owner")) if found else None
        if owner is None:
            return None
        if len(self._owners) >= _MAX_OWNERS:
            del self._owners[next(iter(self._owners))]
        self._owners[session_id] = UserId(owner)
        return UserId(owner)


class _Reader:
    """`FeedPlace`: the missed changes, then a bounded buffer."""

    def __init__(self, position: int, missed: deque[SessionChange] | None = None, *, has_gap: bool = False) -> None:
        self.position = position
        self.has_gap = has_gap
        self._last = position
        self._buffer = missed if missed is not None else deque[SessionChange]()
        self._limit = READER_BUFFER + len(self._buffer)
        self._ready = asyncio.Event()
        self._is_slow = self._is_lost = False

    def deliver(self, change: SessionChange) -> None:
        if change.seq <= self._last:
            return
        if len(self._buffer) >= self._limit:
            self._is_slow = True
        else:
            self._buffer.append(change)
        self._ready.set()

    def lose(self) -> None:
        self._is_lost = True
        self._ready.set()

    def __aiter__(self) -> AsyncIterator[SessionChange]:
        return self

    async def __anext__(self) -> SessionChange:
        while True:
            if self._is_slow:
                raise SlowReaderError(
                    "This reader fell too far behind. Reconnect from the number of the last event it received."
                )
            if self._is_lost:
                raise FeedLostError(
                    "The feed was interrupted. Reconnect from the number of the last event you received."
                )
            if self._buffer:
                change = self._buffer.popleft()
                self._last = change.seq
                return change
            self._ready.clear()
            await self._ready.wait()
