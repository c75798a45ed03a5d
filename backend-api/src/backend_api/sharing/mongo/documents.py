"""Every stored field of links."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from beanie import Document
from pydantic import Field
from pymongo import ASCENDING, DESCENDING, IndexModel


class ShareDocument(Document):
    """A link to a conversation."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- ids are opaque strings
    session_id: str
    user_id: str
    mode: str
    include: list[str] = Field(default_factory=list[str])
    title: str
    through_seq: int
    token_hash: str
    passphrase_hash: str | None = None
    created_at: datetime
    expires_at: datetime | None = None
    files: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    archive_size: int = 0

    class Settings:
        name = "shares"
        indexes: ClassVar = [
            IndexModel([("user_id", ASCENDING), ("created_at", DESCENDING)]),
            IndexModel([("session_id", ASCENDING)]),
        ]


class SharePartDocument(Document):
    """A part of the archive of a link's files."""

    share_id: str
    session_id: str
    part: int
    content: bytes

    class Settings:
        name = "share_parts"
        indexes: ClassVar = [
            IndexModel([("share_id", ASCENDING), ("part", ASCENDING)], unique=True),
            IndexModel([("session_id", ASCENDING)]),
        ]


DOCUMENTS: list[type[Document]] = [ShareDocument, SharePartDocument]
