"""Every stored field of sessions, runs and events, and the indexes.

Beanie binds them to the last connected database: a process has one.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from beanie import Document
from pydantic import Field
from pymongo import ASCENDING, DESCENDING, IndexModel


class SessionDocument(Document):
    """A session: its size does not depend on the conversation's. A user id of "" marks one being removed, whose user
    was `owner`; `deleted_at` is when a process last worked on that."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- ids are opaque strings
    user_id: str
    owner: str | None = None
    deleted_at: datetime | None = None
    title: str
    status: str
    model: str | None = None
    preset: str | None = None
    options: dict[str, Any] = Field(default_factory=dict[str, Any])
    pinned: bool = False
    archived: bool = False
    folder_id: str | None = None
    target_id: str | None = None
    created_at: datetime
    updated_at: datetime
    active_at: datetime | None = None
    """Missing if there was no message since versions without this field."""
    last_seq: int = 0
    read_seq: int = 0
    unread: int = 0
    failed: bool = False
    sandbox: str | None = None
    active_run_id: str | None = None
    fence: int = 0
    started_seq: int = 0
    last_user_seq: int = 0
    last_user_message_id: str | None = None
    last_user_origin: dict[str, str] | None = None
    using: dict[str, Any] | None = None
    """The usage so far of its active run, see `used_documents`."""
    background_wakes: int = 0
    """Runs begun by results of background commands since the person's last message."""
    waiting: list[int] = Field(default_factory=list[int])
    """The numbers of messages that no model has read yet."""
    taken_seq: int = 0
    """The number up to which messages were taken for the model, so that they can't be withdrawn any more."""
    withdrawn_seq: int = 0
    """The number of the last `message.withdrawn`."""
    title_due: dict[str, Any] | None = None
    """Present while the title is to be improved: the `attempts`, the last one's `token`, and the earliest time of the
    next one, None for after a run's end."""
    settings_version: int = 0
    """0 if its user never changed a setting; otherwise the version of the settings, whose `settings_model` is used if
    the session chose none."""
    settings_model: str | None = None
    computer_told: int | None = None
    """The order of the last sandbox change stored in the stream; `disk_told` is that of its disk."""
    computer_warned: bool | None = None
    disk_told: int | None = None

    class Settings:
        name = "sessions"
        indexes: ClassVar = [
            IndexModel([("user_id", ASCENDING), ("created_at", DESCENDING), ("_id", DESCENDING)]),
            IndexModel([("user_id", ASCENDING), ("updated_at", DESCENDING)]),
            IndexModel(
                [("title_due.next", ASCENDING)],
                name="due_titles",
                partialFilterExpression={"title_due.next": {"$type": "date"}},
            ),
            IndexModel(
                [("user_id", ASCENDING), ("using.created_at", ASCENDING)],
                name="using_sessions",
                partialFilterExpression={"using.run_id": {"$exists": True}},
            ),
        ]


class RunDocument(Document):
    """A run and its lease. At most one run of a session has `active`."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- ids are opaque strings
    session_id: str
    user_id: str
    message_id: str | None = None
    status: str
    active: bool | None = None
    attempt: int = 0
    fence: int = 0
    worker: str | None = None
    lease_expires_at: datetime | None = None
    assigned: dict[str, Any] | None = None
    """The session's fields that its worker, in another process, needs to confirm the lease."""
    handovers: int = 0
    taken_over: bool = False
    inbox: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    inbox_last: int = 0
    waits: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    wait_until: datetime | None = None
    """The first deadline of its waits."""
    resolved: list[str] = Field(default_factory=list[str])
    """The waits that ended."""
    decided: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    """The decisions of approvals among them, and who made them."""
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    reason: str | None = None
    retryable: bool = False
    usage: str | None = None
    used: dict[str, Any] | None = None
    """The usage in a form that can be summed up over runs, see `used_documents`."""
    request_id: str | None = None
    trace: str | None = None

    class Settings:
        name = "runs"
        indexes: ClassVar = [
            IndexModel([("session_id", ASCENDING)], unique=True, partialFilterExpression={"active": True}),
            IndexModel([("status", ASCENDING), ("created_at", ASCENDING)]),
            IndexModel([("session_id", ASCENDING), ("created_at", ASCENDING)], name="session_runs"),
            IndexModel([("user_id", ASCENDING), ("created_at", DESCENDING), ("_id", DESCENDING)]),
            IndexModel(
                [("wait_until", ASCENDING)],
                name="waiting_runs",
                partialFilterExpression={"status": "waiting"},
            ),
            IndexModel(
                [("user_id", ASCENDING), ("status", ASCENDING)],
                name="active_runs",
                partialFilterExpression={"active": True},
            ),
        ]


