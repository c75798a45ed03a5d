"""Open streams of this gateway: so many a user and no more, each ended with its log-in, and all with the gateway."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from backend_api.application import measures
from backend_api.application.identity.open_log_ins import HeldLogIn, OpenLogIns
from backend_api.domain.conversation.errors import TooManyStreamsError
from backend_api.domain.identity.entity import AccessClaims, UserId

RETRY_AFTER_S = 5


class StreamPlaces:
    """Counted here, not across gateways: a connection belongs to one process, and so does what it costs."""

    def __init__(self, limit: int, log_ins: OpenLogIns) -> None:
        self._limit = limit
        self._log_ins = log_ins
        self._taken: dict[UserId, int] = {}
        self._open: set[HeldLogIn] = set()
        self._is_closed = False

    def check(self, user_id: UserId) -> None:
        """Raises `TooManyStreamsError` when no place is free."""
        if 0 < self._limit <= self._taken.get(user_id, 0):
            raise TooManyStreamsError(
                f"You have {self._limit} streams open, which is the most. Close one.", retry_after_s=RETRY_AFTER_S
            )

    @contextmanager
    def take(self, claims: AccessClaims, transport: str) -> Generator[HeldLogIn]:
        """A place for the length of the block; it is told to end, with the reason, when the log-in holds no longer, and
        without one when the gateway ends.

        Raises `TooManyStreamsError` on entering.
        """
        user_id = claims.user_id
        self.check(user_id)
        with self._log_ins.hold(claims) as held:
            if self._is_closed:
                held.end(None)
            self._taken[user_id] = self._taken.get(user_id, 0) + 1
            self._open.add(held)
            measures.STREAM_READERS.labels(transport).inc()
            try:
                yield held
            finally:
                measures.STREAM_READERS.labels(transport).dec()
                self._open.discard(held)
                self._taken[user_id] -= 1
                if not self._taken[user_id]:
                    del self._taken[user_id]

    def close(self) -> None:
        """Tell every stream that the gateway ends."""
        self._is_closed = True
        for held in tuple(self._open):
            held.end(None)
