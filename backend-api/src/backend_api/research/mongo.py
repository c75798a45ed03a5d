"""The corpus in MongoDB: one document per record, found by owner and by each id of its paper."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import Any, ClassVar, cast

from beanie import Document
from pydantic import Field
from pymongo import ASCENDING, DESCENDING, IndexModel
from pymongo.errors import BulkWriteError, DuplicateKeyError

from backend_api.kit.errors import InvalidError
from backend_api.kit.ids import UserId
from backend_api.kit.mongo.transactions import store_errors
from backend_api.research.domain import MAX_RECORDS, Filter, Paper, Record, RecordId
from backend_api.research.ports import Page

BATCH = 1_000
IMPORT_S = 60.0
MOST_TAGS = 500
MOST_WORDS = 10
_FIELDS = frozenset(each.name for each in fields(Paper))
_NAMES = ("title", "authors", "abstract", "venue")


class RecordDocument(Document):
    """A record. `keys` are the ids that must be unique among the user's records: DOI and arXiv id, else the title with
    first author and year."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- the record
    user_id: str
    keys: list[str] = Field(default_factory=list[str])
    ids: list[str] = Field(default_factory=list[str])
    paper: dict[str, Any]
    notes: str
    tags: list[str]
    sessions: list[str]
    added_by: str
    is_imported: bool
    created_at: datetime
    version: int

    class Settings:
        name = "corpus"
        indexes: ClassVar = [
            IndexModel(
                [("user_id", ASCENDING), ("keys", ASCENDING)],
                unique=True,
                partialFilterExpression={"keys.0": {"$exists": True}},
            ),
            IndexModel([("user_id", ASCENDING), ("ids", ASCENDING)]),
            IndexModel([("user_id", ASCENDING), ("created_at", DESCENDING), ("_id", DESCENDING)]),
        ]


class MongoCorpus:
    """`CorpusStore` on the collection corpus."""

    async def get(self, user_id: UserId, record_id: RecordId) -> Record | None:
        """Find it by id and owner at once."""
        async with store_errors():
            found = await _collection().find_one({"_id": record_id, "user_id": user_id})
        return None if found is None else _record(found)

    async def same_as(self, user_id: UserId, paper: Paper) -> list[Record]:
        """Find them by an index; oldest first."""
        async with store_errors():
            cursor = _collection().find({"user_id": user_id, "ids": {"$in": _ids(paper)}})
            return [_record(one) for one in await cursor.sort([("created_at", 1), ("_id", 1)]).limit(50).to_list()]

    async def insert(self, record: Record) -> bool:
        """One write."""
        async with store_errors():
            try:
                await _collection().insert_one(_document(record))
            except DuplicateKeyError:
                return False
        return True

    async def replace(self, record: Record) -> bool:
        """Compare-and-set on the version."""
        fields = _document(record) | {"version": record.version + 1}
        wanted = {"_id": fields.pop("_id"), "user_id": record.user_id, "version": record.version}
        async with store_errors():
            try:
                return bool((await _collection().update_one(wanted, {"$set": fields})).matched_count)
            except DuplicateKeyError:
                # Another record has one of the new ids: this one is left unchanged.
                fields.pop("keys")
                return bool((await _collection().update_one(wanted, {"$set": fields})).matched_count)

    async def delete(self, user_id: UserId, record_id: RecordId) -> bool:
        """One write."""
        async with store_errors():
            return bool((await _collection().delete_one({"_id": record_id, "user_id": user_id})).deleted_count)

    async def page(self, user_id: UserId, wanted: Filter, *, limit: int, cursor: str | None) -> Page:
        """Two reads."""
        matching = _matching(user_id, wanted)
        after = {} if cursor is None else _after(cursor)
        async with store_errors():
            total = await _collection().count_documents(matching)
            rows = _collection().find({"$and": [matching, after]} if after else matching)
            found = await rows.sort([("created_at", -1), ("_id", -1)]).limit(limit + 1).to_list()
        next_cursor = _encode(found[limit - 1]) if len(found) > limit else None
        return Page(items=[_record(one) for one in found[:limit]], total=total, next_cursor=next_cursor)

    async def count(self, user_id: UserId) -> int:
        """Count by an index."""
        async with store_errors():
            return await _collection().count_documents({"user_id": user_id})

    async def tags(self, user_id: UserId) -> Sequence[tuple[str, int]]:
        """The tags, most used first."""
        pipeline: list[dict[str, Any]] = [
            {"$match": {"user_id": user_id, "tags.0": {"$exists": True}}},
            {"$unwind": "$tags"},
            {"$group": {"_id": "$tags", "count": {"$sum": 1}}},
            {"$sort": {"count": -1, "_id": 1}},
            {"$limit": MOST_TAGS},
        ]
        async with store_errors():
            found = await (await _collection().aggregate(pipeline)).to_list()
        return [(str(one["_id"]), int(one["count"])) for one in found]

    async def all(self, user_id: UserId, wanted: Filter) -> Sequence[Record]:
        """One read."""
        async with store_errors(within_s=IMPORT_S):
            rows = _collection().find(_matching(user_id, wanted)).sort([("created_at", 1), ("_id", 1)])
            return [_record(one) for one in await rows.limit(MAX_RECORDS).to_list()]

    async def insert_many(self, records: Sequence[Record]) -> int:
        """Insert in batches."""
        added = 0
        for at in range(0, len(records), BATCH):
            batch = [_document(one) for one in records[at : at + BATCH]]
            async with store_errors(within_s=IMPORT_S):
                try:
                    await _collection().insert_many(batch, ordered=False)
                    added += len(batch)
                except BulkWriteError as error:
                    faults = cast("dict[str, Any]", error.details)
                    if any(one.get("code") != 11000 for one in faults.get("writeErrors", [])):
                        raise
                    added += int(faults.get("nInserted", 0))
        return added


