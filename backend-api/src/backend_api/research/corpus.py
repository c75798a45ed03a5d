"""A user's corpus, which the agent's tools and the person share. Duplicates are merged into one record."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime

from backend_api.kit.ids import UserId
from backend_api.research.domain import (
    BOUNDS,
    MAX_TAGS,
    Bounds,
    Broken,
    Filter,
    Held,
    Imported,
    Paper,
    Record,
    RecordId,
    checked_tags,
    cleaned,
    is_same,
)
from backend_api.research.errors import (
    RecordBusyError,
    RecordChangedError,
    RecordInvalidError,
    RecordNotFoundError,
)
from backend_api.research.identity import PaperId
from backend_api.research.papers import Papers
from backend_api.research.ports import CorpusStore, Page

MAX_ATTEMPTS = 20
MERGED_AT_ONCE = 200
TAKEN_AT_ONCE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """A record, whether it is new, and notices of the sources."""

    record: Record
    is_new: bool
    notices: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An entry of an imported file."""

    paper: Paper
    notes: str = ""
    tags: Sequence[str] = ()
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Use cases of a corpus. All raise `StoreUnavailableError`; those that name a record, `RecordNotFoundError`; those
    that store something, `CorpusFullError`."""

    store: CorpusStore
    papers: Papers
    now: Callable[[], datetime]
    within: Bounds = BOUNDS

    async def add(
        self, user_id: UserId, paper_id: PaperId, *, by: str, session_id: str | None = None, tags: Sequence[str] = ()
    ) -> Added:
        """Add a paper with the data of the sources. An existing record gets missing fields, the tags and the link.

        Raises `PaperNotFoundError`, `SourcesFailedError`, `RecordInvalidError`.
        """
        wanted = checked_tags(tags)
        found = await self.papers.details(paper_id)
        fresh = Record(
            id=_new_id(),
            user_id=user_id,
            paper=found.papers[0],
            tags=wanted,
            sessions=(session_id,) if session_id else (),
            added_by=by,
            created_at=self.now(),
        )
        record, is_new = await self._keep(fresh)
        return Added(record=record, is_new=is_new, notices=found.notices)

    async def get(self, user_id: UserId, record_id: RecordId) -> Record:
        record = await self.store.get(user_id, record_id)
        if record is None:
            raise RecordNotFoundError(f"The corpus has no record {record_id[:80]}.")
        return record

    async def page(self, user_id: UserId, wanted: Filter, *, limit: int, cursor: str | None = None) -> Page:
        """A page of records, newest first. Raises `InvalidError` for an invalid cursor."""
        return await self.store.page(user_id, wanted, limit=limit, cursor=cursor)

    async def change(
        self, user_id: UserId, record_id: RecordId, change: Callable[[Record], Record], etag: str | None = None
    ) -> Record:
        """Change a record; with `etag` only if it is unchanged since it was read: else `RecordChangedError`. Raises
        what `change` raises."""
        for _ in range(MAX_ATTEMPTS):
            present = await self.get(user_id, record_id)
            if etag is not None and etag != present.etag:
                raise RecordChangedError("The record was changed since it was read. Read it again.")
            fresh = change(present)
            if fresh == present:
                return present
            if await self.store.replace(fresh, within=self.within):
                return replace(fresh, version=fresh.version + 1)
        raise RecordBusyError("The record is being changed by other requests. Try again in a moment.")

    async def delete(self, user_id: UserId, record_id: RecordId) -> None:
        if not await self.store.delete(user_id, record_id):
            raise RecordNotFoundError(f"The corpus has no record {record_id[:80]}.")

    async def tags(self, user_id: UserId) -> Sequence[tuple[str, int]]:
        return await self.store.tags(user_id)

    def each(self, user_id: UserId, wanted: Filter) -> AsyncGenerator[Sequence[Record]]:
        """The matching records, oldest first, in batches that are read as they are asked for."""
        return self.store.each(user_id, wanted)

    async def take_in(
        self, user_id: UserId, entries: Sequence[Entry], broken: Sequence[Broken], session_id: str | None = None
    ) -> Imported:
        """Import entries of a file, marked as imported; existing records get the fields that they lack.

        A file that is too much for the corpus is refused before anything is stored.
        """
        known = _Known()
        async with aclosing(self.store.each_name(user_id)) as names:
            async for batch in names:
                known.learn(batch)
        at, merged, refused = self.now(), 0, list(broken)
        for number, entry in enumerate(entries):
            if number % TAKEN_AT_ONCE == 0:
                # Others are answered meanwhile.
                await asyncio.sleep(0)
            try:
                record = _imported(user_id, entry, session_id, at)
            except RecordInvalidError as error:
                refused.append(Broken(line=entry.line, reason=error.detail, begins=entry.paper.title[:120]))
                continue
            merged += not known.take(record)
        fresh = [known.records[one] for one in known.fresh]
        changed, grown = await self._changed(user_id, known)
        more = Held(records=len(fresh), characters=grown + sum(record.characters for record in fresh))
        self.within.check(await self.store.held(user_id), more)
        added = await self.store.insert_many(fresh, within=self.within)
        merged += len(fresh) - added
        for one in changed:
            await self.change(user_id, one, known.records[one].absorbed_by)
        return Imported(added=added, merged=merged, broken=sorted(refused, key=lambda one: one.line))

    async def _changed(self, user_id: UserId, known: _Known) -> tuple[list[RecordId], int]:
        """The stored records that a file adds something to, and the characters that it adds to all of them."""
        touched, changed, grown = list(known.touched), list[RecordId](), 0
        for start in range(0, len(touched), MERGED_AT_ONCE):
            for stored in await self.store.some(user_id, touched[start : start + MERGED_AT_ONCE]):
                after = stored.absorbed(known.records[stored.id])
                if after != stored:
                    changed.append(stored.id)
                    grown += after.characters - stored.characters
        return changed, grown

    async def _keep(self, fresh: Record) -> tuple[Record, bool]:
        for _ in range(MAX_ATTEMPTS):
            same = [
                one for one in await self.store.same_as(fresh.user_id, fresh.paper) if is_same(one.paper, fresh.paper)
            ]
            if not same:
                if await self.store.insert(fresh, within=self.within):
                    return fresh, True
                continue
            first, *others = same
            for other in others:
                if await self.store.delete(fresh.user_id, other.id):
                    first = await self.change(fresh.user_id, first.id, other.absorbed_by)
            return await self.change(fresh.user_id, first.id, fresh.absorbed_by), False
        raise RecordBusyError("The corpus is being changed by other requests. Try again in a moment.")


class _Known:
    """The records of a user by their ids and titles, without longer texts, to which those of a file are added one by
    one. `fresh` are records of the file alone, `touched` stored ones that it has too."""

    def __init__(self) -> None:
        self.records = dict[RecordId, Record]()
        self.fresh = dict[RecordId, None]()
        self.touched = dict[RecordId, None]()
        self._by_key = dict[str, list[RecordId]]()

    def learn(self, records: Sequence[Record]) -> None:
        """Add stored records."""
        for record in records:
            self.records[record.id] = record
            self._index(record)

    def take(self, fresh: Record) -> bool:
        """Add a record or merge it into an existing one; returns whether it is new."""
        near = dict.fromkeys(one for key in _keys(fresh.paper) for one in self._by_key.get(key, ()))
        same = next((one for one in near if is_same(self.records[one].paper, fresh.paper)), None)
        if same is None:
            self.records[fresh.id] = fresh
            self.fresh[fresh.id] = None
            self._index(fresh)
            return True
        before = self.records[same]
        self.records[same] = before.absorbed(fresh)
        if self.records[same] != before:
            if same not in self.fresh:
                self.touched[same] = None
            self._index(self.records[same])
        return False

    def _index(self, record: Record) -> None:
        for key in _keys(record.paper):
            places = self._by_key.setdefault(key, [])
            if record.id not in places:
                places.append(record.id)


def _keys(paper: Paper) -> list[str]:
    return [*map(str, paper.ids), *([f"title:{paper.title_key}"] if paper.title_key else [])]


def _imported(user_id: UserId, entry: Entry, session_id: str | None, at: datetime) -> Record:
    paper = cleaned(entry.paper)
    if not paper.title:
        raise RecordInvalidError("It has no title. Add one.", field="title")
    tags = checked_tags(tag[:60] for tag in entry.tags if tag.strip())[:MAX_TAGS] if len(entry.tags) <= MAX_TAGS else ()
    record = Record(
        id=_new_id(),
        user_id=user_id,
        paper=paper,
        tags=tags,
        sessions=(session_id,) if session_id else (),
        is_imported=True,
        created_at=at,
    )
    return record.with_notes(entry.notes) if entry.notes else record


def _new_id() -> RecordId:
    return RecordId(f"rec_{uuid.uuid4().hex}")
