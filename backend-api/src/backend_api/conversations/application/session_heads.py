"""The last numbers of the sessions followed in this process: one query for all of them, not one for each reader."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager

from backend_api.conversations.ports import EventLog
from backend_api.kit.errors import UnavailableError
from backend_api.kit.ids import SessionId


class SessionHeads:
    """Caches the numbers for `every_s`; the first reader after that queries the store for all."""

    def __init__(self, log: EventLog, every_s: float = 1.0) -> None:
        self._log = log
        self._every_s = every_s
        self._followed: Counter[SessionId] = Counter()
        self._heads: dict[SessionId, int] = {}
        self._failure: UnavailableError | None = None
        self._asked_at = 0.0
        self._asking = asyncio.Lock()

    @contextmanager
    def follow(self, session_id: SessionId) -> Generator[None]:
        """Includes the session in the queries during the block."""
        self._followed[session_id] += 1
        try:
            yield
        finally:
            self._followed[session_id] -= 1
            if not self._followed[session_id]:
                del self._followed[session_id]
                self._heads.pop(session_id, None)

    async def look(self, session_id: SessionId) -> int | None:
        """The number of the last stored event, at most `every_s` old; None if the session no longer exists.

        Raises an `UnavailableError` while the store is unavailable: after a failure, to every reader for `every_s`.
        """
        if self._is_stale(session_id):
            async with self._asking:
                if self._is_stale(session_id):
                    await self._ask()
        if self._failure is not None:
            raise self._failure.with_traceback(None)
        return self._heads.get(session_id)

    async def _ask(self) -> None:
        try:
            self._heads = await self._log.heads(list(self._followed))
            self._failure = None
        except UnavailableError as error:
            # Kept for all who wait: if each queried again, it would wait as long as all before it.
            self._failure = error
        self._asked_at = time.monotonic()

    def _is_stale(self, session_id: SessionId) -> bool:
        is_known = self._failure is not None or session_id in self._heads
        return not is_known or time.monotonic() - self._asked_at >= self._every_s
