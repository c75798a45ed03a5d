"""Ports that search needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from backend_api.kit.ids import UserId
from backend_api.search.domain import Found, Query


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPage:
    """Messages, best first, and the time before which the next page begins."""

    items: Sequence[Found]
    older_than: datetime | None


class MessageIndex(Protocol):
    """The index of messages. All raise `StoreUnavailableError`."""

    async def catch_up(self, user_id: UserId, *, most: int) -> bool:
        """Index messages stored since the last call, at most about `most`; returns whether that was all."""
        ...

    async def messages(self, user_id: UserId, query: Query, *, limit: int, before: datetime | None) -> FoundPage:
        """Messages of a user that the query finds."""
        ...

    async def titles(self, user_id: UserId, query: Query, *, limit: int) -> Sequence[Found]:
        """Sessions of a user whose title the query finds, the newest first."""
        ...
