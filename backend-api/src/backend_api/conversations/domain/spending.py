"""What a user's runs used and cost, summed up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from backend_api.kit.ids import UserId

NO_TIME_ZONE = "There is no such time zone. Name one such as Europe/Berlin."
UsageBy = Literal["session", "model", "day"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Tokens, and US dollars as in `Usage`: `cost` is None once a part has no known price, or where there is none.
    `runs` are those that asked a model."""

    runs: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0
    thinking: int = 0
    cache_write: int = 0
    cost: float | None = None
    known_cost: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SpentRow:
    """Of one session, model or day (ISO 8601), as `key` says; None are all sessions that were deleted. `title` is the
    session's."""

    key: str | None
    title: str | None = None
    spent: Spent


@dataclass(frozen=True, slots=True, kw_only=True)
class SpentPage:
    """`total` is of all rows, on this page or not."""

    items: Sequence[SpentRow]
    total: Spent
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpentQuery:
    """Of runs that were queued from `since` on, and before `until`. A run counts on the day it was queued, in
    `timezone`, an IANA name."""

    user_id: UserId
    by: UsageBy
    since: datetime
    until: datetime
    timezone: str
    limit: int
    cursor: str | None = None


class Spending(Protocol):
    """What runs used: those that ended, each once, those at work or waiting as far as they came, and those of deleted
    sessions."""

    async def page(self, query: SpentQuery) -> SpentPage:
        """Days: the last one first. Sessions: the one with the last run first, in pages. Models: the one with the most
        tokens first. Raises `InvalidError` for a cursor or a time zone that there is not."""
        ...
