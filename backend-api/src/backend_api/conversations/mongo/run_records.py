"""The runs of a user, from MongoDB, newest first."""

from __future__ import annotations

from backend_api.conversations.domain.entity import Run
from backend_api.conversations.domain.jobs import JobStatus, RunPage
from backend_api.conversations.mongo.documents import RunDocument
from backend_api.conversations.mongo.run_documents import run_from
from backend_api.kit.ids import UserId
from backend_api.kit.mongo.database import Document
from backend_api.kit.mongo.newest_first import newest_first


class MongoRunRecords:
    """`RunRecords`."""

    async def page(self, user_id: UserId, *, status: JobStatus | None, limit: int, cursor: str | None) -> RunPage:
        """Key-set paging by creation time."""
        wanted: Document = {"user_id": user_id}
        if status is not None:
            wanted["status"] = {"$in": sorted(status.runs)}
        items, next_cursor = await newest_first(RunDocument, wanted, _run_from, limit=limit, cursor=cursor)
        return RunPage(items=items, next_cursor=next_cursor)


def _run_from(document: RunDocument) -> Run:
    return run_from(document.model_dump(by_alias=True))
