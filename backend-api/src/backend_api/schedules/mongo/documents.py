"""Every stored field of schedules, and the indexes."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from beanie import Document
from pydantic import Field
from pymongo import ASCENDING, DESCENDING, IndexModel


class ScheduleDocument(Document):
    """A scheduled message. `look_at` is set while there is a next occurrence: the time of the next look, which is
    `next_at`, or later if it could not be sent."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- ids are opaque strings
    user_id: str
    text: str
    timezone: str
    at: datetime | None = None
    cron: str | None = None
    session_id: str | None = None
    model: str | None = None
    preset: str | None = None
    options: dict[str, Any] = Field(default_factory=dict[str, Any])
    paused: bool = False
    pause_reason: str | None = None
    next_at: datetime | None = None
    look_at: datetime | None = None
    missed: dict[str, Any] | None = None
    last_run: dict[str, Any] | None = None
    version: int = 0
    created_at: datetime

    class Settings:
        name = "schedules"
        indexes: ClassVar = [
            IndexModel([("user_id", ASCENDING), ("created_at", DESCENDING)]),
            IndexModel([("session_id", ASCENDING)]),
            IndexModel(
                [("look_at", ASCENDING)],
                name="upcoming_schedules",
                partialFilterExpression={"look_at": {"$type": "date"}},
            ),
        ]


DOCUMENTS: list[type[Document]] = [ScheduleDocument]
