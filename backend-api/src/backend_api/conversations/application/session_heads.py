"""Last numbers of the sessions followed in this process: one question for all of them, not one a reader."""

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
    """Whoever looks first after `every_s` asks the store for everybody."""

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
        """Inside, the session is among those asked for."""
        self._followed[session_id] += 1
        try:
            yield
        finally:
            self._followed[session_id] -= 1
            if not self._followed[session_id]:
                del self._followed[session_id]
                self._heads.pop(session_id, None)

    async def look(self, session_id: SessionId) -> int | None:
        """Number of the last stored event, as of `every_s` ago at most; None when there is no such session any more.

        Raises an `UnavailableError` while the store is away: after a failure, to everybody for `every_s`.
        """
        if self._is_to_be_asked(session_id):
            async with self._asking:
                if self._is_to_be_asked(session_id):
                    await self._ask()
        if self._failure is not None:
            raise self._failure.with_traceback(None)
        return self._heads.get(session_id)

    async def _ask(self) -> None:
        try:
            self._heads = await self._log.heads(list(self._followed))
            self._failure = None
        except UnavailableError as error:
            # Whoever waited for this answer has it: each asking again would wait for the time of all before it.
            self._failure = error
        self._asked_at = time.monotonic()

    def _is_to_be_asked(self, session_id: SessionId) -> bool:
        is_known = self._failure is not None or session_id in self._heads
        return not is_known or time.monotonic() - self._asked_at >= self._every_s
