"""The index of messages in MongoDB: one document per message, with its tokens; texts are read from the log.

A conversation is indexed again if its log has grown since, which its `updated_at` shows. Index entries are deleted with
their session (`conversations/mongo/deletions.py`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from beanie import Document as Stored
from pymongo import ASCENDING, DESCENDING, IndexModel, UpdateOne, WriteConcern
from pymongo.errors import BulkWriteError
from pymongo.read_concern import ReadConcern

from backend_api.agent.events import Event, MessageCompleted, MessageUser
from backend_api.conversations.domain.errors import SessionNotFoundError
from backend_api.conversations.mongo.event_documents import read_events
from backend_api.conversations.mongo.paths import read_path
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Database, Document
from backend_api.kit.mongo.transactions import store_errors
from backend_api.search.domain import Found, Query, score, snippet_of, tokens_of
from backend_api.search.ports import FoundPage

_OVERLAP = timedelta(seconds=60)
"""A transaction that began earlier may be committed later."""
_CATCH_UP_S = 60.0
_SESSIONS_AT_ONCE = 500
_EVENTS_AT_ONCE = 200
_FEW = 1_000
"""The number of messages up to which a token counts as rare enough to begin the search with."""
_LOOKED_AT = 20_000
"""The most messages with the query's rarest token, newest first, that are searched for the other tokens."""
_BEGINNINGS = 2_000
_LAST = "\U0010ffff"


class SearchMessageDocument(Stored):
    """The tokens of a message. Its id is the session's id and the number of the event."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- `session:seq`
    user_id: str
    session_id: str
    seq: int
    at: datetime
    tokens: list[str]

    class Settings:
        name = "search_messages"
        indexes: ClassVar = [
            IndexModel([("user_id", ASCENDING), ("tokens", ASCENDING), ("at", DESCENDING)]),
            IndexModel([("session_id", ASCENDING)]),
        ]


class SearchMarkDocument(Stored):
    """The position up to which a session is indexed."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- the session
    session_id: str
    seq: int

    class Settings:
        name = "search_marks"
        indexes: ClassVar = [IndexModel([("session_id", ASCENDING)])]


