"""Sums over what runs used, in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import reduce
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from backend_api.domain.agent.events import NO_USAGE, Usage
from backend_api.domain.agent.usage import combine, costs_of
from backend_api.domain.conversation.spending import NO_TIME_ZONE, Spent, SpentPage, SpentQuery, SpentRow
from backend_api.domain.errors import InvalidError
from support.memory.store import MemoryStore, PastUsage


class MemorySpending:
    """`Spending` on a `MemoryStore`; a cursor is the number of rows before it."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    async def page(self, query: SpentQuery) -> SpentPage:
        """All runs are looked at."""
        try:
            zone = ZoneInfo(query.timezone)
        except (ZoneInfoNotFoundError, ValueError) as error:
            raise InvalidError(NO_TIME_ZONE, field="query.timezone") from error
        used = [one for one in self._past_usage() if one.usage.by_model and _is_asked_for(one, query)]
        groups: dict[str, list[Usage]] = {}
        last: dict[str, datetime] = {}
        for one in used:
            for key, usage in _keyed(one, query, zone):
                groups.setdefault(key, []).append(usage)
                last[key] = max(last.get(key, one.created_at), one.created_at)
        rows = [(key, _sum_usage(usages)) for key, usages in groups.items()]
        match query.by:
            case "day":
                rows.sort(key=lambda row: row[0], reverse=True)
            case "model":
                rows.sort(key=lambda row: (-row[1].input - row[1].output, row[0]))
            case "session":
                rows.sort(key=lambda row: (last[row[0]], row[0]), reverse=True)
        begin = _place(query.cursor) if query.by == "session" else 0
        end = begin + query.limit if query.by == "session" else len(rows)
        return SpentPage(
            items=[
                SpentRow(key=key or None, title=self._title(key, query), spent=spent) for key, spent in rows[begin:end]
            ],
            total=_sum_usage([one.usage for one in used]),
            next_cursor=str(end) if end < len(rows) else None,
        )

    def _past_usage(self) -> Iterator[PastUsage]:
        for row in self._store.runs.values():
            usage = row.usage or row.using
            if usage is not None:
                run = row.run
                yield PastUsage(user_id=run.user_id, created_at=run.created_at, usage=usage, session_id=run.session_id)
        yield from self._store.past_usage

    def _title(self, key: str, query: SpentQuery) -> str | None:
        row = next((row for row in self._store.sessions.values() if row.session.id == key), None)
        return row.session.title if query.by == "session" and row is not None else None


def _is_asked_for(one: PastUsage, query: SpentQuery) -> bool:
    return one.user_id == query.user_id and query.since <= one.created_at < query.until


def _keyed(one: PastUsage, query: SpentQuery, zone: ZoneInfo) -> Iterator[tuple[str, Usage]]:
    match query.by:
        case "day":
            yield one.created_at.astimezone(zone).date().isoformat(), one.usage
        case "session":
            yield one.session_id or "", one.usage
        case "model":
            costs = costs_of(one.usage)
            for model, counts in one.usage.by_model.items():
                cost = costs[model]
                own = Usage(by_model={model: counts}, cost=cost["cost"], known_cost=cost["known_cost"] or 0.0)
                yield model, replace(own, **counts)


def _sum_usage(usages: list[Usage]) -> Spent:
    usage = reduce(combine, usages, NO_USAGE)
    return Spent(
        runs=len(usages),
        input=usage.input,
        cached=usage.cached,
        output=usage.output,
        thinking=usage.thinking,
        cache_write=usage.cache_write,
        cost=usage.cost,
        known_cost=usage.known_cost,
    )


def _place(cursor: str | None) -> int:
    if cursor is not None and not cursor.isdecimal():
        raise InvalidError("The cursor is invalid. Use one that a page returned.", field="query.cursor")
    return int(cursor or 0)
