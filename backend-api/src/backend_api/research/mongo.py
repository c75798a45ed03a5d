"""The corpus in MongoDB: one document per record, found by owner and by each id of its paper."""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import Any, ClassVar, TypeVar, cast

from beanie import Document
from pydantic import Field
from pymongo import ASCENDING, DESCENDING, IndexModel
from pymongo.asynchronous.client_session import AsyncClientSession
from pymongo.errors import DuplicateKeyError

from backend_api.kit.errors import InvalidError, StoreUnavailableError
from backend_api.kit.ids import UserId
from backend_api.kit.mongo.database import Database
from backend_api.kit.mongo.transactions import AbandonedError, in_transaction, store_errors
from backend_api.research.domain import PAPER_TEXTS, Bounds, Filter, Held, Paper, Record, RecordId
from backend_api.research.ports import Page

BATCH = 200
INSERTED_AT_ONCE = 1_000
NAMES_BATCH = 2_000
INSERTED_CHARACTERS = 1_000_000
"""The most characters of the records that are inserted at once, but for one that has more."""
MOST_TAGS = 500
MOST_WORDS = 10
_FIELDS = frozenset(each.name for each in fields(Paper))
_NAMES = ("title", "authors", "abstract", "venue")
_NAME = {
    **{f"paper.{name}": 1 for name in ("title", "year", "doi", "arxiv_id", "openalex_id", "s2_id", "source")},
    "paper.authors": {"$slice": 1},
    **dict.fromkeys(("user_id", "is_imported", "created_at", "version"), 1),
}
_UNREAD: dict[str, Any] = {"notes": "", "tags": [], "sessions": [], "added_by": ""}


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


