"""The usage and cost of a user's conversations, by conversation, model or day."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from backend_api.conversations.domain.spending import NO_TIME_ZONE, Spending, SpentPage, SpentQuery, UsageBy
from backend_api.kit.errors import InvalidError
from backend_api.kit.ids import UserId

MOST_DAYS = 366
USUAL_DAYS = 30
_NOT_A_NAME = re.compile(r"localtime$|posixrules$|Factory$|posix/|right/")
"""Files in the time zone database that are not time zones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The usage from the day `since` to the day `until`, both included."""

    since: date
    until: date
    page: SpentPage


@dataclass(frozen=True, slots=True)
class ReadUsage:
    """Reads the usage of one user. `clock` returns Unix seconds."""

    spending: Spending
    clock: Callable[[], float]

    async def __call__(
        self,
        user_id: UserId,
        by: UsageBy,
        *,
        since: date | None,
        until: date | None,
        timezone: str,
        limit: int,
        cursor: str | None,
    ) -> Usage:
        """Both days are included; by default the last 30 days up to today. Raises `InvalidError`."""
        zone = _zone(timezone)
        for name, day in (("since", since), ("until", until)):
            if day is not None and not 2000 <= day.year < 3000:
                raise InvalidError("The year must be one from 2000 to 2999.", field=f"query.{name}")
        last = until or (since + timedelta(days=USUAL_DAYS - 1) if since else self._today(zone))
        first = since or last - timedelta(days=USUAL_DAYS - 1)
        if first > last:
            raise InvalidError("The first day must not be after the last one.", field="query.since")
        if (last - first).days >= MOST_DAYS:
            raise InvalidError(f"At most {MOST_DAYS} days can be summed up at once.", field="query.since")
        query = SpentQuery(
            user_id=user_id,
            by=by,
            since=_begin(first, zone),
            until=_begin(last + timedelta(days=1), zone),
            timezone=timezone,
            limit=limit,
            cursor=cursor,
        )
        return Usage(since=first, until=last, page=await self.spending.page(query))

    def _today(self, zone: ZoneInfo) -> date:
        return datetime.fromtimestamp(self.clock(), UTC).astimezone(zone).date()


def _zone(name: str) -> ZoneInfo:
    if _NOT_A_NAME.match(name):
        raise InvalidError(NO_TIME_ZONE, field="query.timezone")
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidError(NO_TIME_ZONE, field="query.timezone") from error


def _begin(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)
