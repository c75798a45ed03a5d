"""The stored fields of accounts and log-ins, and the indexes."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from beanie import Document
from pydantic import Field
from pymongo import ASCENDING, IndexModel


class UserDocument(Document):
    """An account. `first` is set on exactly one document: a unique index makes the first user the only first.
    `revoked_families` are the latest log-ins that ended; if `more_revoked_until` is set, there are others elsewhere."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- ids are opaque strings
    username: str
    username_key: str
    email: str | None = None
    password_hash: str
    is_admin: bool
    is_active: bool = True
    created_at: datetime
    token_version: int = 0
    revoked_families: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    more_revoked_until: datetime | None = None
    first: bool | None = None

    class Settings:
        name = "users"
        indexes: ClassVar = [
            IndexModel([("username_key", ASCENDING)], unique=True),
            IndexModel([("first", ASCENDING)], unique=True, partialFilterExpression={"first": True}),
        ]


class RevokedFamilyDocument(Document):
    """A log-in that ended before its tokens expired, of a user with many such; MongoDB removes it after they
    expired."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- the family
    user_id: str
    until: datetime

    class Settings:
        name = "revoked_families"
        indexes: ClassVar = [IndexModel([("until", ASCENDING)], expireAfterSeconds=0)]


class RefreshTokenDocument(Document):
    """A refresh token by its digest; MongoDB removes it after it expired."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- the digest
    user_id: str
    family: str
    token_version: int | None = None
    expires_at: datetime
    used_at: datetime | None = None
    again_until: datetime | None = None
    revoked: bool = False

    class Settings:
        name = "refresh_tokens"
        indexes: ClassVar = [
            IndexModel([("user_id", ASCENDING), ("family", ASCENDING)]),
            IndexModel([("expires_at", ASCENDING)], expireAfterSeconds=0),
        ]


DOCUMENTS: list[type[Document]] = [UserDocument, RevokedFamilyDocument, RefreshTokenDocument]
