"""The stored fields of background commands, and the indexes."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from beanie import Document
from pymongo import ASCENDING, DESCENDING, IndexModel


class BackgroundCommandDocument(Document):
    """A background command of a sandbox. `open` is set until its end is known; until `look_at` no other process polls
    it."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- ids are opaque strings
    session_id: str
    user_id: str
    call_id: str
    command: str
    generation: int
    timeout_s: int
    began_at: datetime
    is_begun: bool = False
    stop_wanted: bool = False
    open: bool | None = None
    look_at: datetime | None = None
    state: str | None = None
    exit_code: int | None = None
    preview: str = ""
    ended_at: datetime | None = None
    read_by: str | None = None

    class Settings:
        name = "background_commands"
        indexes: ClassVar = [
            IndexModel([("session_id", ASCENDING), ("began_at", DESCENDING)]),
            IndexModel([("look_at", ASCENDING)], name="open_commands", partialFilterExpression={"open": True}),
        ]


DOCUMENTS: list[type[Document]] = [BackgroundCommandDocument]
