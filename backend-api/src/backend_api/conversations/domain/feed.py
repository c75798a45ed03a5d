"""The feed of all own sessions: their changes, in one order for all readers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from backend_api.conversations.domain.entity import Session
from backend_api.kit.ids import SessionId, UserId

ChangeType = Literal["session.created", "session.updated", "session.deleted"]
MarkType = Literal["feed.started", "feed.reset", "feed.ready"]

SHOWN = (
    "title",
    "status",
    "model",
    "preset",
    "options",
    "pinned",
    "archived",
    "read_seq",
    "unread",
    "failed",
    "sandbox",
    "active_at",
    "folder_id",
    "target_id",
)
"""The fields of a session in a feed."""

NUMBERS = ("last_seq", "updated_at")
"""Fields that show the age of a change, besides those shown: a reader that also requested the session sees which of the
two is newer. A change of these alone is not sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionChange:
    """One change of a session: `fields` has only those that changed, or all of them for a new session."""

    type: ChangeType
    seq: int
    at: datetime
    session_id: SessionId
    user_id: UserId
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedMark:
    """`feed.started`: all changes from now on follow. `feed.reset`: too much was missed to send it change by change;
    every session follows as it is, then `feed.ready`, and a session not among them is gone."""

    type: MarkType
    seq: int | None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionShown:
    """A session as it is, between `feed.reset` and `feed.ready`."""

    session: Session


FeedItem = SessionChange | FeedMark | SessionShown


class FeedPlace(Protocol):
    """A reader's place in the feed: iterating yields its user's changes, in order, each once."""

    @property
    def position(self) -> int:
        """The number of the last change before the first one that is yielded."""
        ...

    @property
    def has_gap(self) -> bool:
        """Whether changes between the reader's number and `position` are no longer available."""
        ...

    def __aiter__(self) -> AsyncIterator[SessionChange]:
        """Raises `SlowReaderError` if its bounded buffer overflows, `FeedLostError` if the place was lost."""
        ...


class SessionFeed(Protocol):
    """Changes of sessions in the store's order, with the same numbers in every process."""

    def follow(self, user_id: UserId, after: int | None) -> AbstractAsyncContextManager[FeedPlace]:
        """Continues after a number, or from now on for None. Raises an `UnavailableError` while the store is
        unavailable."""
        ...


class ReadMarkers(Protocol):
    """The read markers of users."""

    async def mark(self, session_id: SessionId, user_id: UserId, seq: int) -> Session:
        """Moves the marker to `seq`, never back nor beyond the last event, and counts the unread messages after it.

        Raises `SessionNotFoundError`.
        """
        ...
