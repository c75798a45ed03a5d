"""A corpus in memory, by the same keys as the one in the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from backend_api.kit.ids import UserId
from backend_api.research.domain import Filter, Paper, Record, RecordId
from backend_api.research.ports import Page


@dataclass(slots=True)
class MemoryCorpus:
    """`CorpusStore` of one user."""

    kept: dict[RecordId, Record] = field(default_factory=dict[RecordId, Record])

    async def get(self, user_id: UserId, record_id: RecordId) -> Record | None:
        return self.kept.get(record_id)

    async def same_as(self, user_id: UserId, paper: Paper) -> list[Record]:
        return [one for one in self.kept.values() if _names(one.paper) & _names(paper)]

    async def insert(self, record: Record) -> bool:
        self.kept[record.id] = record
        return True

    async def replace(self, record: Record) -> bool:
        if self.kept[record.id].version != record.version:
            return False
        self.kept[record.id] = replace(record, version=record.version + 1)
        return True

    async def delete(self, user_id: UserId, record_id: RecordId) -> bool:
        return self.kept.pop(record_id, None) is not None

    async def page(self, user_id: UserId, wanted: Filter, *, limit: int, cursor: str | None) -> Page:
        return Page(items=list(self.kept.values())[:limit], total=len(self.kept), next_cursor=None)

    async def count(self, user_id: UserId) -> int:
        return len(self.kept)

    async def tags(self, user_id: UserId) -> Sequence[tuple[str, int]]:
        return []

    async def all(self, user_id: UserId, wanted: Filter) -> Sequence[Record]:
        return list(self.kept.values())

    async def insert_many(self, records: Sequence[Record]) -> int:
        self.kept |= {one.id: one for one in records}
        return len(records)


def _names(paper: Paper) -> set[str]:
    return {*map(str, paper.ids), *([f"title:{paper.title_key}"] if paper.title_key else [])}
