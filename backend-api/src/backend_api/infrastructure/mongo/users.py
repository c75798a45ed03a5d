"""Accounts in MongoDB."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from pymongo import ReplaceOne, ReturnDocument
from pymongo.errors import DuplicateKeyError

from backend_api.domain.identity.entity import Account, User, UserId
from backend_api.domain.identity.errors import UsernameTakenError
from backend_api.infrastructure.mongo.database import Database, Document
from backend_api.infrastructure.mongo.transactions import DURABLE, store_errors

NOTED_WITH_USER = 100
"""So many ended log-ins are noted in the account, which every call reads; more are looked up one by one."""

_NEXT_GENERATION: Document = {
    "$inc": {"token_version": 1},
    "$set": {"revoked_families": [], "more_revoked_until": None},
}


class MongoUsers:
    """`Users` and `Standings` on the collections users and revoked_families."""

    def __init__(self, database: Database) -> None:
        self._users = database["users"].with_options(write_concern=DURABLE)
        self._revoked = database["revoked_families"].with_options(write_concern=DURABLE)

    async def add(self, user: User) -> User:
        """Whoever gets the one document marked first is admin."""
        document: Document = {
            "_id": user.id,
            "username": user.username,
            "username_key": user.username.casefold(),
            "email": user.email,
            "password_hash": user.password_hash,
            "is_admin": True,
            "is_active": user.is_active,
            "created_at": user.created_at,
            "token_version": 0,
            "revoked_families": [],
            "more_revoked_until": None,
            "first": True,
        }
        async with store_errors():
            if await self._users.find_one({"first": True}, projection={"_id": 1}) is None:
                try:
                    await self._users.insert_one(document)
                    return _account_from(document).user
                except DuplicateKeyError as error:
                    _refuse_taken(error)
            document |= {"is_admin": user.is_admin, "first": None}
            try:
                await self._users.insert_one(document)
            except DuplicateKeyError as error:
                _refuse_taken(error)
                raise
            return _account_from(document).user

    async def by_username(self, username: str) -> Account | None:
        """Without regard to case."""
        return await self._find({"username_key": username.casefold()})

    async def get(self, user_id: UserId, families: Collection[str] = ()) -> Account | None:
        """One read by id; a second only for a user who ended very many log-ins."""
        async with store_errors():
            document = await self._users.find_one({"_id": user_id})
            if document is None:
                return None
            beside = await self._revoked_beside(families) if document.get("more_revoked_until") else ()
        return _account_from(document, beside)

    async def standings(self, families: Mapping[UserId, Collection[str]]) -> dict[UserId, Account]:
        """By primary key, in few round trips."""
        async with store_errors():
            documents = [document async for document in self._users.find({"_id": {"$in": list(families)}})]
            asked = {
                family
                for document in documents
                if document.get("more_revoked_until")
                for family in families[UserId(document["_id"])]
            }
            beside = await self._revoked_beside(asked) if asked else ()
        return {UserId(document["_id"]): _account_from(document, beside) for document in documents}

    async def _find(self, wanted: dict[str, Any]) -> Account | None:
        async with store_errors():
            document = await self._users.find_one(wanted)
        return _account_from(document) if document else None

    async def has_any(self) -> bool:
        """Whether anybody registered."""
        async with store_errors():
            return await self._users.find_one({}, projection={"_id": 1}) is not None

    async def revoke_tokens(self, user_id: UserId, family: str | None, until: datetime) -> None:
        """The next generation for all; of one family a note, forgotten when its time is over and never before."""
        if family is None:
            async with store_errors():
                await self._users.update_one({"_id": user_id}, _NEXT_GENERATION)
            return
        noted = {"id": {"$literal": family}, "until": until}
        change = {"revoked_families": {"$concatArrays": [_still_noted({"$ne": ["$$this.id", noted["id"]]}), [noted]]}}
        async with store_errors():
            document = await self._users.find_one_and_update(
                {"_id": user_id},
                [{"$set": change | {"more_revoked_until": _unless_over("$more_revoked_until")}}],
                return_document=ReturnDocument.AFTER,
            )
            if document is not None and len(document["revoked_families"]) > NOTED_WITH_USER:
                await self._move(user_id, document["revoked_families"])

    async def change_password(
        self, user_id: UserId, *, old_hash: str, new_hash: str, token_version: int
    ) -> Account | None:
        """One compare-and-set: of two changes at once one wins."""
        held = {"password_hash": old_hash, "token_version": token_version, "is_active": True}
        change = _NEXT_GENERATION | {"$set": _NEXT_GENERATION["$set"] | {"password_hash": new_hash}}
        async with store_errors():
            document = await self._users.find_one_and_update(
                {"_id": user_id, **held}, change, return_document=ReturnDocument.AFTER
            )
        return _account_from(document) if document else None

    async def _move(self, user_id: UserId, noted: Sequence[Document]) -> None:
        """Into a collection of their own, so that a user who logs in and out all day does not grow the account. First
        there, then away here: whoever reads between sees both."""
        entries = [{"_id": entry["id"], "user_id": user_id, "until": entry["until"]} for entry in noted]
        await self._revoked.bulk_write(
            [ReplaceOne({"_id": entry["_id"]}, entry, upsert=True) for entry in entries], ordered=False
        )
        moved = {"$literal": [entry["_id"] for entry in entries]}
        last = max(entry["until"] for entry in entries)
        change: Document = {
            "revoked_families": _still_noted({"$not": {"$in": ["$$this.id", moved]}}),
            "more_revoked_until": {"$max": ["$more_revoked_until", last]},
        }
        await self._users.update_one({"_id": user_id}, [{"$set": change}])

    async def _revoked_beside(self, families: Collection[str]) -> frozenset[str]:
        found = self._revoked.find({"_id": {"$in": list(families)}}, projection={"_id": 1})
        return frozenset([str(document["_id"]) async for document in found])


def _still_noted(wanted: Document) -> Document:
    noted: Document = {"$ifNull": ["$revoked_families", []]}
    return {"$filter": {"input": noted, "cond": {"$and": [{"$gt": ["$$this.until", "$$NOW"]}, wanted]}}}


def _unless_over(until: str) -> Document:
    return {"$cond": [{"$gt": [until, "$$NOW"]}, until, None]}


def _refuse_taken(error: DuplicateKeyError) -> None:
    if "username_key" in str(error.details):
        raise UsernameTakenError("This user name is taken.") from error


def _account_from(document: Document, beside: Collection[str] = ()) -> Account:
    user = User(
        id=UserId(document["_id"]),
        username=document["username"],
        email=document.get("email"),
        password_hash=document["password_hash"],
        is_admin=document["is_admin"],
        is_active=document["is_active"],
        created_at=document["created_at"],
    )
    families = frozenset(str(entry["id"]) for entry in document.get("revoked_families", [])).union(beside)
    return Account(user=user, token_version=document.get("token_version", 0), revoked_families=families)
