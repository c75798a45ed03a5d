"""The open streams of this gateway: limited for each user, ended with their log-in, and all ended with the gateway."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from backend_api.conversations.domain.errors import TooManyStreamsError
from backend_api.identity.application.connection_auth import AuthenticatedConnections, ConnectionAuth
from backend_api.identity.domain.entity import AccessClaims
from backend_api.kit import measures
from backend_api.kit.ids import UserId

RETRY_AFTER_S = 5


class StreamSlots:
    """Slots are counted in this process, not across gateways: a connection and its cost belong to one process."""

    def __init__(self, limit: int, connections: AuthenticatedConnections) -> None:
        self._limit = limit
        self._connections = connections
        self._taken: dict[UserId, int] = {}
        self._open: set[ConnectionAuth] = set()
        self._is_closed = False

    def check(self, user_id: UserId) -> None:
        """Raises `TooManyStreamsError` if no slot is free."""
        if 0 < self._limit <= self._taken.get(user_id, 0):
            raise TooManyStreamsError(
                f"You have {self._limit} streams open, which is the maximum. Close one first.",
                retry_after_s=RETRY_AFTER_S,
            )

    @contextmanager
    def claim_slot(self, claims: AccessClaims, transport: str) -> Generator[ConnectionAuth]:
        """Takes a slot for the length of the block. The stream is told to end, with the reason, when the log-in is no
        longer valid, and without one when the gateway ends.

        Raises `TooManyStreamsError` on entering.
        """
        user_id = claims.user_id
        self.check(user_id)
        with self._connections.register(claims) as auth:
            if self._is_closed:
                auth.end(None)
            self._taken[user_id] = self._taken.get(user_id, 0) + 1
            self._open.add(auth)
            measures.STREAM_READERS.labels(transport).inc()
            try:
                yield auth
            finally:
                measures.STREAM_READERS.labels(transport).dec()
                self._open.discard(auth)
                self._taken[user_id] -= 1
                if not self._taken[user_id]:
                    del self._taken[user_id]

    @contextmanager
    def ended_with_gateway(self, auth: ConnectionAuth) -> Generator[None]:
        """Ends a stream without a user and slot when the gateway ends."""
        if self._is_closed:
            auth.end(None)
        self._open.add(auth)
        try:
            yield
        finally:
            self._open.discard(auth)

    def close(self) -> None:
        """Ends every stream because the gateway ends."""
        self._is_closed = True
        for auth in tuple(self._open):
            auth.end(None)
