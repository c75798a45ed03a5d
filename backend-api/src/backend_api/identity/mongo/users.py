"""Accounts in MongoDB."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from pymongo import ReplaceOne
from pymongo.errors import DuplicateKeyError

from backend_api.identity.domain.entity import Account, User
from backend_api.identity.domain.errors import UsernameTakenError
from backend_api.identity.mongo.documents import UserDocument
from backend_api.kit.ids import UserId
from backend_api.kit.mongo.beanie_updates import find_one_and_update
from backend_api.kit.mongo.database import Database, Document
from backend_api.kit.mongo.transactions import DURABLE, store_errors

NOTED_WITH_USER = 100
"""The number of ended log-ins kept in the account, which every call reads; further ones are looked up one by one."""

_NEXT_GENERATION: Document = {
    "$inc": {"token_version": 1},
    "$set": {"revoked_families": [], "more_revoked_until": None},
}


class MongoUsers:
    """`Users` and `AccountLookup` on the collections users and revoked_families."""

    def __init__(self, database: Database) -> None:
        # Every request reads the account and what was revoked beside it: the driver takes less time than Beanie there,
        # and reading fields less than validating the document.
        self._users = database["users"]
        self._revoked = database["revoked_families"].with_options(write_concern=DURABLE)

    async def add(self, user: User) -> User:
        """The user who gets the one document marked first is admin."""
        document = UserDocument(
            id=user.id,
            username=user.username,
            username_key=user.username.casefold(),
            email=user.email,
            password_hash=user.password_hash,
            is_admin=True,
            is_active=user.is_active,
            created_at=user.created_at,
            first=True,
        )
        async with store_errors():
            if await UserDocument.find_one({"first": True}) is None:
                try:
                    await document.insert()
                    return _account_of_document(document).user
                except DuplicateKeyError as error:
                    _raise_if_taken(error)
            document.is_admin, document.first = user.is_admin, None
            try:
                await document.insert()
            except DuplicateKeyError as error:
                _raise_if_taken(error)
                raise
            return _account_of_document(document).user

    async def by_username(self, username: str) -> Account | None:
        """The account of that name, without regard to case."""
        async with store_errors():
            document = await UserDocument.find_one({"username_key": username.casefold()})
        return _account_of_document(document) if document else None

    async def get(self, user_id: UserId, families: Collection[str] = ()) -> Account | None:
        """One read by id; a second only for a user who ended very many log-ins."""
        async with store_errors():
            found = await self._users.find_one({"_id": user_id})
            if found is None:
                return None
            beside = await self._other_revoked(families) if found.get("more_revoked_until") else ()
        return account_from(found, beside)

    async def find_accounts(self, families: Mapping[UserId, Collection[str]]) -> dict[UserId, Account]:
        """Read by primary key, in few round trips."""
        async with store_errors():
            found = self._users.find({"_id": {"$in": list(families)}})
            stored = [document async for document in found]
            asked = {
                family for one in stored if one.get("more_revoked_until") for family in families[UserId(one["_id"])]
            }
            beside = await self._other_revoked(asked) if asked else ()
        return {UserId(one["_id"]): account_from(one, beside) for one in stored}

    async def has_any(self) -> bool:
        """Whether anybody registered."""
        async with store_errors():
            return await UserDocument.find_one() is not None

    async def revoke_tokens(self, user_id: UserId, family: str | None, until: datetime) -> None:
        """Begin the next generation for all log-ins; for one family add an entry, which is dropped when it expires and
        never before."""
        if family is None:
            async with store_errors():
                await find_one_and_update(UserDocument, {"_id": user_id}, _NEXT_GENERATION)
            return
        noted = {"id": {"$literal": family}, "until": until}
        change = {"revoked_families": {"$concatArrays": [_unexpired({"$ne": ["$$this.id", noted["id"]]}), [noted]]}}
        async with store_errors():
            document = await find_one_and_update(
                UserDocument,
                {"_id": user_id},
                [{"$set": change | {"more_revoked_until": _unless_over("$more_revoked_until")}}],
            )
            if document is not None and len(document.revoked_families) > NOTED_WITH_USER:
                await self._move(user_id, document.revoked_families)

    async def change_password(
        self, user_id: UserId, *, old_hash: str, new_hash: str, token_version: int
    ) -> Account | None:
        """One compare-and-set: of two changes at once one wins."""
        held = {"password_hash": old_hash, "token_version": token_version, "is_active": True}
        change = _NEXT_GENERATION | {"$set": _NEXT_GENERATION["$set"] | {"password_hash": new_hash}}
        async with store_errors():
            document = await find_one_and_update(UserDocument, {"_id": user_id, **held}, change)
        return _account_of_document(document) if document else None

    async def _move(self, user_id: UserId, noted: Sequence[Document]) -> None:
        """Move ended log-ins into a collection of their own, so that a user who logs in and out all day does not grow
        the account. They are added there before they are removed here: a reader in between sees both."""
        entries = [{"_id": entry["id"], "user_id": user_id, "until": entry["until"]} for entry in noted]
        await self._revoked.bulk_write(
            [ReplaceOne({"_id": entry["_id"]}, entry, upsert=True) for entry in entries], ordered=False
        )
        moved = {"$literal": [entry["_id"] for entry in entries]}
        last = max(entry["until"] for entry in entries)
        change: Document = {
            "revoked_families": _unexpired({"$not": {"$in": ["$$this.id", moved]}}),
            "more_revoked_until": {"$max": ["$more_revoked_until", last]},
        }
        await find_one_and_update(UserDocument, {"_id": user_id}, [{"$set": change}])

    async def _other_revoked(self, families: Collection[str]) -> frozenset[str]:
        found = self._revoked.find({"_id": {"$in": list(families)}}, projection={"_id": 1})
        return frozenset([str(document["_id"]) async for document in found])


def _unexpired(wanted: Document) -> Document:
    noted: Document = {"$ifNull": ["$revoked_families", []]}
    return {"$filter": {"input": noted, "cond": {"$and": [{"$gt": ["$$this.until", "$$NOW"]}, wanted]}}}


def _unless_over(until: str) -> Document:
    return {"$cond": [{"$gt": [until, "$$NOW"]}, until, None]}


def _raise_if_taken(error: DuplicateKeyError) -> None:
    if "username_key" in str(error.details):
        raise UsernameTakenError("This user name is taken.") from error


def account_from(stored: Document, beside: Collection[str] = ()) -> Account:
    """The account of a `UserDocument` as the database returns it; fields that an older one lacks have the class's
    defaults."""
    user = User(
        id=UserId(stored["_id"]),
        username=stored["username"],
        email=stored.get("email"),
        password_hash=stored["password_hash"],
        is_admin=_is_set(stored["is_admin"]),
        is_active=_is_set(stored.get("is_active", True)),
        created_at=stored["created_at"],
    )
    families = frozenset(str(entry["id"]) for entry in stored.get("revoked_families", ())).union(beside)
    return Account(user=user, token_version=stored.get("token_version", 0), revoked_families=families)


def _is_set(flag: object) -> bool:
    """Whether the flag is set. A text, such as a `"false"` that was written by hand, counts as not set."""
    return isinstance(flag, (bool, int, float)) and bool(flag)


def _account_of_document(document: UserDocument) -> Account:
    return account_from(document.model_dump(by_alias=True))
