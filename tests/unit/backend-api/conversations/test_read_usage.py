"""Which days are summed up, where the reader is."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from backend_api.conversations.application.read_usage import ReadUsage
from backend_api.conversations.domain.spending import Spent, SpentPage, SpentQuery
from backend_api.kit.errors import InvalidError
from backend_api.kit.ids import UserId

NOW = datetime(2026, 3, 31, 22, 30, tzinfo=UTC)
GIVEN: dict[str, Any] = {"since": None, "until": None, "timezone": "UTC", "limit": 50, "cursor": None}


class Asked:
    """Remembers the query."""

    def __init__(self) -> None:
        self.queries: list[SpentQuery] = []

    async def page(self, query: SpentQuery) -> SpentPage:
        self.queries.append(query)
        return SpentPage(items=[], total=Spent())


async def read(**given: Any) -> tuple[date, date, datetime, datetime]:
    asked = Asked()
    usage = await ReadUsage(asked, NOW.timestamp)(UserId("u"), "day", **(GIVEN | given))
    (query,) = asked.queries
    return usage.since, usage.until, query.since, query.until


async def test_without_days_the_last_thirty_up_to_the_readers_today() -> None:
    assert (await read())[:2] == (date(2026, 3, 2), date(2026, 3, 31))
    assert (await read(timezone="Asia/Shanghai"))[:2] == (date(2026, 3, 3), date(2026, 4, 1))
    assert (await read(since=date(2026, 1, 1)))[:2] == (date(2026, 1, 1), date(2026, 1, 30))
    assert (await read(until=date(2026, 1, 30)))[:2] == (date(2026, 1, 1), date(2026, 1, 30))


async def test_days_begin_where_the_reader_is_also_when_the_clocks_change() -> None:
    day = date(2026, 3, 29)
    _, _, since, until = await read(since=day, until=day, timezone="Europe/Berlin")
    assert (since, until) == (datetime(2026, 3, 28, 23, tzinfo=UTC), datetime(2026, 3, 29, 22, tzinfo=UTC))


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"since": date(2026, 1, 2), "until": date(2026, 1, 1)}, "query.since"),
        ({"since": date(2025, 1, 1), "until": date(2026, 1, 2)}, "query.since"),
        ({"since": date.max}, "query.since"),
        ({"until": date.min}, "query.until"),
        ({"timezone": "Nowhere/At/All"}, "query.timezone"),
        ({"timezone": "/etc/passwd"}, "query.timezone"),
        ({"timezone": "localtime"}, "query.timezone"),
        ({"timezone": "right/UTC"}, "query.timezone"),
    ],
)
async def test_what_can_not_be_summed_up_is_refused(given: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidError) as refused:
        await read(**given)
    assert refused.value.field == field


async def test_a_whole_year_is_not_too_much() -> None:
    assert (await read(since=date(2024, 1, 1), until=date(2024, 12, 31)))[0] == date(2024, 1, 1)
