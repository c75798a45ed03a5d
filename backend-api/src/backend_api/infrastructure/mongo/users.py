"""Accounts in MongoDB."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from pymongo.errors import DuplicateKeyError

from backend_api.domain.identity.entity import Account, User, UserId
from backend_api.domain.identity.errors import UsernameTakenError
from backend_api.infrastructure.mongo.connection import Database, Document
from backend_api.infrastructure.mongo.transactions import DURABLE, store_errors


class MongoUsers:
    """`Users` and `Standings` on the collection users."""

    def __init__(self, database: Database) -> None:
        self._users = database["users"].with_options(write_concern=DURABLE)

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

    async def get(self, user_id: UserId) -> Account | None:
        """By id."""
        return await self._find({"_id": user_id})

    async def standings(self, user_ids: Collection[UserId]) -> dict[UserId, Account]:
        """By primary key, in few round trips."""
        async with store_errors():
            found = self._users.find({"_id": {"$in": list(user_ids)}})
            return {UserId(document["_id"]): _account_from(document) async for document in found}

    async def _find(self, wanted: dict[str, Any]) -> Account | None:
        async with store_errors():
            document = await self._users.find_one(wanted)
        return _account_from(document) if document else None

    async def has_any(self) -> bool:
        """Whether anybody registered."""
        async with store_errors():
            return await self._users.find_one({}, projection={"_id": 1}) is not None

    async def revoke_tokens(self, user_id: UserId, family: str | None, until: datetime) -> None:
        """A short list of families that ended before their tokens, or the next generation for all."""
        change: Document = (
            {"$inc": {"token_version": 1}, "$set": {"revoked_families": []}}
            if family is None
            else {"$push": {"revoked_families": {"$each": [{"id": family, "until": until}], "$slice": -200}}}
        )
        async with store_errors():
            await self._users.update_one({"_id": user_id}, change)


def _refuse_taken(error: DuplicateKeyError) -> None:
    if "username_key" in str(error.details):
        raise UsernameTakenError("This user name is taken.") from error


def _account_from(document: Document) -> Account:
    user = User(
        id=UserId(document["_id"]),
        username=document["username"],
        email=document.get("email"),
        password_hash=document["password_hash"],
        is_admin=document["is_admin"],
        is_active=document["is_active"],
        created_at=document["created_at"],
    )
    families = frozenset(str(entry["id"]) for entry in document.get("revoked_families", []))
    return Account(user=user, token_version=document.get("token_version", 0), revoked_families=families)
