"""Sums of the usage of runs, computed by the database."""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime
from typing import Any

from pymongo.errors import OperationFailure

from backend_api.conversations.domain.spending import NO_TIME_ZONE, Spent, SpentPage, SpentQuery, SpentRow
from backend_api.conversations.mongo.usage_documents import SUMMED, add_used
from backend_api.kit.errors import InvalidError
from backend_api.kit.mongo.database import Database, Document
from backend_api.kit.mongo.transactions import store_errors

MOST_ROWS = 400
"""More than the days of a query, and than the models in use."""
_NO_TIME_ZONE = 40485
_DECIMALS = 12


class MongoSpending:
    """`Spending`. A run's usage moves from its session to the run, and to its record after deletion, each time in one
    transaction. They are read in that order and grouped by run: one that moves meanwhile is found, and counts once."""

    def __init__(self, database: Database) -> None:
        # The driver: an aggregation over several collections.
        self._database = database

    async def page(self, query: SpentQuery) -> SpentPage:
        """One aggregation over indexed ranges. Processes of an earlier version may still end runs without sums: these
        are added first."""
        limit = query.limit if query.by == "session" else MOST_ROWS
        pipeline = [*_runs(query), {"$facet": {"items": _rows(query, limit), "total": [_sums(None, "$used")]}}]
        try:
            async with store_errors():
                await add_used(self._database, _of_user(query))
                (found,) = await (await self._database["sessions"].aggregate(pipeline)).to_list()
                titles = await self._titles(query, found["items"]) if query.by == "session" else {}
        except OperationFailure as error:
            if error.code != _NO_TIME_ZONE:
                raise
            raise InvalidError(NO_TIME_ZONE, field="query.timezone") from error
        rows: list[Document] = found["items"][:limit]
        has_more = query.by == "session" and len(found["items"]) > limit
        return SpentPage(
            items=[
                SpentRow(key=row["_id"] or None, title=titles.get(row["_id"]), spent=_to_spent(row)) for row in rows
            ],
            total=_to_spent(found["total"][0]) if found["total"] else Spent(),
            next_cursor=_encode(rows[-1]) if has_more else None,
        )

    async def _titles(self, query: SpentQuery, rows: list[Document]) -> dict[str, str]:
        wanted = {"_id": {"$in": [row["_id"] for row in rows]}, "user_id": query.user_id}
        return {found["_id"]: found["title"] async for found in self._database["sessions"].find(wanted, {"title": 1})}


def _runs(query: SpentQuery) -> list[Document]:
    of_user = _of_user(query) | {"used": {"$exists": True}}
    within = of_user["created_at"]
    using = {"user_id": query.user_id, "using.created_at": within, "using.run_id": {"$exists": True}}
    fields_of = {
        "_id": "$using.run_id",
        "session_id": "$_id",
        "created_at": "$using.created_at",
        "used": "$using.used",
    }
    last = {name: {"$last": f"${name}"} for name in ("session_id", "created_at", "used")}
    fields = dict.fromkeys(last, 1)
    return [
        {"$match": using},
        {"$project": fields_of},
        {"$unionWith": {"coll": "runs", "pipeline": [{"$match": of_user}, {"$project": fields}]}},
        {"$unionWith": {"coll": "past_usage", "pipeline": [{"$match": of_user}, {"$project": fields}]}},
        {"$group": {"_id": "$_id", **last}},
    ]


def _of_user(query: SpentQuery) -> Document:
    return {"user_id": query.user_id, "created_at": {"$gte": query.since, "$lt": query.until}}


def _rows(query: SpentQuery, limit: int) -> list[Document]:
    most = {"$limit": limit + 1}
    match query.by:
        case "day":
            day = {"$dateToString": {"date": "$created_at", "timezone": query.timezone, "format": "%Y-%m-%d"}}
            return [_sums(day, "$used"), {"$sort": {"_id": -1}}, most]
        case "model":
            by_tokens = {"$sort": {"tokens": -1, "_id": 1}}
            tokens = {"$set": {"tokens": {"$add": ["$input", "$output"]}}}
            return [{"$unwind": "$used.models"}, _sums("$used.models.model", "$used.models"), tokens, by_tokens, most]
        case "session":
            after = [_match_after(query.cursor)] if query.cursor is not None else []
            by_session = _sums({"$ifNull": ["$session_id", ""]}, "$used")
            return [by_session, *after, {"$sort": {"last": -1, "_id": -1}}, most]


def _sums(key: Any, of: str) -> Document:
    is_unknown = {"$cond": [{"$eq": [{"$ifNull": [f"{of}.cost", None]}, None]}, 1, 0]}
    return {
        "$group": {
            "_id": key,
            "runs": {"$sum": 1},
            "last": {"$max": "$created_at"},
            "unknown": {"$sum": is_unknown},
            **{name: {"$sum": f"{of}.{name}"} for name in (*SUMMED, "known_cost")},
        }
    }


def _to_spent(row: Document) -> Spent:
    known = round(float(row["known_cost"]), _DECIMALS)
    counts = {name: int(row[name]) for name in SUMMED}
    return Spent(runs=row["runs"], **counts, cost=None if row["unknown"] else known, known_cost=known)


def _encode(row: Document) -> str:
    millis = round(row["last"].timestamp() * 1000)
    return base64.urlsafe_b64encode(f"{millis}:{row['_id']}".encode()).decode()


def _match_after(cursor: str) -> Document:
    try:
        millis, _, last_id = base64.urlsafe_b64decode(cursor.encode()).decode().partition(":")
        at = datetime.fromtimestamp(int(millis) / 1000, UTC)
    except (ValueError, OverflowError, OSError, binascii.Error) as error:
        raise InvalidError("The cursor is invalid. Use one that a page returned.", field="query.cursor") from error
    return {"$match": {"$or": [{"last": {"$lt": at}}, {"last": at, "_id": {"$lt": last_id}}]}}