class HeldDocument(Document):
    """What a user keeps: it changes in the transaction of each record, so that it is always right."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- the user
    records: int
    characters: int

    class Settings:
        name = "corpus_held"


_Result = TypeVar("_Result")


class MongoCorpus:
    """`CorpusStore` on the collection corpus."""

    def __init__(self, database: Database) -> None:
        self._database = database

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

    async def some(self, user_id: UserId, record_ids: Sequence[RecordId]) -> list[Record]:
        """One read."""
        async with store_errors():
            found = await _collection().find({"_id": {"$in": list(record_ids)}, "user_id": user_id}).to_list()
        return [_record(one) for one in found]

    async def insert(self, record: Record, *, within: Bounds) -> bool:
        """A transaction."""
        return bool(await self.insert_many([record], within=within))

    async def replace(self, record: Record, *, within: Bounds) -> bool:
        """Compare-and-set on the version."""
        fields = _document(record) | {"version": record.version + 1}
        wanted = {"_id": fields.pop("_id"), "user_id": record.user_id, "version": record.version}

        async def work(session: AsyncClientSession, held: Held) -> tuple[bool, Held]:
            stored = await _collection().find_one(wanted, session=session)
            if stored is None:
                return False, Held()
            more = Held(characters=record.characters - _record(stored).characters)
            within.check(held, more)
            await _collection().update_one(wanted, {"$set": fields}, session=session)
            return True, more

        try:
            return await self._counting(record.user_id, work)
        except DuplicateKeyError:
            # Another record has one of the new ids: this one is left unchanged.
            fields.pop("keys")
            return await self._counting(record.user_id, work)

    async def delete(self, user_id: UserId, record_id: RecordId) -> bool:
        """A transaction."""

        async def work(session: AsyncClientSession, held: Held) -> tuple[bool, Held]:
            del held
            gone = await _collection().find_one_and_delete({"_id": record_id, "user_id": user_id}, session=session)
            return gone is not None, Held() if gone is None else _held([_record(gone)], -1)

        return await self._counting(user_id, work)

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

    async def held(self, user_id: UserId) -> Held:
        """One read, but for who has changed nothing since it is counted."""
        async with store_errors():
            found = await _held_collection().find_one({"_id": user_id})
            return _held_of(found) if found else await _counted(user_id)

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

    async def each(self, user_id: UserId, wanted: Filter) -> AsyncGenerator[Sequence[Record]]:
        """A cursor, which is closed with the generator."""
        async with aclosing(_batches(_matching(user_id, wanted), BATCH)) as batches:
            async for found in batches:
                yield [_record(one) for one in found]

    async def each_name(self, user_id: UserId) -> AsyncGenerator[Sequence[Record]]:
        """As `each`, by a projection."""
        async with aclosing(_batches({"user_id": user_id}, NAMES_BATCH, _NAME)) as batches:
            async for found in batches:
                yield [_record({**_UNREAD, **one, "paper": {"authors": [], **one["paper"]}}) for one in found]

    async def insert_many(self, records: Sequence[Record], *, within: Bounds) -> int:
        """A transaction for each batch: what it adds is counted with it."""
        added = 0
        for batch in _in_batches(records):
            user_id = batch[0].user_id

            async def work(
                session: AsyncClientSession, held: Held, batch: Sequence[Record] = batch, user_id: UserId = user_id
            ) -> tuple[int, Held]:
                # Whoever inserts records of this user at the same moment counts them too, and one of both tries again.
                keys = [key for one in batch for key in _keys(one.paper)]
                rows = _collection().find({"user_id": user_id, "keys": {"$in": keys}}, {"keys": 1}, session=session)
                taken = {key for one in await rows.to_list() for key in one["keys"]}
                fresh = list[Record]()
                for one in batch:
                    if taken.isdisjoint(_keys(one.paper)):
                        fresh.append(one)
                        taken.update(_keys(one.paper))
                more = _held(fresh)
                within.check(held, more)
                if fresh:
                    await _collection().insert_many([_document(one) for one in fresh], session=session)
                return len(fresh), more

            added += await self._counting(user_id, work)
        return added

    async def _counting(
        self, user_id: UserId, work: Callable[[AsyncClientSession, Held], Awaitable[tuple[_Result, Held]]]
    ) -> _Result:
        """Do `work` in a transaction, which is given what the user holds and returns what it adds."""

        async def counted(session: AsyncClientSession) -> _Result:
            found = await _held_collection().find_one({"_id": user_id}, session=session)
            if found is None:
                raise AbandonedError
            result, more = await work(session, _held_of(found))
            if more != Held():
                await _held_collection().update_one({"_id": user_id}, {"$inc": asdict(more)}, session=session)
            return result

        try:
            return await in_transaction(self._database, counted)
        except AbandonedError:
            # Nobody changed anything since it is counted, and whoever was first to count stays right.
            async with store_errors():
                first = asdict(await _counted(user_id))
                await _held_collection().update_one({"_id": user_id}, {"$setOnInsert": first}, upsert=True)
            return await in_transaction(self._database, counted)


def _collection() -> Any:
    # The driver: filters, sorting and bulk writes are its own, and Beanie's are untyped.
    return cast("Any", RecordDocument).get_pymongo_collection()


def _held_collection() -> Any:
    return cast("Any", HeldDocument).get_pymongo_collection()


def _held(records: Sequence[Record], sign: int = 1) -> Held:
    return Held(records=sign * len(records), characters=sign * sum(one.characters for one in records))


def _held_of(found: Mapping[str, Any]) -> Held:
    return Held(records=int(found["records"]), characters=int(found["characters"]))


async def _counted(user_id: UserId) -> Held:
    """What is stored, counted by the database as `Record.characters` does."""
    texts = [*(f"$paper.{name}" for name in PAPER_TEXTS), "$notes"]
    lists = ["$paper.authors", "$tags", "$sessions"]
    of_lists: list[dict[str, Any]] = [
        {"$reduce": {"input": each, "initialValue": 0, "in": {"$add": ["$$value", _length("$$this")]}}}
        for each in lists
    ]
    pipeline: list[dict[str, Any]] = [
        {"$match": {"user_id": user_id}},
        {
            "$group": {
                "_id": None,
                "records": {"$sum": 1},
                "characters": {"$sum": {"$add": [*map(_length, texts), *of_lists]}},
            }
        },
    ]
    found = await (await _collection().aggregate(pipeline)).to_list()
    return _held_of(found[0]) if found else Held()


def _length(text: str) -> dict[str, Any]:
    return {"$strLenCP": {"$ifNull": [text, ""]}}


_closing = set[asyncio.Future[None]]()


async def _read(cursor: Any, most: int) -> list[dict[str, Any]]:
    async with store_errors():
        return await cursor.to_list(most)


async def _close(cursor: Any, reading: asyncio.Future[Any] | None) -> None:
    if reading is not None:
        # The driver takes a cursor whose read is cancelled for closed, though it stays open at the server.
        await asyncio.wait({reading})
        if not reading.cancelled():
            reading.exception()
    with suppress(StoreUnavailableError):
        async with store_errors():
            await cursor.close()


async def _batches(
    matching: dict[str, Any], most: int, projection: Mapping[str, Any] | None = None
) -> AsyncGenerator[list[dict[str, Any]]]:
    cursor = _collection().find(matching, projection, batch_size=most).sort([("created_at", 1), ("_id", 1)])
    reading: asyncio.Future[list[dict[str, Any]]] | None = None
    try:
        while True:
            reading = asyncio.ensure_future(_read(cursor, most))
            found = await asyncio.shield(reading)
            if not found:
                return
            yield found
    finally:
        closing = asyncio.ensure_future(_close(cursor, reading))
        # A request that was cancelled waits for nothing, and the cursor would stay open at the server.
        _closing.add(closing)
        closing.add_done_callback(_closing.discard)
        await asyncio.wait({closing})


def _in_batches(records: Sequence[Record]) -> list[list[Record]]:
    made, length = list[list[Record]](), 0
    for record in records:
        if not made or len(made[-1]) >= INSERTED_AT_ONCE or length + record.characters > INSERTED_CHARACTERS:
            made.append([])
            length = 0
        made[-1].append(record)
        length += record.characters
    return made


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
