"""Checks of citations: each key must have a record, and each record must agree with its source."""

from __future__ import annotations

import asyncio
import difflib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from backend_api.kit.ids import UserId
from backend_api.research.domain import Paper, Record
from backend_api.research.errors import SourcesFailedError
from backend_api.research.identity import family_name, parse_doi
from backend_api.writing.citations import Cited, Finding, all_cited
from backend_api.writing.domain import Project, Section
from backend_api.writing.ports import Records

AT_ONCE = 4
WITHIN_S = 45.0
"""The time limit in seconds for all sources together; records not compared by then are reported."""
SAME_TITLE = 0.9
MAX_COMPARED = 400
_DOI_IN_TEXT = re.compile(r"(?:doi\.org/|\bdoi:\s?)(\S{1,200})", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The findings of a check, and its extent: `cited` keys in `places`."""

    findings: Sequence[Finding]
    cited: int
    places: int
    records: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckCitations:
    """Raises `StoreUnavailableError`."""

    records: Records
    within_s: float = WITHIN_S

    async def __call__(self, user_id: UserId, project: Project, *, asks_sources: bool = True) -> Check:
        """Check a project. Without `asks_sources` only stored data is used."""
        places = all_cited(project)
        by_key = {one.key: one for one in project.references}
        known = await self.records.of(user_id, [one.record_id for one in project.references])
        findings = [_unknown(one) for one in places if one.key not in by_key]
        cited = {one.key: one for one in reversed(places)}
        compared = dict[str, Record]()
        for reference in project.references:
            record, place = known.get(reference.record_id), cited.get(reference.key)
            if place is None:
                findings.append(_uncited(reference.key, reference.record_id, record))
            elif record is None:
                findings.append(_lost(reference.record_id, place))
            else:
                compared[reference.key] = record
        findings += await self._compare(user_id, compared, cited, asks_sources=asks_sources)
        findings += [one for section in project.sections for one in _written_dois(section)]
        order: dict[str, int] = {one.id: number for number, one in enumerate(project.sections)}
        findings.sort(key=lambda one: (one.severity != "error", order.get(one.section_id, len(order)), one.at))
        return Check(findings=findings, cited=len(cited), places=len(places), records=len(project.references))

    async def _compare(
        self, user_id: UserId, records: dict[str, Record], cited: dict[str, Cited], *, asks_sources: bool
    ) -> list[Finding]:
        room = asyncio.Semaphore(AT_ONCE)

        async def of(key: str, record: Record) -> list[Finding]:
            async with room:
                return await self._of_record(user_id, record, cited[key], asks_source=asks_sources)

        work = {key: asyncio.create_task(of(key, record)) for key, record in records.items()}
        try:
            if work:
                await asyncio.wait(work.values(), timeout=self.within_s)
            found = list[Finding]()
            for key, task in work.items():
                if task.done():
                    found += task.result()
                else:
                    found += _unchecked(records[key], cited[key], "Its sources did not respond in time.")
            return found
        finally:
            for task in work.values():
                task.cancel()
            await asyncio.gather(*work.values(), return_exceptions=True)

    async def _of_record(self, user_id: UserId, record: Record, place: Cited, *, asks_source: bool) -> list[Finding]:
        paper = record.paper
        found = list[Finding]()
        if paper.doi and parse_doi(paper.doi) != paper.doi:
            found.append(_error("doi_malformed", f"{paper.doi[:100]} is not a valid DOI.", record, place))
        if paper.id is None:
            detail = "No source confirms it: it has no DOI or other id. Find it and add it by its id."
            return [*found, _error("unconfirmed", detail, record, place)]
        if not asks_source:
            kept = [_retracted(record, place)] if paper.is_retracted else []
            return [*found, *kept, *(_unconfirmed(record, place) if record.is_imported else [])]
        try:
            told = await self.records.source_of(user_id, paper)
        except SourcesFailedError as error:
            return [*found, *_unchecked(record, place, error.detail)]
        if told is None:
            detail = f"No source has a paper with the id {paper.id.value}. It may be made up."
            return [*found, _error("not_found", detail, record, place)]
        differing = list(_differences(record, told, place))
        if told.is_retracted or paper.is_retracted:
            differing.append(_retracted(record, place))
        if record.is_imported and not any(one.severity == "error" for one in differing):
            await self.records.confirm(user_id, record.id, told)
        return [*found, *differing]


def _differences(record: Record, told: Paper, place: Cited) -> Iterable[Finding]:
    paper = record.paper
    if not _is_same_title(paper.title, told.title):
        detail = f"The record has the title “{paper.title[:150]}”, its source “{told.title[:150]}”."
        yield _error("title_differs", detail, record, place)
    mine, other = (one.authors[0] if one.authors else "" for one in (paper, told))
    if mine and other and not _is_same_author(mine, other):
        yield _error("author_differs", f"The record has {mine} as its first author, its source {other}.", record, place)
    if paper.year and told.year and paper.year != told.year:
        detail = f"The record has the year {paper.year}, its source {told.year}."
        is_near = abs(paper.year - told.year) == 1
        yield _finding("year_differs", "warning" if is_near else "error", detail, record, place)


def _is_same_title(one: str, other: str) -> bool:
    first, second = (_plain(text)[:MAX_COMPARED] for text in (one, other))
    if not first or not second or first == second:
        return True
    shorter, longer = sorted((first, second), key=len)
    if len(shorter) >= 12 and longer.startswith(shorter):
        return True  # without its subtitle
    return difflib.SequenceMatcher(None, first, second, autojunk=False).ratio() >= SAME_TITLE


def _is_same_author(one: str, other: str) -> bool:
    families = {_plain(family_name(name)) for name in (one, other)}
    if len(families) == 1:
        return True
    wholes = [_plain(name) for name in (one, other)]
    # The order of names differs between notations: two match if each has the other's family name.
    return all(any(family in whole for whole in wholes if not whole.endswith(family)) for family in families)


def _plain(text: str) -> str:
    bare = unicodedata.normalize("NFKD", text).casefold()
    return "".join(letter for letter in bare if letter.isalnum())


def _written_dois(section: Section) -> Iterable[Finding]:
    """DOIs written directly in the text."""
    for found in _DOI_IN_TEXT.finditer(section.text):
        if not parse_doi(found[1].rstrip(").,;]>*_")):
            yield Finding(
                code="doi_malformed",
                severity="warning",
                detail=f"{found[1][:100]} is not a valid DOI.",
                section_id=section.id,
                at=found.start(),
            )


def _unknown(place: Cited) -> Finding:
    return Finding(
        code="key_unknown",
        severity="error",
        detail=f"No record has the key @{place.key[:100]}. Add the paper to the bibliography and cite its key.",
        key=place.key,
        section_id=place.section_id,
        at=place.at,
    )


def _uncited(key: str, record_id: str, record: Record | None) -> Finding:
    title = record.paper.title[:150] if record else "a deleted record"
    return Finding(
        code="uncited", severity="warning", detail=f"{title} ({key}) is never cited.", key=key, record_id=record_id
    )


def _lost(record_id: str, place: Cited) -> Finding:
    return Finding(
        code="record_gone",
        severity="error",
        detail=f"The record of @{place.key} is no longer in the corpus.",
        key=place.key,
        record_id=record_id,
        section_id=place.section_id,
        at=place.at,
    )


def _retracted(record: Record, place: Cited) -> Finding:
    return _error("retracted", f"“{record.paper.title[:150]}” was retracted.", record, place)


def _unconfirmed(record: Record, place: Cited) -> list[Finding]:
    return [_error("unconfirmed", "It was imported from a file, and no source has confirmed it.", record, place)]


def _unchecked(record: Record, place: Cited, why: str) -> list[Finding]:
    """A record that was imported from a file is only valid once a source has confirmed it."""
    if record.is_imported:
        return _unconfirmed(record, place)
    return [_finding("not_checked", "warning", f"It could not be compared with its source. {why}", record, place)]


def _error(code: str, detail: str, record: Record, place: Cited) -> Finding:
    return _finding(code, "error", detail, record, place)


def _finding(code: str, severity: str, detail: str, record: Record, place: Cited) -> Finding:
    return Finding(
        code=code,
        severity="error" if severity == "error" else "warning",
        detail=detail,
        key=place.key,
        record_id=record.id,
        section_id=place.section_id,
        at=place.at,
    )
