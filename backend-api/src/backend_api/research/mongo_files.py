"""Papers of attached files in MongoDB. They are deleted with their session (`conversations/mongo/deletions.py`)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, ClassVar, cast

from beanie import Document
from pymongo import ASCENDING, DESCENDING, IndexModel

from backend_api.kit.ids import UserId
from backend_api.kit.mongo.transactions import store_errors
from backend_api.research.domain import RecordId
from backend_api.research.identity import IdKind, PaperId
from backend_api.research.ports import AttachedFile

MOST_FILES = 100
"""The files of a conversation that are kept."""
_NEWEST = [("matched_at", -1), ("_id", -1)]
"""Of two of the same millisecond the one that was inserted later."""


class AttachedFileDocument(Document):
    """A file of a conversation that is a paper."""

    user_id: str
    session_id: str
    path: str
    record_id: str | None = None
    paper_kind: str = ""
    paper_value: str = ""
    title: str
    matched_at: datetime

    class Settings:
        name = "corpus_files"
        indexes: ClassVar = [
            IndexModel([("session_id", ASCENDING), ("user_id", ASCENDING), ("path", ASCENDING)], unique=True),
            IndexModel([("session_id", ASCENDING), ("user_id", ASCENDING), ("matched_at", DESCENDING)]),
        ]


class MongoAttachedFiles:
    """`AttachedFiles` on the collection corpus_files."""

    async def put(self, user_id: UserId, session_id: str, file: AttachedFile) -> None:
        """One write; where there are too many, those that came first are removed."""
        mine = {"session_id": session_id, "user_id": user_id}
        fields = {
            "record_id": file.record_id,
            "paper_kind": file.paper_id.kind if file.paper_id else "",
            "paper_value": file.paper_id.value if file.paper_id else "",
            "title": file.title,
            "matched_at": datetime.now(UTC),
        }
        async with store_errors():
            await _collection().update_one(mine | {"path": file.path}, {"$set": fields}, upsert=True)
            # All but the newest: an offset of the query.
            more = _collection().find(mine, {"_id": 1}).sort(_NEWEST).skip(MOST_FILES)
            if old := [one["_id"] for one in await more.to_list()]:
                await _collection().delete_many({"_id": {"$in": old}})

    async def remove(self, user_id: UserId, session_id: str, path: str) -> None:
        """One write."""
        async with store_errors():
            await _collection().delete_one({"session_id": session_id, "user_id": user_id, "path": path})

    async def of_session(self, user_id: UserId, session_id: str) -> list[AttachedFile]:
        """One read, by an index."""
        async with store_errors():
            found = _collection().find({"session_id": session_id, "user_id": user_id}).sort(_NEWEST)
            return [_file(one) for one in await found.limit(MOST_FILES).to_list()]


def _collection() -> Any:
    # The driver, as that of the records.
    return cast("Any", AttachedFileDocument).get_pymongo_collection()


def _file(found: dict[str, Any]) -> AttachedFile:
    kind, value, record_id = found["paper_kind"], found["paper_value"], found["record_id"]
    return AttachedFile(
        path=found["path"],
        record_id=RecordId(record_id) if record_id else None,
        paper_id=PaperId(cast("IdKind", kind), value) if value else None,
        title=found["title"],
    )
