"""Refresh tokens in MongoDB."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from pymongo.errors import DuplicateKeyError

from backend_api.identity.domain.entity import RefreshGrant
from backend_api.identity.domain.errors import TokenInvalidError, TokenReusedError
from backend_api.identity.mongo.documents import RefreshTokenDocument
from backend_api.kit.ids import UserId
from backend_api.kit.mongo.beanie_updates import find_one_and_update
from backend_api.kit.mongo.database import Document
from backend_api.kit.mongo.transactions import store_errors

_HOLDS: Document = {"revoked": False, "$expr": {"$gt": ["$expires_at", "$$NOW"]}}
_HOLDS_AGAIN: Document = {
    "revoked": False,
    "$expr": {"$and": [{"$gt": ["$expires_at", "$$NOW"]}, {"$gt": ["$again_until", "$$NOW"]}]},
}


class MongoRefreshTokens:
    """`RefreshTokens` on the collection refresh_tokens."""

    async def add(self, digest: str, grant: RefreshGrant, expires_at: datetime) -> None:
        """One insert; of two at once the first is kept."""
        document = RefreshTokenDocument(
            id=digest,
            user_id=grant.user_id,
            family=grant.family,
            token_version=grant.token_version,
            expires_at=expires_at,
        )
        with suppress(DuplicateKeyError):
            async with store_errors():
                await document.insert()

    async def use(self, digest: str, *, again_s: int = 0) -> RefreshGrant:
        """One compare-and-set: of two uses at once one wins; the other counts as later, and ends the family unless
        reuse is allowed."""
        again_until = {"$add": ["$$NOW", again_s * 1000]} if again_s else None
        async with store_errors():
            found = await find_one_and_update(
                RefreshTokenDocument,
                {"_id": digest, "used_at": None, **_HOLDS},
                [{"$set": {"used_at": "$$NOW", "again_until": again_until}}],
                before=True,
            )
            if found is None and again_s:
                found = await RefreshTokenDocument.find_one({"_id": digest, **_HOLDS_AGAIN})
            if found is not None:
                return _grant_from(found)
            known = await RefreshTokenDocument.get(digest)
        if known is not None and known.used_at is not None:
            grant = _grant_from(known)
            await self.revoke(grant.user_id, grant.family)
            raise TokenReusedError("This refresh token was used before. Log in again.", grant=grant)
        raise TokenInvalidError("The refresh token is invalid or has expired. Log in again.")

    async def find(self, digest: str) -> RefreshGrant | None:
        """The grant of the token."""
        async with store_errors():
            found = await RefreshTokenDocument.get(digest)
        return _grant_from(found) if found else None

    async def revoke(self, user_id: UserId, family: str) -> None:
        """Mark the tokens as revoked, so that a later use can be distinguished from an unknown token."""
        async with store_errors():
            await RefreshTokenDocument.find({"user_id": user_id, "family": family}).update_many(
                {"$set": {"revoked": True}}
            )

    async def revoke_all(self, user_id: UserId, through_version: int) -> None:
        """Mark the tokens as revoked; one without a generation counts as an early one."""
        wanted = {"user_id": user_id, "revoked": False, "token_version": {"$not": {"$gt": through_version}}}
        async with store_errors():
            await RefreshTokenDocument.find(wanted).update_many({"$set": {"revoked": True}})


def _grant_from(document: RefreshTokenDocument) -> RefreshGrant:
    return RefreshGrant(
        user_id=UserId(document.user_id),
        family=document.family,
        token_version=document.token_version,
        is_used=document.used_at is not None,
    )
