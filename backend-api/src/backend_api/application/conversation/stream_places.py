"""Open streams of this gateway: so many a user and no more, and all ended together when the gateway ends."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

from backend_api.application import measures
from backend_api.domain.conversation.errors import TooManyStreamsError
from backend_api.domain.identity.entity import UserId

RETRY_AFTER_S = 5


class StreamPlaces:
    """Counted here, not across gateways: a connection belongs to one process, and so does what it costs."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._taken: dict[UserId, int] = {}
        self._ends: set[asyncio.Future[None]] = set()
        self._is_closed = False

    def check(self, user_id: UserId) -> None:
        """Raises `TooManyStreamsError` when no place is free."""
        if 0 < self._limit <= self._taken.get(user_id, 0):
            raise TooManyStreamsError(
                f"You have {self._limit} streams open, which is the most. Close one.", retry_after_s=RETRY_AFTER_S
            )

    @contextmanager
    def take(self, user_id: UserId, transport: str) -> Generator[asyncio.Future[None]]:
        """A place for the length of the block; what it yields is done when the gateway ends.

        Raises `TooManyStreamsError` on entering.
        """
        self.check(user_id)
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._is_closed:
            ended.set_result(None)
        self._taken[user_id] = self._taken.get(user_id, 0) + 1
        self._ends.add(ended)
        measures.STREAM_READERS.add(transport)
        try:
            yield ended
        finally:
            measures.STREAM_READERS.add(transport, by=-1.0)
            self._ends.discard(ended)
            self._taken[user_id] -= 1
            if not self._taken[user_id]:
                del self._taken[user_id]

    def close(self) -> None:
        """Tell every stream that the gateway ends."""
        self._is_closed = True
        for ended in tuple(self._ends):
            if not ended.done():
                ended.set_result(None)
