"""Papers by the data of sources, records in a user's corpus, and the merging of duplicates."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import NewType

from backend_api.kit.ids import UserId
from backend_api.kit.invisible_characters import INVISIBLE, TAGS, is_blank
from backend_api.research.errors import CorpusFullError, RecordInvalidError
from backend_api.research.identity import PaperId, arxiv_of_doi, title_key

RecordId = NewType("RecordId", str)
MAX_RECORDS = 50_000
"""The most records of a user."""
MAX_CHARACTERS = 200_000_000
"""The most characters of all records of a user together."""
MAX_TITLE_CHARACTERS = 1_000
MAX_ABSTRACT_CHARACTERS = 10_000
MAX_AUTHORS = 300
MAX_NAME_CHARACTERS = 200
MAX_URL_CHARACTERS = 2_000
MAX_PLACE_CHARACTERS = 60
"""The longest volume, issue or pages."""
MAX_PUBLISHER_CHARACTERS = 200
KINDS = frozenset({"article-journal", "paper-conference", "chapter", "book", "thesis", "report", "dataset"})
"""Kinds of papers, by their names in CSL. A preprint, or an unknown kind, has none."""
MAX_NOTES_CHARACTERS = 20_000
MAX_TAGS = 30
MAX_TAG_CHARACTERS = 60
MAX_SESSIONS = 200
"""The most conversations that a record is linked to: the last ones are kept."""
IMPORTED = "import"
"""The source of a record that no source has confirmed."""
_MARKUP = re.compile(r"</?(?:jats:)?[a-zA-Z][a-zA-Z0-9:]*(?:\s[^<>]{0,300})?/?>")
_SPACES = re.compile(r"\s+")
_DASHES = re.compile(r"\s?[-‐‑‒–—]+\s?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """The known data of a paper. An unknown text is empty."""

    title: str
    authors: tuple[str, ...] = ()
    abstract: str = ""
    year: int | None = None
    venue: str = ""
    kind: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    publisher: str = ""
    source: str = ""
    url: str = ""
    doi: str = ""
    arxiv_id: str = ""
    openalex_id: str = ""
    s2_id: str = ""
    pdf: str = ""
    citations: int | None = None
    is_retracted: bool = False

    @property
    def id(self) -> PaperId | None:
        """The first id by the rule; None if it has only a title."""
        return next(iter(self.ids), None)

    @property
    def ids(self) -> list[PaperId]:
        """All ids, in the order of the rule."""
        found = (
            PaperId("doi", self.doi),
            PaperId("arxiv", self.arxiv_id),
            PaperId("openalex", self.openalex_id),
            PaperId("s2", self.s2_id),
        )
        return [one for one in found if one.value]

    @property
    def title_key(self) -> str:
        return title_key(self.title, self.authors[0] if self.authors else "", self.year)

    @property
    def address(self) -> str:
        """The address of a page about it."""
        if self.doi:
            return f"https://doi.org/{self.doi}"
        return f"https://arxiv.org/abs/{self.arxiv_id}" if self.arxiv_id else self.url


PAPER_TEXTS = tuple(each.name for each in fields(Paper) if each.type == "str")
"""The fields of a paper that are one text."""


def cleaned(paper: Paper) -> Paper:
    """The paper with texts of bounded length on one line, without markup and invisible characters; a DOI of arXiv's own
    becomes the arXiv id."""
    own = arxiv_of_doi(paper.doi)
    return replace(
        paper,
        doi="" if own else paper.doi,
        arxiv_id=paper.arxiv_id or own,
        title=plain_text(paper.title, MAX_TITLE_CHARACTERS),
        authors=tuple(filter(None, (plain_text(one, MAX_NAME_CHARACTERS) for one in paper.authors[:MAX_AUTHORS]))),
        abstract=plain_text(paper.abstract, MAX_ABSTRACT_CHARACTERS),
        venue=plain_text(paper.venue, MAX_TITLE_CHARACTERS),
        kind=paper.kind if paper.kind in KINDS else "",
        volume=plain_text(paper.volume, MAX_PLACE_CHARACTERS),
        issue=plain_text(paper.issue, MAX_PLACE_CHARACTERS),
        pages=_DASHES.sub("–", plain_text(paper.pages, MAX_PLACE_CHARACTERS)),
        publisher=plain_text(paper.publisher, MAX_PUBLISHER_CHARACTERS),
        url=_web_address(paper.url),
        pdf=_web_address(paper.pdf),
        year=paper.year if paper.year and 1000 <= paper.year <= 2200 else None,
    )


def plain_text(text: str, most: int) -> str:
    """The text on one line."""
    bare = INVISIBLE.sub("", _SPACES.sub(" ", _MARKUP.sub("", text[: most * 4]))).strip()
    return bare if len(bare) <= most else f"{bare[: most - 1]}…"


def _web_address(text: str) -> str:
    bare = text.strip()
    is_address = bare.startswith(("https://", "http://")) and bare.isprintable() and " " not in bare
    return bare if is_address and len(bare) <= MAX_URL_CHARACTERS else ""


def is_same(one: Paper, other: Paper) -> bool:
    """Whether they are the same paper, by the first of DOI, arXiv id and title that both have."""
    if one.doi and other.doi:
        return one.doi == other.doi
    if one.arxiv_id and other.arxiv_id:
        return one.arxiv_id == other.arxiv_id
    if (one.openalex_id and one.openalex_id == other.openalex_id) or (one.s2_id and one.s2_id == other.s2_id):
        return True
    return bool(one.title_key) and one.title_key == other.title_key


def joined(one: Paper, other: Paper) -> Paper:
    """The first paper, with missing fields from the other, the longer abstract, and the higher count of citations."""
    filled = {
        name: getattr(other, name)
        for name in (each.name for each in fields(one))
        if not getattr(one, name) and getattr(other, name)
    }
    abstract = max(one.abstract, other.abstract, key=len)
    counts = [count for count in (one.citations, other.citations) if count is not None]
    return replace(one, **{**filled, "abstract": abstract, "citations": max(counts) if counts else None})


def merged(papers: Iterable[Paper]) -> list[Paper]:
    """The papers without duplicates, each at its first position. A paper that is the same as two earlier ones, so far
    taken for different, merges all of them."""
    found = list[Paper]()
    by_key = dict[str, list[int]]()
    gone = set[int]()
    for paper in papers:
        places = sorted({at for key in _keys(paper) for at in by_key.get(key, ())} - gone)
        same = [at for at in places if is_same(found[at], paper)]
        if same:
            first, *others = same
            for at in others:
                found[first] = joined(found[first], found[at])
            found[first] = joined(found[first], paper)
            gone.update(others)
        else:
            first = len(found)
            found.append(paper)
        for key in _keys(found[first]):
            by_key.setdefault(key, []).append(first)
    return [paper for at, paper in enumerate(found) if at not in gone]


def _keys(paper: Paper) -> list[str]:
    return [*map(str, paper.ids), *([f"title:{paper.title_key}"] if paper.title_key else [])]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A paper that a user keeps. `is_imported` as long as no source has confirmed it: its id came from a file only.
    `added_by` is `person` or `agent`."""

    id: RecordId
    user_id: UserId
    paper: Paper
    notes: str = ""
    tags: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    added_by: str = "person"
    is_imported: bool = False
    created_at: datetime
    version: int = 1

    @property
    def etag(self) -> str:
        """The etag of its editable fields."""
        text = json.dumps([self.id, self.version])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def characters(self) -> int:
        """The characters of all its texts."""
        texts = (getattr(self.paper, name) for name in PAPER_TEXTS)
        return sum(map(len, (*texts, *self.paper.authors, self.notes, *self.tags, *self.sessions)))

    def with_paper(self, paper: Paper, *, is_imported: bool) -> Record:
        """The record with the paper of another answer merged in; a source's data takes precedence over a file's."""
        if self.is_imported and not is_imported:
            return replace(self, paper=joined(paper, self.paper), is_imported=False)
        return replace(self, paper=joined(self.paper, paper))

    def with_session(self, session_id: str | None) -> Record:
        if session_id is None or session_id in self.sessions:
            return self
        return replace(self, sessions=(*self.sessions, session_id)[-MAX_SESSIONS:])

    def with_tags(self, tags: Iterable[str]) -> Record:
        """The record with exactly these tags. Raises `RecordInvalidError`."""
        return replace(self, tags=checked_tags(tags))

    def with_notes(self, notes: str) -> Record:
        """The record with these notes. Raises `RecordInvalidError`."""
        if len(notes) > MAX_NOTES_CHARACTERS:
            raise RecordInvalidError(f"Notes have at most {MAX_NOTES_CHARACTERS:,} characters.", field="notes")
        if "\0" in notes or TAGS.search(notes):
            raise RecordInvalidError("The notes contain an invisible character. Remove it.", field="notes")
        return replace(self, notes=notes)

    def absorbed(self, other: Record) -> Record:
        """The record merged with another one of the same paper."""
        notes = self.notes if other.notes in self.notes else f"{self.notes}\n\n{other.notes}".strip()
        record = self.with_paper(other.paper, is_imported=other.is_imported)
        return replace(
            record,
            notes=notes[:MAX_NOTES_CHARACTERS],
            tags=tuple(dict.fromkeys((*self.tags, *other.tags)))[:MAX_TAGS],
            sessions=tuple(dict.fromkeys((*self.sessions, *other.sessions)))[-MAX_SESSIONS:],
        )

    def absorbed_by(self, other: Record) -> Record:
        """The other record, merged with this one of the same paper."""
        return other.absorbed(self)


