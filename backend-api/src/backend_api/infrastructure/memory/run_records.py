"""All runs of a user in memory."""

from __future__ import annotations

from backend_api.domain.conversation.jobs import JobStatus, RunPage
from backend_api.domain.errors import InvalidError
from backend_api.domain.identity.entity import UserId
from backend_api.infrastructure.memory.store import MemoryStore


class MemoryRunRecords:
    """`RunRecords` on a `MemoryStore`."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    async def page(self, user_id: UserId, *, status: JobStatus | None, limit: int, cursor: str | None) -> RunPage:
        """The cursor is the last id."""
        own = [row.run for row in self._store.runs.values() if row.run.user_id == user_id]
        own.sort(key=lambda run: (run.created_at, run.id), reverse=True)
        if status is not None:
            own = [run for run in own if run.status in status.runs]
        start = 0
        if cursor is not None:
            ids: list[str] = [run.id for run in own]
            if cursor not in ids:
                raise InvalidError("This cursor is not one of ours.", field="query.cursor")
            start = ids.index(cursor) + 1
        items = own[start : start + limit]
        return RunPage(items=items, next_cursor=items[-1].id if len(own) > start + limit else None)