class EventDocument(Document):
    """One stored event; `data` is the payload as JSON, so that no key in a tool's arguments is a problem for the store.
    Long data continues in `parts` further documents."""

    session_id: str
    seq: int
    type: str
    at: datetime
    run_id: str | None = None
    client_message_id: str | None = None
    client_request_id: str | None = None
    agent_id: str | None = None
    is_answer: bool | None = None
    data: str
    parts: int | None = None
    output: str | None = None
    """The text of a result that the model read, if that is not its preview."""

    class Settings:
        name = "events"
        indexes: ClassVar = [
            IndexModel([("session_id", ASCENDING), ("seq", ASCENDING)], unique=True),
            IndexModel(
                [("session_id", ASCENDING), ("client_message_id", ASCENDING)],
                unique=True,
                partialFilterExpression={"client_message_id": {"$exists": True}},
            ),
            IndexModel(
                [("session_id", ASCENDING), ("client_request_id", ASCENDING)],
                unique=True,
                partialFilterExpression={"client_request_id": {"$exists": True}},
            ),
            IndexModel([("session_id", ASCENDING), ("type", ASCENDING), ("seq", DESCENDING)]),
        ]


class EventPartDocument(Document):
    """The next part of a long event's `data`."""

    session_id: str
    seq: int
    part: int
    data: str

    class Settings:
        name = "event_parts"
        indexes: ClassVar = [
            IndexModel([("session_id", ASCENDING), ("seq", ASCENDING), ("part", ASCENDING)], unique=True)
        ]


class BodyDocument(Document):
    """A part of a long body."""

    session_id: str
    seq: int
    part: int
    media_type: str
    content: bytes
    shared: str | None = None
    """The digest of the shared body that replaces it."""

    class Settings:
        name = "bodies"
        indexes: ClassVar = [
            IndexModel([("session_id", ASCENDING), ("seq", ASCENDING), ("part", ASCENDING)], unique=True),
            IndexModel([("shared", ASCENDING)], sparse=True),
        ]


class SharedBodyDocument(Document):
    """A body that several sessions may refer to."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- its digest
    media_type: str
    content: bytes
    used_at: datetime

    class Settings:
        name = "shared_bodies"
        indexes: ClassVar = [IndexModel([("used_at", ASCENDING)])]


class CallQuotaDocument(Document):
    """The size, in bytes, of a session's stored model calls."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- the session
    user_id: str
    size: int

    class Settings:
        name = "kept_calls"
        indexes: ClassVar = [IndexModel([("user_id", ASCENDING), ("size", ASCENDING)])]


class PastUsageDocument(Document):
    """The usage of a run in a deleted session, without any content."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- the run
    user_id: str
    created_at: datetime
    used: dict[str, Any]

    class Settings:
        name = "past_usage"
        indexes: ClassVar = [IndexModel([("user_id", ASCENDING), ("created_at", ASCENDING)])]


class MarkDocument(Document):
    """The position up to which an external stream was read."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- the stream
    mark: str

    class Settings:
        name = "marks"


DOCUMENTS: list[type[Document]] = [
    SessionDocument,
    RunDocument,
    EventDocument,
    EventPartDocument,
    BodyDocument,
    SharedBodyDocument,
    CallQuotaDocument,
    PastUsageDocument,
    MarkDocument,
]
