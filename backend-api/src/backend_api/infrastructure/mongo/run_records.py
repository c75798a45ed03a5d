"""All runs of a user from MongoDB, newest first."""

from __future__ import annotations

from backend_api.domain.conversation.jobs import JobStatus, RunPage
from backend_api.domain.identity.entity import UserId
from backend_api.infrastructure.mongo.database import Database, Document
from backend_api.infrastructure.mongo.newest_first import newest_first
from backend_api.infrastructure.mongo.run_documents import run_from


class MongoRunRecords:
    """`RunRecords`."""

    def __init__(self, database: Database) -> None:
        self._runs = database["runs"]

    async def page(self, user_id: UserId, *, status: JobStatus | None, limit: int, cursor: str | None) -> RunPage:
        """Key-set paging by creation time."""
        wanted: Document = {"user_id": user_id}
        if status is not None:
            wanted["status"] = {"$in": sorted(status.runs)}
        items, next_cursor = await newest_first(self._runs, wanted, run_from, limit=limit, cursor=cursor)
        return RunPage(items=items, next_cursor=next_cursor)
