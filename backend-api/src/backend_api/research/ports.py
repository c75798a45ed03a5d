"""Ports that papers and the corpus need."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from backend_api.kit.ids import UserId
from backend_api.research.domain import Bounds, Filter, Held, Paper, Record, RecordId
from backend_api.research.identity import IdKind, PaperId


class SourceFaultError(Exception):
    """A source did not answer, or sent an invalid answer. `reason` is a sentence without its subject."""

    def __init__(self, reason: str, kind: Literal["refused", "throttled", "away"] = "away") -> None:
        super().__init__(reason)
        self.reason = reason
        self.kind = kind


class UnreadablePaperError(Exception):
    """A paper's file can't be read as text; the message is a sentence with the reason."""


@dataclass(frozen=True, slots=True)
class Rate:
    """The request rate of a host: a gap in milliseconds between two requests, and the most requests at once."""

    gap_ms: int
    at_once: int


class Throttle(Protocol):
    """Limits the requests of all processes to each host's rate."""

    def turn(self, host: str, rate: Rate) -> AbstractAsyncContextManager[None]:
        """A turn, to be held during the request. Raises `SourceFaultError` if the wait would be too long."""
        ...

    async def learn(self, host: str, status: int, headers: Mapping[str, str]) -> None:
        """Learn the host's rate from an answer's headers."""
        ...


class Answers(Protocol):
    """A cache of sources' answers, for some time. Missing ones are requested again."""

    async def get(self, key: str) -> str | None: ...

    async def put(self, key: str, text: str, within_s: int) -> None: ...

    async def count_call(self, run_id: str) -> int:
        """Count a call of the run, and return the count."""
        ...


class Ask(Protocol):
    """The HTTP client of one source. All methods raise `SourceFaultError`."""

    async def json(self, path: str, params: Mapping[str, str | int | None]) -> Any:
        """The parsed JSON; None if the source has no such thing."""
        ...

    async def text(self, path: str, params: Mapping[str, str | int | None]) -> str | None:
        """As `json`, for XML."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A search request."""

    text: str
    limit: int
    year_from: int | None = None
    year_to: int | None = None
    is_open: bool = False
    """Only papers with open access."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """Keys for all sources; empty if there is none."""

    contact: str = ""
    """A person's mail address, by which a source can reach a client that sends too many requests."""
    openalex: str = ""
    semantic_scholar: str = ""


def _nothing(keys: Keys) -> dict[str, str]:
    del keys
    return {}


OfPaper = Callable[[Ask, PaperId, int], Awaitable[list[Paper] | None]]
"""Papers related to one, at most so many; None if the source does not have that one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A source of papers, as a value: its address, its rate, and what it supports. Unsupported functions are None."""

    name: str
    label: str
    url: str
    rate: Rate
    ids: frozenset[IdKind]
    """The kinds of ids by which it finds a paper."""
    search: Callable[[Ask, Query], Awaitable[list[Paper]]]
    look_up: Callable[[Ask, PaperId], Awaitable[Paper | None]]
    citations: OfPaper | None = None
    references: OfPaper | None = None
    recommended: OfPaper | None = None
    by_author: Callable[[Ask, str, int], Awaitable[list[Paper]]] | None = None
    params: Callable[[Keys], Mapping[str, str]] = _nothing
    """Parameters sent with each request, such as a key."""
    headers: Callable[[Keys], Mapping[str, str]] = _nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """The download from an address of a paper. `kind` is `pdf`, `source` (of arXiv) or `other`."""

    url: str
    kind: str
    content: bytes


class Files(Protocol):
    """Downloads papers."""

    async def get(self, url: str, rate: Rate) -> File:
        """Download a file. Raises `SourceFaultError`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Part of a paper's text; `page` is its first page, if the file has pages."""

    title: str
    text: str
    page: int | None = None


class TextOf(Protocol):
    """Extracts the text of files, each in a process of its own."""

    async def sections(self, file: File) -> Sequence[Section]:
        """The sections of a file. Raises `UnreadablePaperError`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Records, newest first, the total number that match, and the cursor of the next page."""

    items: Sequence[Record]
    total: int
    next_cursor: str | None


class CorpusStore(Protocol):
    """The records of each user. All methods raise `StoreUnavailableError`. Those with `within` raise `CorpusFullError`
    where the user would hold more with the change, however many change something at once. More than seven methods, as
    adding, merging, listing, counting and exporting need all of a record's life from one store."""

    async def get(self, user_id: UserId, record_id: RecordId) -> Record | None: ...

    async def same_as(self, user_id: UserId, paper: Paper) -> list[Record]:
        """Records that may be this paper: they share an id, or the title."""
        ...

    async def some(self, user_id: UserId, record_ids: Sequence[RecordId]) -> list[Record]:
        """Those of these records that are there."""
        ...

    async def insert(self, record: Record, *, within: Bounds) -> bool:
        """Insert a record; False if a record with one of its ids was added meanwhile."""
        ...

    async def replace(self, record: Record, *, within: Bounds) -> bool:
        """Store this as the next version; False if the stored version is another one."""
        ...

    async def delete(self, user_id: UserId, record_id: RecordId) -> bool:
        """Delete a record; False if there is none."""
        ...

    async def page(self, user_id: UserId, wanted: Filter, *, limit: int, cursor: str | None) -> Page:
        """A page of records. Raises `InvalidError` for an invalid cursor."""
        ...

    async def held(self, user_id: UserId) -> Held: ...

    async def tags(self, user_id: UserId) -> Sequence[tuple[str, int]]:
        """Tags, with the number of records for each."""
        ...

    def each(self, user_id: UserId, wanted: Filter) -> AsyncGenerator[Sequence[Record]]:
        """The matching records, oldest first, in batches that are read as they are asked for; none is empty."""
        ...

    def each_name(self, user_id: UserId) -> AsyncGenerator[Sequence[Record]]:
        """All records in batches, with what tells their papers apart and without longer texts."""
        ...

    async def insert_many(self, records: Sequence[Record], *, within: Bounds) -> int:
        """Insert those that share no id with another record; returns how many were inserted."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedFile:
    """A file of a conversation, by its path in the workspace, and the paper that it is: the record, as long as it is
    kept, and the id and title of the paper."""

    path: str
    record_id: RecordId | None
    paper_id: PaperId | None
    title: str


class AttachedFiles(Protocol):
    """Which paper the files of conversations are, for each user. All methods raise `StoreUnavailableError`."""

    async def put(self, user_id: UserId, session_id: str, file: AttachedFile) -> None:
        """Store a file in place of the one of that path. Of very many files of a conversation the last are kept."""
        ...

    async def remove(self, user_id: UserId, session_id: str, path: str) -> None: ...

    async def of_session(self, user_id: UserId, session_id: str) -> list[AttachedFile]:
        """The files of a conversation, the last first."""
        ...
