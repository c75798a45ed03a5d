"""Deletions in memory."""

from __future__ import annotations

from datetime import timedelta

from backend_api.conversations.domain.deletions import Deleted
from backend_api.kit.ids import SessionId
from support.memory.store import MemoryStore


class MemoryDeletions:
    """`Deletions` on a `MemoryStore`."""

    def __init__(self, store: MemoryStore, *, due_s: float) -> None:
        self._store = store
        self._due = timedelta(seconds=due_s)

    async def claim_next(self) -> Deleted | None:
        """Under the lock."""
        async with self._store.lock:
            now = self._store.clock()
            for session_id, (user_id, at) in self._store.deleted.items():
                if at <= now - self._due:
                    self._store.deleted[session_id] = (user_id, now)
                    return Deleted(session_id=session_id, user_id=user_id)
            return None

    async def finish(self, session_id: SessionId) -> None:
        """Forget it."""
        self._store.deleted.pop(session_id, None)