def _collection() -> Any:
    # The driver: filters, sorting and bulk writes are its own, and Beanie's are untyped.
    return cast("Any", RecordDocument).get_pymongo_collection()


def _ids(paper: Paper) -> list[str]:
    return [*map(str, paper.ids), *([f"title:{paper.title_key}"] if paper.title_key else [])]


def _keys(paper: Paper) -> list[str]:
    """Keys that no two records of a user share."""
    strong = [str(one) for one in paper.ids if one.kind in ("doi", "arxiv")]
    return strong or ([f"title:{paper.title_key}"] if paper.title_key else [])


def _document(record: Record) -> dict[str, Any]:
    paper = asdict(record.paper) | {"authors": list(record.paper.authors)}
    return {
        "_id": record.id,
        "user_id": record.user_id,
        "keys": _keys(record.paper),
        "ids": _ids(record.paper),
        "paper": paper,
        "notes": record.notes,
        "tags": list(record.tags),
        "sessions": list(record.sessions),
        "added_by": record.added_by,
        "is_imported": record.is_imported,
        "created_at": record.created_at,
        "version": record.version,
    }


def _record(found: dict[str, Any]) -> Record:
    paper: dict[str, Any] = found["paper"]
    known = {name: value for name, value in paper.items() if name in _FIELDS}
    whole: dict[str, Any] = {**known, "authors": tuple(paper["authors"])}
    return Record(
        id=RecordId(found["_id"]),
        user_id=UserId(found["user_id"]),
        paper=Paper(**whole),
        notes=found["notes"],
        tags=tuple(found["tags"]),
        sessions=tuple(found["sessions"]),
        added_by=found["added_by"],
        is_imported=found["is_imported"],
        created_at=found["created_at"].replace(tzinfo=found["created_at"].tzinfo or UTC),
        version=found["version"],
    )


def _matching(user_id: UserId, wanted: Filter) -> dict[str, Any]:
    years = {
        **({"$gte": wanted.year_from} if wanted.year_from else {}),
        **({"$lte": wanted.year_to} if wanted.year_to else {}),
    }
    words = [re.escape(word) for word in wanted.text.split()[:MOST_WORDS]]
    places = [*(f"paper.{name}" for name in _NAMES), "notes", "tags"]
    return {
        "user_id": user_id,
        **({"_id": {"$in": list(wanted.ids)}} if wanted.ids else {}),
        **({"tags": wanted.tag} if wanted.tag else {}),
        **({"sessions": wanted.session_id} if wanted.session_id else {}),
        **(_of_source(wanted.source) if wanted.source else {}),
        **({"paper.year": years} if years else {}),
        **(
            {"$and": [{"$or": [{place: {"$regex": word, "$options": "i"}} for place in places]} for word in words]}
            if words
            else {}
        ),
    }


def _of_source(source: str) -> dict[str, Any]:
    return {"is_imported": True} if source == "import" else {"paper.source": source, "is_imported": False}


def _after(cursor: str) -> dict[str, Any]:
    try:
        millis, _, last_id = base64.urlsafe_b64decode(cursor.encode()).decode().partition(":")
        at = datetime.fromtimestamp(int(millis) / 1000, UTC)
    except (ValueError, OverflowError, OSError, binascii.Error) as error:
        raise InvalidError("The cursor is invalid. Use one that a page returned.", field="query.cursor") from error
    return {"$or": [{"created_at": {"$lt": at}}, {"created_at": at, "_id": {"$lt": last_id}}]}


def _encode(found: dict[str, Any]) -> str:
    at: datetime = found["created_at"].replace(tzinfo=found["created_at"].tzinfo or UTC)
    return base64.urlsafe_b64encode(f"{round(at.timestamp() * 1000)}:{found['_id']}".encode()).decode()