class SearchUserDocument(Stored):
    """The time up to which changes of a user's sessions are indexed."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- the user
    through: datetime

    class Settings:
        name = "search_users"


DOCUMENTS: list[type[Stored]] = [SearchMessageDocument, SearchMarkDocument, SearchUserDocument]


class MongoMessageIndex:
    """`MessageIndex`."""

    def __init__(self, database: Database) -> None:
        # The driver: it reads the log by the page, and writes many at once.
        self._database = database
        # Entries lost in a crash are indexed again: writes are lost in the order in which they came, marks first.
        quick, at_once = WriteConcern(w=1, j=False), ReadConcern("local")
        index = database.with_options(write_concern=quick, read_concern=at_once)
        self._messages, self._marks, self._users = (
            index[name] for name in ("search_messages", "search_marks", "search_users")
        )

    async def catch_up(self, user_id: UserId, *, most: int) -> bool:
        async with store_errors(within_s=_CATCH_UP_S):
            known = await self._users.find_one({"_id": user_id})
            wanted: Document = {"user_id": user_id}
            if known is not None:
                wanted["updated_at"] = {"$gte": known["through"] - _OVERLAP}
            sessions = (
                await self._database["sessions"]
                .find(wanted, {"last_seq": 1, "updated_at": 1})
                .sort("updated_at", 1)
                .limit(_SESSIONS_AT_ONCE)
                .to_list()
            )
            marks = {
                mark["_id"]: mark["seq"]
                async for mark in self._marks.find({"_id": {"$in": [session["_id"] for session in sessions]}})
            }
            through, left = None, most
            for session in sessions:
                if left <= 0:
                    break
                mark = marks.get(session["_id"], 0)
                if mark < session["last_seq"]:
                    left, is_whole = await self._index(user_id, session, mark, left)
                    if not is_whole:
                        break
                through = session["updated_at"]
            else:
                left = max(left, 1)
            if through is not None:
                await self._users.update_one({"_id": user_id}, {"$max": {"through": through}}, upsert=True)
            # If as many were changed within the overlap, another round would find the same again.
            is_last = len(sessions) < _SESSIONS_AT_ONCE or (known is not None and through == known["through"])
            return left > 0 and is_last

    async def _index(self, user_id: UserId, session: Document, mark: int, most: int) -> tuple[int, bool]:
        """Index a session; returns what is left of `most`, and whether all of the session is indexed."""
        session_id, last = session["_id"], session["last_seq"]
        while mark < last:
            found = await self._spoken(session_id, {"$gt": mark, "$lte": last})
            try:
                events = await read_events(self._database, found)
            except SessionNotFoundError:
                return most, True
            documents = [document for event in events if (document := _document(user_id, event)) is not None]
            if documents:
                await self._insert(documents)
            mark = last if len(found) < _EVENTS_AT_ONCE else found[-1]["seq"]
            most -= len(found)
            await self._marks.bulk_write(
                [
                    UpdateOne(
                        {"_id": session_id}, {"$max": {"seq": mark}, "$set": {"session_id": session_id}}, upsert=True
                    )
                ]
            )
            if most <= 0 and mark < last:
                break
        if await self._database["sessions"].find_one({"_id": session_id, "user_id": user_id}, {"_id": 1}) is None:
            # The session was deleted meanwhile, perhaps before this write.
            await self._messages.delete_many({"session_id": session_id})
            await self._marks.delete_many({"session_id": session_id})
        return most, mark >= last

    async def _spoken(self, session_id: str, seq: Document) -> list[Document]:
        wanted = {"session_id": session_id, "type": {"$in": ["message.user", "message.completed"]}, "seq": seq}
        return await self._database["events"].find(wanted).sort("seq", 1).limit(_EVENTS_AT_ONCE).to_list()

    async def _insert(self, documents: list[Document]) -> None:
        """Insert the documents; another process may have been first with some."""
        try:
            await self._messages.insert_many(documents, ordered=False)
        except BulkWriteError as error:
            details: Any = error.details or {}
            if any(one.get("code") != 11000 for one in details.get("writeErrors", [])):
                raise

    async def messages(self, user_id: UserId, query: Query, *, limit: int, before: datetime | None) -> FoundPage:
        """Begin with the rarest token, and look through the messages that have it, newest first."""
        async with store_errors():
            places = await self._places(user_id, query, limit + 1, before)
            older_than = places[limit - 1]["at"] if len(places) > limit else None
            items = await self._read(user_id, places[:limit], query)
        ordered = sorted(items, key=lambda one: (-one[0], -one[1].at.timestamp()))
        return FoundPage(items=[one for _, one in ordered], older_than=older_than and older_than.replace(tzinfo=UTC))

    async def _places(self, user_id: UserId, query: Query, limit: int, before: datetime | None) -> list[Document]:
        if query.tokens:
            counts = [(await self._count(user_id, token), token) for token in query.tokens]
            rarest, lead = min(counts)
            if rarest == 0:
                return []
            others = [token for token in query.tokens if token != lead]
            return await self._with(user_id, lead, others, query.prefix, limit, before)
        assert query.prefix is not None
        exact = await self._with(user_id, query.prefix, [], None, limit, before)
        if len(exact) >= limit:
            return exact
        return await self._beginning(user_id, query.prefix, limit, before)

    async def _count(self, user_id: UserId, token: str) -> int:
        return await self._messages.count_documents({"user_id": user_id, "tokens": token}, limit=_FEW)

    async def _with(
        self, user_id: UserId, lead: str, others: Sequence[str], prefix: str | None, limit: int, before: datetime | None
    ) -> list[Document]:
        wanted: Document = {"user_id": user_id, "tokens": lead} | _older(before)
        pipeline: list[Document] = [{"$match": wanted}, {"$sort": {"at": -1}}, {"$limit": _LOOKED_AT}]
        # An expression, so that the index is used for no other token.
        if others:
            pipeline.append({"$match": {"$expr": {"$setIsSubset": [list(others), "$tokens"]}}})
        if prefix is not None:
            begins = {"$and": [{"$gte": ["$$this", prefix]}, {"$lt": ["$$this", prefix + _LAST]}]}
            some = {"$filter": {"input": "$tokens", "cond": begins, "limit": 1}}
            pipeline.append({"$match": {"$expr": {"$ne": [some, []]}}})
        pipeline += [{"$limit": limit}, {"$project": {"tokens": 0}}]
        return await (await self._messages.aggregate(pipeline)).to_list()

    async def _beginning(self, user_id: UserId, prefix: str, limit: int, before: datetime | None) -> list[Document]:
        """Messages with a word that begins with the prefix: the newest of the alphabetically first ones."""
        wanted: Document = {
            "user_id": user_id,
            "tokens": {"$elemMatch": {"$gte": prefix, "$lt": prefix + _LAST}},
        } | _older(before)
        pipeline: list[Document] = [
            {"$match": wanted},
            {"$limit": _BEGINNINGS},
            {"$project": {"tokens": 0}},
            {"$sort": {"at": -1}},
            {"$limit": limit},
        ]
        return await (await self._messages.aggregate(pipeline)).to_list()

    async def _read(self, user_id: UserId, places: Sequence[Document], query: Query) -> list[tuple[int, Found]]:
        """Read the texts from the log. Those of a deleted session, or on no visible path, are left out."""
        ids = list({place["session_id"] for place in places})
        owned = {"_id": {"$in": ids}, "user_id": user_id}
        titles = {one["_id"]: one["title"] async for one in self._database["sessions"].find(owned, {"title": 1})}
        seqs: dict[str, list[int]] = {}
        for place in places:
            if place["session_id"] in titles:
                seqs.setdefault(place["session_id"], []).append(place["seq"])
        if not seqs:
            return []
        wanted = {"$or": [{"session_id": one, "seq": {"$in": numbers}} for one, numbers in seqs.items()]}
        documents = await self._database["events"].find(wanted).to_list()
        found: list[tuple[int, Found]] = []
        for session_id in seqs:
            try:
                path = await read_path(self._database, SessionId(session_id))
                own = [one for one in documents if one["session_id"] == session_id and path.has(one["seq"])]
                events = await read_events(self._database, own)
            except SessionNotFoundError:
                continue
            found += [(score(_text(event), query), _found(event, titles[session_id], query)) for event in events]
        return found

    async def titles(self, user_id: UserId, query: Query, *, limit: int) -> Sequence[Found]:
        having = [{"title": {"$regex": re.escape(word), "$options": "i"}} for word in query.words]
        async with store_errors():
            found = (
                await self._database["sessions"]
                .find({"user_id": user_id, "$and": having}, {"title": 1, "updated_at": 1})
                .sort("updated_at", -1)
                .limit(limit)
                .to_list()
            )
        return [
            Found(
                session_id=one["_id"],
                title=one["title"],
                message_id=None,
                seq=None,
                at=one["updated_at"].replace(tzinfo=UTC),
                kind="title",
                snippet="",
            )
            for one in found
        ]


def _older(before: datetime | None) -> Document:
    return {} if before is None else {"at": {"$lt": before}}


def _document(user_id: UserId, event: Event) -> Document | None:
    payload = event.payload
    if not isinstance(payload, MessageUser | MessageCompleted) or getattr(payload, "agent_id", None) is not None:
        return None
    tokens = tokens_of(payload.text)
    if not tokens:
        return None
    return {
        "_id": f"{event.session_id}:{event.seq}",
        "user_id": user_id,
        "session_id": event.session_id,
        "seq": event.seq,
        "at": event.at,
        "tokens": tokens,
    }


def _text(event: Event) -> str:
    payload = event.payload
    return payload.text if isinstance(payload, MessageUser | MessageCompleted) else ""


def _found(event: Event, title: str, query: Query) -> Found:
    payload = event.payload
    assert isinstance(payload, MessageUser | MessageCompleted)
    return Found(
        session_id=event.session_id,
        title=title,
        message_id=payload.message_id,
        seq=event.seq,
        at=event.at if event.at.tzinfo else event.at.replace(tzinfo=UTC),
        kind="user" if isinstance(payload, MessageUser) else "agent",
        snippet=snippet_of(payload.text, query.words),
    )
