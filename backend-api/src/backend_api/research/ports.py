"""What papers and the corpus stand on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from backend_api.kit.ids import UserId
from backend_api.research.domain import Filter, Paper, Record, RecordId
from backend_api.research.identity import IdKind, PaperId


class SourceFaultError(Exception):
    """A source did not answer, or with nothing that is an answer. `reason` is a sentence without its subject."""

    def __init__(self, reason: str, kind: Literal["refused", "throttled", "away"] = "away") -> None:
        super().__init__(reason)
        self.reason = reason
        self.kind = kind


class UnreadablePaperError(Exception):
    """Nothing of a paper's file can be read as text; says why, as a sentence."""


@dataclass(frozen=True, slots=True)
class Rate:
    """How a host may be asked: so many milliseconds between two requests, and so many requests at once."""

    gap_ms: int
    at_once: int


class Throttle(Protocol):
    """Requests of all processes to a host, one after the other as it wants them."""

    def turn(self, host: str, rate: Rate) -> AbstractAsyncContextManager[None]:
        """To be held while the host is asked. Raises `SourceFaultError` where it would have to be waited for too
        long."""
        ...

    async def learn(self, host: str, status: int, headers: Mapping[str, str]) -> None:
        """What an answer says of how the host may be asked."""
        ...


class Answers(Protocol):
    """What sources have answered before, for some time. Whatever is not kept is asked anew."""

    async def get(self, key: str) -> str | None: ...

    async def put(self, key: str, text: str, within_s: int) -> None: ...

    async def count_call(self, run_id: str) -> int:
        """How many calls a run has made, with this one."""
        ...


class Ask(Protocol):
    """One source, asked over HTTP. All raise `SourceFaultError`."""

    async def json(self, path: str, params: Mapping[str, str | int | None]) -> Any:
        """None where the source says that there is no such thing."""
        ...

    async def text(self, path: str, params: Mapping[str, str | int | None]) -> str | None:
        """As `json`, for what is XML."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is searched for."""

    text: str
    limit: int
    year_from: int | None = None
    year_to: int | None = None
    is_open: bool = False
    """Only what anybody may read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """Of the deployment, for all sources; empty where there is none."""

    contact: str = ""
    """The address of a person, which lets a source reach whoever asks it too much."""
    openalex: str = ""
    semantic_scholar: str = ""


def _nothing(keys: Keys) -> dict[str, str]:
    del keys
    return {}


OfPaper = Callable[[Ask, PaperId, int], Awaitable[list[Paper] | None]]
"""Papers that stand in some relation to one, at most so many; None where the source does not have that one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A source of papers, as a value: where it is, how it may be asked, and what it can do. What it can't is None."""

    name: str
    label: str
    url: str
    rate: Rate
    ids: frozenset[IdKind]
    """The kinds by which it finds one."""
    search: Callable[[Ask, Query], Awaitable[list[Paper]]]
    look_up: Callable[[Ask, PaperId], Awaitable[Paper | None]]
    citations: OfPaper | None = None
    references: OfPaper | None = None
    recommended: OfPaper | None = None
    by_author: Callable[[Ask, str, int], Awaitable[list[Paper]]] | None = None
    params: Callable[[Keys], Mapping[str, str]] = _nothing
    """Sent with each request, such as a key."""
    headers: Callable[[Keys], Mapping[str, str]] = _nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """What is at an address of a paper. `kind` is `pdf`, `source` (of arXiv) or `other`."""

    url: str
    kind: str
    content: bytes


class Files(Protocol):
    """Papers themselves."""

    async def get(self, url: str, rate: Rate) -> File:
        """Raises `SourceFaultError`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Part of a paper's text; `page` is the one it begins on, where the file has pages."""

    title: str
    text: str
    page: int | None = None


class TextOf(Protocol):
    """Makes text of files, in a program of its own for each."""

    async def sections(self, file: File) -> Sequence[Section]:
        """Raises `UnreadablePaperError`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Records, newest first, how many there are of the kind, and the cursor of the next page."""

    items: Sequence[Record]
    total: int
    next_cursor: str | None


class CorpusStore(Protocol):
    """The records of each user. All raise `StoreUnavailableError`. It has more than seven methods, as whoever adds,
    merges, lists, counts and exports records needs all of a record's life from one store."""

    async def get(self, user_id: UserId, record_id: RecordId) -> Record | None: ...

    async def same_as(self, user_id: UserId, paper: Paper) -> list[Record]:
        """Those that may be this paper: any of its ids, or its title, is theirs."""
        ...

    async def insert(self, record: Record) -> bool:
        """False where a record with one of its ids was added meanwhile."""
        ...

    async def replace(self, record: Record) -> bool:
        """Keep this as the next version. False where what is stored is of another one."""
        ...

    async def delete(self, user_id: UserId, record_id: RecordId) -> bool:
        """False where there is none."""
        ...

    async def page(self, user_id: UserId, wanted: Filter, *, limit: int, cursor: str | None) -> Page:
        """Raises `InvalidError` for a cursor that is none of ours."""
        ...

    async def count(self, user_id: UserId) -> int: ...

    async def tags(self, user_id: UserId) -> Sequence[tuple[str, int]]:
        """All tags, with how many records have each."""
        ...

    async def all(self, user_id: UserId, wanted: Filter) -> Sequence[Record]:
        """As many as a user may have, oldest first."""
        ...

    async def insert_many(self, records: Sequence[Record]) -> int:
        """How many were added: none that has an id of another."""
        ...
