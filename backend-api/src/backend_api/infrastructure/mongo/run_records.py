"""All runs of a user from MongoDB, newest first."""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime

from backend_api.domain.conversation.entity import Run
from backend_api.domain.conversation.jobs import JobStatus, RunPage
from backend_api.domain.errors import InvalidError
from backend_api.domain.identity.entity import UserId
from backend_api.infrastructure.mongo.connection import Database, Document
from backend_api.infrastructure.mongo.run_documents import run_from
from backend_api.infrastructure.mongo.transactions import store_errors


class MongoRunRecords:
    """`RunRecords`."""

    def __init__(self, database: Database) -> None:
        self._runs = database["runs"]

    async def page(self, user_id: UserId, *, status: JobStatus | None, limit: int, cursor: str | None) -> RunPage:
        """Key-set paging by creation time."""
        wanted: Document = {"user_id": user_id}
        if status is not None:
            wanted["status"] = {"$in": sorted(status.runs)}
        if cursor is not None:
            at, last_id = _decode(cursor)
            wanted["$or"] = [{"created_at": {"$lt": at}}, {"created_at": at, "_id": {"$lt": last_id}}]
        async with store_errors():
            found = self._runs.find(wanted).sort([("created_at", -1), ("_id", -1)]).limit(limit + 1)
            items = [run_from(document) async for document in found]
        has_more = len(items) > limit
        items = items[:limit]
        return RunPage(items=items, next_cursor=_encode(items[-1]) if has_more else None)


def _encode(run: Run) -> str:
    return base64.urlsafe_b64encode(f"{round(run.created_at.timestamp() * 1000)}:{run.id}".encode()).decode()


def _decode(cursor: str) -> tuple[datetime, str]:
    try:
        millis, _, last_id = base64.urlsafe_b64decode(cursor.encode()).decode().partition(":")
        return datetime.fromtimestamp(int(millis) / 1000, UTC), last_id
    except (ValueError, OverflowError, OSError, binascii.Error) as error:
        raise InvalidError("This cursor is not one of ours.", field="query.cursor") from error