def checked_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """The tags, each on one line, without duplicates. Raises `RecordInvalidError`."""
    found = dict[str, str]()
    for tag in tags:
        bare = _SPACES.sub(" ", tag).strip()
        if is_blank(bare) or len(bare) > MAX_TAG_CHARACTERS or INVISIBLE.search(bare):
            raise RecordInvalidError(
                f"A tag is one or more words, with at most {MAX_TAG_CHARACTERS} visible characters.", field="tags"
            )
        found.setdefault(bare.casefold(), bare)
    if len(found) > MAX_TAGS:
        raise RecordInvalidError(f"A record has at most {MAX_TAGS} tags.", field="tags")
    return tuple(found.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The most that a user may keep: records, and the characters of all of them together."""

    records: int = MAX_RECORDS
    characters: int = MAX_CHARACTERS

    def check(self, held: Held, more: Held) -> None:
        """Raise `CorpusFullError` if `more`, added to what is held, is over them; never for what grows nothing."""
        if more.records > 0 and held.records + more.records > self.records:
            raise CorpusFullError(f"A corpus has at most {self.records:,} records. Delete some first.")
        if more.characters > 0 and held.characters + more.characters > self.characters:
            raise CorpusFullError(
                f"The records of a corpus, with their notes, have at most {self.characters:,} characters together. "
                "Delete some first."
            )


BOUNDS = Bounds()


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What a user keeps, or what a change adds to it or, where negative, takes from it."""

    records: int = 0
    characters: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """A filter for records of a corpus: all given conditions must hold."""

    text: str = ""
    """Words, each of which must be in title, authors, venue, abstract or notes."""
    tag: str = ""
    session_id: str = ""
    source: str = ""
    year_from: int | None = None
    year_to: int | None = None
    ids: tuple[RecordId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A block of an import that could not be read: its first line, and the reason."""

    line: int
    reason: str
    begins: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The result of an import: new records, blocks of existing records, and those that could not be read."""

    added: int = 0
    merged: int = 0
    broken: Sequence[Broken] = field(default_factory=tuple[Broken, ...])
