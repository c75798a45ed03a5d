"""All runs of a user in memory."""

from __future__ import annotations

from backend_api.domain.conversation.jobs import JobStatus, RunPage
from backend_api.domain.identity.entity import UserId
from backend_api.infrastructure.memory.newest_first import newest_first
from backend_api.infrastructure.memory.store import MemoryStore


class MemoryRunRecords:
    """`RunRecords` on a `MemoryStore`."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    async def page(self, user_id: UserId, *, status: JobStatus | None, limit: int, cursor: str | None) -> RunPage:
        """See `newest_first`."""
        own = [row.run for row in self._store.runs.values() if row.run.user_id == user_id]
        if status is not None:
            own = [run for run in own if run.status in status.runs]
        items, next_cursor = newest_first(own, limit=limit, cursor=cursor)
        return RunPage(items=items, next_cursor=next_cursor)
