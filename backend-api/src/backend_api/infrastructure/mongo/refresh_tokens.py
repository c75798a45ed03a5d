"""Refresh tokens in MongoDB."""

from __future__ import annotations

from datetime import datetime

from backend_api.domain.identity.entity import RefreshGrant, UserId
from backend_api.domain.identity.errors import TokenInvalidError, TokenReusedError
from backend_api.infrastructure.mongo.connection import Database
from backend_api.infrastructure.mongo.transactions import DURABLE, store_errors


class MongoRefreshTokens:
    """`RefreshTokens` on the collection refresh_tokens."""

    def __init__(self, database: Database) -> None:
        self._tokens = database["refresh_tokens"].with_options(write_concern=DURABLE)

    async def add(self, digest: str, user_id: UserId, family: str, expires_at: datetime) -> None:
        """One insert."""
        async with store_errors():
            await self._tokens.insert_one(
                {
                    "_id": digest,
                    "user_id": user_id,
                    "family": family,
                    "expires_at": expires_at,
                    "used_at": None,
                    "revoked": False,
                }
            )

    async def use(self, digest: str) -> RefreshGrant:
        """One compare-and-set: of two uses at once one wins, the other ends the family."""
        async with store_errors():
            found = await self._tokens.find_one_and_update(
                {
                    "_id": digest,
                    "used_at": None,
                    "revoked": False,
                    "$expr": {"$gt": ["$expires_at", "$$NOW"]},
                },
                [{"$set": {"used_at": "$$NOW"}}],
            )
            if found is not None:
                return RefreshGrant(user_id=UserId(found["user_id"]), family=found["family"])
            known = await self._tokens.find_one({"_id": digest})
        if known is not None and known["used_at"] is not None:
            grant = RefreshGrant(user_id=UserId(known["user_id"]), family=known["family"])
            await self.revoke(grant.user_id, grant.family)
            raise TokenReusedError("This refresh token was used before. Log in again.", grant=grant)
        raise TokenInvalidError("This refresh token does not hold. Log in again.")

    async def family_of(self, digest: str) -> RefreshGrant | None:
        """Whose it is."""
        async with store_errors():
            found = await self._tokens.find_one({"_id": digest})
        return RefreshGrant(user_id=UserId(found["user_id"]), family=found["family"]) if found else None

    async def revoke(self, user_id: UserId, family: str | None) -> None:
        """Mark, so that a later use is told from an unknown token."""
        wanted = {"user_id": user_id} if family is None else {"user_id": user_id, "family": family}
        async with store_errors():
            await self._tokens.update_many(wanted, {"$set": {"revoked": True}})
