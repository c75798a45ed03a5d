"""What is kept of model calls, counted in memory."""

from __future__ import annotations

from backend_api.kit.ids import SessionId, UserId
from support.memory.store import MemoryStore


class MemoryModelCallQuota:
    """`ModelCallQuota` on a `MemoryStore`; a user's may have `most` bytes, 0 is any number."""

    def __init__(self, store: MemoryStore, *, most: int = 0) -> None:
        self._store = store
        self._most = most

    async def has_room(self, user_id: UserId) -> bool:
        """The sum over the user's sessions."""
        kept = sum(row.model_call_quota for row in self._store.sessions.values() if row.session.user_id == user_id)
        return not self._most or kept < self._most

    async def add(self, session_id: SessionId, user_id: UserId, size: int) -> None:
        """On the session, with which it goes."""
        row = self._store.sessions.get(session_id)
        if row is not None and row.session.user_id == user_id:
            row.model_call_quota += size
