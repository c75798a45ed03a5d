"""The usage and cost of a user's conversations."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from fastapi import APIRouter, Query

from backend_api.conversations.application.read_usage import ReadUsage, Usage
from backend_api.conversations.domain.spending import SpentRow, UsageBy
from backend_api.identity.http.caller import ONE_PLACE, CurrentCaller
from backend_api.kit.http.ports import port
from backend_api.kit.http.schemas import AnswerBody

router = APIRouter(prefix="/api/usage", tags=["usage"])

Day = Annotated[date | None, Query(description="A day such as 2026-11-24.")]


class SpentBody(AnswerBody):
    """Tokens, and US dollars: `cost` is null once a part has no known price, and `known_cost` is that of the rest, the
    least it can have been. `runs` counts those that called a model."""

    runs: int
    input: int
    cached: int
    output: int
    thinking: int
    cache_write: int
    cost: float | None
    known_cost: float


class SpentRowBody(SpentBody):
    """A row has `session_id`, `model` or `day` set, according to `by`. A `session_id` of null stands for all deleted
    sessions together."""

    session_id: str | None = None
    title: str | None = None
    model: str | None = None
    day: date | None = None

    @classmethod
    def of(cls, row: SpentRow, by: UsageBy) -> SpentRowBody:
        spent = SpentBody.model_validate(row.spent).model_dump()
        match by:
            case "session":
                return cls(**spent, session_id=row.key, title=row.title)
            case "model":
                return cls(**spent, model=row.key)
            case "day":
                return cls(**spent, day=date.fromisoformat(row.key or ""))


class SpendingBody(AnswerBody):
    """`total` is the sum of all rows, on this page or not. The days `since` and `until` are both included."""

    by: UsageBy
    since: date
    until: date
    timezone: str
    items: list[SpentRowBody]
    total: SpentBody
    next_cursor: str | None

    @classmethod
    def of(cls, usage: Usage, by: UsageBy, timezone: str) -> SpendingBody:
        """The body for a usage."""
        return cls(
            by=by,
            since=usage.since,
            until=usage.until,
            timezone=timezone,
            items=[SpentRowBody.of(row, by) for row in usage.page.items],
            total=SpentBody.model_validate(usage.page.total),
            next_cursor=usage.page.next_cursor,
        )


@router.get("", dependencies=[ONE_PLACE])
async def usage(
    caller: CurrentCaller,
    read_usage: Annotated[ReadUsage, port("read_usage")],
    by: UsageBy = "day",
    since: Day = None,
    until: Day = None,
    timezone: Annotated[
        str, Query(min_length=1, max_length=64, description="In which days begin; a name such as Europe/Berlin.")
    ] = "UTC",
    limit: Annotated[int, Query(ge=1, le=200, description="Sessions on a page.")] = 50,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
) -> SpendingBody:
    """Sum up the usage of the caller's runs from one day to another, 366 at most; by default the last 30. A run counts
    on the day it was queued; active runs count so far, and deleted ones still do."""
    found = await read_usage(
        caller.user.id, by, since=since, until=until, timezone=timezone, limit=limit, cursor=cursor
    )
    return SpendingBody.of(found, by, timezone)
