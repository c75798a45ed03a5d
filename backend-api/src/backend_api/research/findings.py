"""Findings of research: claims, each with the record, the place and the quote that it rests on. The quote is searched
for in the text that was read."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from backend_api.kit.errors import NotFoundError
from backend_api.kit.ids import UserId
from backend_api.research.domain import Record, RecordId
from backend_api.research.identity import PaperId
from backend_api.research.ports import Answers, Section

READ_S = 24 * 3_600
"""Seconds for which texts are kept: as long as a run may take."""
SHORTEST_QUOTE = 20
ABSTRACT = "abstract"
_HYPHENATED = re.compile(r"(\w)-\s+(\w)")
_SPACE = re.compile(r"\s+")
_QUOTES = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "\u00ad": None})


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """`section` is a number of the outline or words of its title; `page` is used if the file has pages."""

    claim: str
    record: str
    section: str
    page: int | None
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """A finding whose quote is at the given place."""

    finding: Finding
    record: Record
    place: str


class Records(Protocol):
    """The corpus of each user."""

    async def get(self, user_id: UserId, record_id: RecordId) -> Record:
        """The record. Raises `RecordNotFoundError`."""
        ...


class FindingRefusedError(Exception):
    """The finding is refused; the message gives the reason and what to do."""


@dataclass(frozen=True, slots=True)
class ReadTexts:
    """The texts of the papers that a run has read."""

    answers: Answers

    async def remember(self, run_id: str, ids: Sequence[PaperId], sections: Sequence[Section], abstract: str) -> None:
        """Keep a text; it is found again by any of the paper's ids."""
        parts = [[one.title, one.text, one.page] for one in sections]
        text = json.dumps([abstract, parts], ensure_ascii=False)
        for paper_id in ids:
            await self.answers.put(f"read:{run_id}:{paper_id}", text, READ_S)

    async def find(self, run_id: str, ids: Sequence[PaperId]) -> list[Section] | None:
        """The sections, with the abstract as the first; None if the run has not read the paper."""
        for paper_id in ids:
            if (kept := await self.answers.get(f"read:{run_id}:{paper_id}")) is not None:
                abstract, parts = json.loads(kept)
                sections = [Section(title=title, text=text, page=page) for title, text, page in parts]
                return [Section(title=ABSTRACT, text=abstract), *sections]
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFindings:
    """Checks findings against the texts that were read."""

    corpus: Records
    texts: ReadTexts

    async def __call__(self, user_id: UserId, run_id: str, finding: Finding) -> Confirmed:
        """Check a finding. Raises `FindingRefusedError`."""
        if not finding.section.strip() and finding.page is None:
            raise FindingRefusedError("it names no section or page. Say where in the paper the quote is.")
        try:
            record = await self.corpus.get(user_id, RecordId(finding.record))
        except NotFoundError as missing:
            raise FindingRefusedError(
                f"there is no record {finding.record!r}. Keep the paper with corpus_add and give the id it returns."
            ) from missing
        sections = await self.texts.find(run_id, record.paper.ids)
        if sections is None:
            raise FindingRefusedError("this run has not read that paper. Read it with paper_read, then quote from it.")
        return Confirmed(finding=finding, record=record, place=_place_of(finding, sections))


def _place_of(finding: Finding, sections: Sequence[Section]) -> str:
    quote = plain(finding.quote)
    if len(quote) < SHORTEST_QUOTE:
        raise FindingRefusedError(f"its quote is shorter than {SHORTEST_QUOTE} characters. Quote the sentence.")
    chosen = [at for at in range(len(sections)) if _is_meant(finding, sections, at)]
    if not chosen:
        raise FindingRefusedError(f"the paper has no such section or page. Sections: {_outline(sections)}.")
    holding = [at for at, one in enumerate(sections) if quote in plain(one.text)]
    if found := [at for at in chosen if at in holding]:
        return _named(sections, found[0])
    if holding:
        raise FindingRefusedError(f"its quote is in another place: {_named(sections, holding[0])}. Name that place.")
    raise FindingRefusedError(
        "its quote is not in the text that was read. Quote word for word, without leaving anything out, or drop it."
    )


def plain(text: str) -> str:
    """The form in which texts are compared: without differences between a page and its transcript."""
    joined = _HYPHENATED.sub(r"\1\2", unicodedata.normalize("NFKC", text).translate(_QUOTES))
    return _SPACE.sub(" ", joined).strip().casefold()


def _is_meant(finding: Finding, sections: Sequence[Section], at: int) -> bool:
    wanted, one = finding.section.strip().casefold(), sections[at]
    if wanted:
        return wanted == str(at) if wanted.isdigit() else wanted in one.title.casefold()
    if one.page is None or finding.page is None:
        return False
    following = next((later.page for later in sections[at + 1 :] if later.page is not None), finding.page)
    return one.page <= finding.page <= following


def _named(sections: Sequence[Section], at: int) -> str:
    one = sections[at]
    if at == 0:
        return ABSTRACT
    return f"{at}. {one.title}{f' (page {one.page})' if one.page else ''}"


def _outline(sections: Sequence[Section]) -> str:
    return "; ".join(_named(sections, at) for at in range(min(len(sections), 40)))
