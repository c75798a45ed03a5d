"""Sums of the usage and cost of a user's runs."""

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
    """Tokens, and US dollars as in `Usage`: `cost` is None once a part has no known price, or there is no cost. `runs`
    counts those that called a model."""

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
    """The sums of one session, model or day (ISO 8601), named by `key`; None stands for all deleted sessions. `title`
    is the session's."""

    key: str | None
    title: str | None = None
    spent: Spent


@dataclass(frozen=True, slots=True, kw_only=True)
class SpentPage:
    """A page of sums. `total` is the sum of all rows, on this page or not."""

    items: Sequence[SpentRow]
    total: Spent
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpentQuery:
    """Selects runs queued from `since` on and before `until`. A run counts on the day it was queued, in `timezone`, an
    IANA name."""

    user_id: UserId
    by: UsageBy
    since: datetime
    until: datetime
    timezone: str
    limit: int
    cursor: str | None = None


class Spending(Protocol):
    """The usage of runs: those that ended, each once, the active and waiting ones so far, and those of deleted
    sessions."""

    async def page(self, query: SpentQuery) -> SpentPage:
        """Days are sorted last first, sessions by their last run, in pages, and models by tokens. Raises `InvalidError`
        for an invalid cursor or time zone."""
        ...
