"""Every stored field of opened ports, and the indexes."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from beanie import Document
from pymongo import ASCENDING, IndexModel


class OpenedPortDocument(Document):
    """A port of a session's sandbox that is open to its user's browser."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- ids are opaque strings
    session_id: str
    user_id: str
    port: int
    label: str
    opened_at: datetime
    opened_by: str

    class Settings:
        name = "opened_ports"
        indexes: ClassVar = [IndexModel([("session_id", ASCENDING), ("port", ASCENDING)], unique=True)]


DOCUMENTS: list[type[Document]] = [OpenedPortDocument]
