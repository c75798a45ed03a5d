"""Every stored field of skills of users, and the indexes."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from beanie import Document
from pymongo import ASCENDING, IndexModel


class SkillDocument(Document):
    """A skill of a user's own, its files as a zip archive."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- the user and its name
    user_id: str
    name: str
    description: str
    digest: str
    size: int
    files: int
    source: str | None = None
    created_at: datetime
    archive: bytes

    class Settings:
        name = "skills"
        indexes: ClassVar = [IndexModel([("user_id", ASCENDING), ("name", ASCENDING)])]


DOCUMENTS: list[type[Document]] = [SkillDocument]
