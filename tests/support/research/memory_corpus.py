"""A corpus in memory, by the same keys as the one in the database."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field, replace

from backend_api.kit.ids import UserId
from backend_api.research.domain import Bounds, Filter, Held, Paper, Record, RecordId
from backend_api.research.ports import Page


@dataclass(slots=True)
class MemoryCorpus:
    """`CorpusStore` of one user."""

    kept: dict[RecordId, Record] = field(default_factory=dict[RecordId, Record])

    async def get(self, user_id: UserId, record_id: RecordId) -> Record | None:
        return self.kept.get(record_id)

    async def same_as(self, user_id: UserId, paper: Paper) -> list[Record]:
        return [one for one in self.kept.values() if _names(one.paper) & _names(paper)]

    async def some(self, user_id: UserId, record_ids: Sequence[RecordId]) -> list[Record]:
        return [self.kept[one] for one in record_ids if one in self.kept]

    async def insert(self, record: Record, *, within: Bounds) -> bool:
        within.check(await self.held(user_id=record.user_id), _held([record]))
        self.kept[record.id] = record
        return True

    async def replace(self, record: Record, *, within: Bounds) -> bool:
        before = self.kept[record.id]
        if before.version != record.version:
            return False
        within.check(await self.held(record.user_id), Held(characters=record.characters - before.characters))
        self.kept[record.id] = replace(record, version=record.version + 1)
        return True

    async def delete(self, user_id: UserId, record_id: RecordId) -> bool:
        return self.kept.pop(record_id, None) is not None

    async def page(self, user_id: UserId, wanted: Filter, *, limit: int, cursor: str | None) -> Page:
        return Page(items=list(self.kept.values())[:limit], total=len(self.kept), next_cursor=None)

    async def held(self, user_id: UserId) -> Held:
        return _held(list(self.kept.values()))

    async def tags(self, user_id: UserId) -> Sequence[tuple[str, int]]:
        return []

    async def each(self, user_id: UserId, wanted: Filter) -> AsyncGenerator[Sequence[Record]]:
        if self.kept:
            yield list(self.kept.values())

    async def each_name(self, user_id: UserId) -> AsyncGenerator[Sequence[Record]]:
        async for batch in self.each(user_id, Filter()):
            yield batch

    async def insert_many(self, records: Sequence[Record], *, within: Bounds) -> int:
        within.check(await self.held(UserId("")), _held(records))
        self.kept |= {one.id: one for one in records}
        return len(records)


def _held(records: Sequence[Record]) -> Held:
    return Held(records=len(records), characters=sum(one.characters for one in records))


def _names(paper: Paper) -> set[str]:
    return {*map(str, paper.ids), *([f"title:{paper.title_key}"] if paper.title_key else [])}
