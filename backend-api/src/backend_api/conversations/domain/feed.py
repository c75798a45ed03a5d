"""The feed of all own sessions: what changed of them, in one order for everybody."""

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
    "sandbox",
    "active_at",
    "folder_id",
    "target_id",
)
"""What a feed tells of a session."""

NUMBERS = ("last_seq", "updated_at")
"""What a change says of its own age, beside what is shown: a reader that also asked for the session sees which of the
two is newer. Where only these change there is nothing to tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionChange:
    """What one change made of a session: `fields` holds only what it changed, all of them for a new session."""

    type: ChangeType
    seq: int
    at: datetime
    session_id: SessionId
    user_id: UserId
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedMark:
    """`feed.started`: what follows is all that changes from now on. `feed.reset`: too much was missed to be told one by
    one; every session follows as it is, then `feed.ready`, and what was not among them is gone."""

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
        """Number of the last change before the first one that is yielded."""
        ...

    @property
    def has_gap(self) -> bool:
        """Whether changes between the reader's number and `position` can't be told any more."""
        ...

    def __aiter__(self) -> AsyncIterator[SessionChange]:
        """Raises `SlowReaderError` when its bounded buffer overflows, `FeedLostError` when the place was lost."""
        ...


class SessionFeed(Protocol):
    """Changes of sessions as the store made them, numbered alike in every process."""

    def follow(self, user_id: UserId, after: int | None) -> AbstractAsyncContextManager[FeedPlace]:
        """Go on after a number, or from now on for None. Raises an `UnavailableError` while the store is away."""
        ...


class ReadMarkers(Protocol):
    """How far a user has read."""

    async def mark(self, session_id: SessionId, user_id: UserId, seq: int) -> Session:
        """Move the marker on to `seq`, never back nor beyond the last event, and count what is unread after it.

        Raises `SessionNotFoundError`.
        """
        ...
