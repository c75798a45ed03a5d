"""Search for papers and related papers: several sources are queried at once, and one that fails costs a notice."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import zip_longest
from typing import Any, Literal, TypeVar

from backend_api.research.domain import Paper, cleaned, joined, merged
from backend_api.research.errors import PaperNotFoundError, SourcesFailedError
from backend_api.research.identity import PaperId
from backend_api.research.ports import Answers, Ask, Query, Source, SourceFaultError

KEPT_S = 7 * 24 * 3_600
SOURCE_S = 25.0
"""The longest time for one source in seconds, with the wait for its turn."""
Relation = Literal["citations", "references", "recommended"]
_Answer = TypeVar("_Answer")
_NAMES = frozenset(each.name for each in fields(Paper))


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Papers, and a sentence for each source that has not answered."""

    papers: Sequence[Paper]
    notices: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Papers:
    """`ask` returns the client of a source."""

    sources: Sequence[Source]
    ask: Callable[[Source], Ask]
    answers: Answers
    source_s: float = SOURCE_S
    _look_ups: dict[PaperId, asyncio.Task[Found]] = field(default_factory=dict[PaperId, asyncio.Task["Found"]])

    async def search(self, query: Query, source: str | None = None) -> Found:
        """Search; results are interleaved in the order in which each source ranks them. Raises `SourcesFailedError`."""
        asked = [one for one in self.sources if source in (None, one.name)]
        lists, notices = await self._ask_all(asked, lambda one: one.search(self.ask(one), query))
        found = merged(map(cleaned, _in_turns(lists)))
        return Found(papers=found[: query.limit], notices=notices)

    async def details(self, paper_id: PaperId) -> Found:
        """One paper, merged from all sources that find it by this id, and then from those that accept an id found
        there.

        Concurrent requests for one paper share one look-up. Raises `PaperNotFoundError` and `SourcesFailedError`.
        """
        if known := await self._kept_paper(paper_id):
            return Found(papers=[known])
        look_up = self._look_ups.get(paper_id)
        if look_up is None:
            look_up = self._look_ups[paper_id] = asyncio.create_task(self._look_up(paper_id), name="look-up of a paper")
            look_up.add_done_callback(lambda done: self._look_ended(paper_id, done))
        return await asyncio.shield(look_up)

    def _look_ended(self, paper_id: PaperId, look_up: asyncio.Task[Found]) -> None:
        del self._look_ups[paper_id]
        if not look_up.cancelled():
            # Nobody may be waiting for it any more.
            look_up.exception()

    async def _look_up(self, paper_id: PaperId) -> Found:
        asked = [one for one in self.sources if paper_id.kind in one.ids]
        told, notices = await self._ask_all(asked, lambda one: one.look_up(self.ask(one), paper_id))
        papers = [cleaned(paper) for paper in told if paper is not None]
        if not papers:
            raise _not_found(paper_id, notices)
        paper = _joined_all(papers)
        paper, more = await self._fill_gaps(paper, asked)
        if not (notices or more):
            await self._keep(paper_id, paper)
        return Found(papers=[paper], notices=[*notices, *more])

    async def related(self, paper_id: PaperId, relation: Relation, limit: int) -> Found:
        """Papers that cite it, that it cites, or that are similar. Raises as `details`."""
        key = f"{relation}:{paper_id}:{limit}"
        if (kept := await self.answers.get(key)) is not None and (papers := _read(kept)) is not None:
            return Found(papers=papers)
        able = [one for one in self.sources if getattr(one, relation) is not None]
        names, notices = [paper_id], list[str]()
        if not any(paper_id.kind in one.ids for one in able):
            known = await self.details(paper_id)
            names, notices = known.papers[0].ids, list(known.notices)
        asked = [(one, name) for one in able if (name := next((n for n in names if n.kind in one.ids), None))]
        of_source = {one.name: name for one, name in asked}

        def look(one: Source) -> Awaitable[list[Paper] | None]:
            return getattr(one, relation)(self.ask(one), of_source[one.name], limit)

        lists, more = await self._ask_all([one for one, _ in asked], look)
        notices += more
        if all(one is None for one in lists):
            raise _not_found(paper_id, notices)
        papers = merged(map(cleaned, _in_turns([one for one in lists if one is not None])))[:limit]
        if not notices:
            await self.answers.put(key, _written(papers), KEPT_S)
        return Found(papers=papers, notices=notices)

    async def by_author(self, name: str, limit: int) -> Found:
        """Papers of an author. Raises `SourcesFailedError`."""
        asked = [one for one in self.sources if one.by_author is not None]

        def look(one: Source) -> Awaitable[list[Paper]]:
            assert one.by_author is not None
            return one.by_author(self.ask(one), name, limit)

        lists, notices = await self._ask_all(asked, look)
        return Found(papers=merged(map(cleaned, _in_turns(lists)))[:limit], notices=notices)

    async def _fill_gaps(self, paper: Paper, asked: Sequence[Source]) -> tuple[Paper, Sequence[str]]:
        """Fill missing fields from sources that were not queried yet, by the ids that others returned."""
        if paper.abstract and paper.year and paper.authors and (paper.doi or paper.arxiv_id) and paper.venue:
            return paper, ()
        names = {one.kind: one for one in paper.ids}
        left = {
            one.name: names[kind]
            for one in self.sources
            if one not in asked and (kind := next((k for k in ("doi", "arxiv") if k in one.ids and k in names), None))
        }
        others = [one for one in self.sources if one.name in left]
        if not others:
            return paper, ()
        try:
            told, notices = await self._ask_all(others, lambda one: one.look_up(self.ask(one), left[one.name]))
        except SourcesFailedError as error:
            return paper, [error.detail]
        return _joined_all([paper, *(cleaned(one) for one in told if one is not None)]), notices

    async def _kept_paper(self, paper_id: PaperId) -> Paper | None:
        kept = await self.answers.get(f"paper:{paper_id}")
        papers = _read(kept) if kept is not None else None
        return papers[0] if papers else None

    async def _keep(self, paper_id: PaperId, paper: Paper) -> None:
        for name in {paper_id, *paper.ids}:
            await self.answers.put(f"paper:{name}", _written([paper]), KEPT_S)

    async def _ask_all(
        self, sources: Sequence[Source], look: Callable[[Source], Awaitable[_Answer]]
    ) -> tuple[list[_Answer], list[str]]:
        """Query the sources and return the answers. Raises `SourcesFailedError` if none answered."""

        async def one_of(source: Source) -> _Answer | SourceFaultError:
            try:
                async with asyncio.timeout(self.source_s):
                    return await look(source)
            except TimeoutError:
                return SourceFaultError(f"has not answered within {self.source_s:.0f} seconds")
            except SourceFaultError as error:
                return error

        told = await asyncio.gather(*map(one_of, sources))
        notices = [
            f"{source.label} {one.reason}."
            for source, one in zip(sources, told, strict=True)
            if isinstance(one, SourceFaultError)
        ]
        answers = [one for one in told if not isinstance(one, SourceFaultError)]
        if not answers:
            raise SourcesFailedError(" ".join(notices) or "No source supports this.")
        return answers, notices


def _in_turns(lists: Sequence[Sequence[Paper]]) -> list[Paper]:
    return [paper for row in zip_longest(*lists) for paper in row if paper is not None]


def _joined_all(papers: Sequence[Paper]) -> Paper:
    first, *others = papers
    for one in others:
        first = joined(first, one)
    return first


def _not_found(paper_id: PaperId, notices: Sequence[str]) -> PaperNotFoundError | SourcesFailedError:
    """The paper is not found only if all sources have answered: one that has not may have it."""
    if notices:
        return SourcesFailedError(
            " ".join([f"None of the sources that responded has a paper with the id {paper_id.value}.", *notices])
        )
    return PaperNotFoundError(f"No source has a paper with the id {paper_id.value}.")


def _written(papers: Sequence[Paper]) -> str:
    return json.dumps([asdict(paper) for paper in papers], ensure_ascii=False)


def _read(text: str) -> list[Paper] | None:
    """The stored papers; None if another version wrote them."""
    try:
        found: list[dict[str, Any]] = json.loads(text)
        return [replace(Paper(**_known(one)), authors=tuple(one["authors"])) for one in found]
    except (ValueError, TypeError, KeyError):
        return None


def _known(one: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in one.items() if name in _NAMES}
