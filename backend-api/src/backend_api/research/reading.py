"""Reading a paper: its LaTeX source if arXiv has it, else an open PDF, else only the data of the sources."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass

from backend_api.research.domain import Paper
from backend_api.research.identity import PaperId
from backend_api.research.papers import Papers
from backend_api.research.ports import (
    Answers,
    Ask,
    Files,
    Keys,
    Rate,
    Section,
    Source,
    SourceFaultError,
    TextOf,
    UnreadablePaperError,
)
from backend_api.research.sources.arxiv import RATE as ARXIV_RATE
from backend_api.research.sources.links import (
    HUGGING_FACE,
    PAPERS_WITH_CODE,
    UNPAYWALL,
    Link,
    code_of,
    data_of,
    open_file_of,
)

TEXT_KEPT_S = 3_600
"""Seconds for which a text is kept, as a long paper is read in several calls."""
FILE_RATE = Rate(gap_ms=1_000, at_once=2)
"""The rate for hosts that declare none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPaper:
    """The text of a paper by sections, with its origin. Without any there are only its details, and the notices give
    the reasons."""

    paper: Paper
    sections: Sequence[Section] = ()
    origin: str = ""
    notices: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """Code or data of a paper."""

    paper: Paper
    links: Sequence[Link]
    notices: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTexts:
    """`arxiv` is the address of its files; Unpaywall is queried if `keys` have a contact."""

    papers: Papers
    ask: Callable[[Source], Ask]
    files: Files
    text_of: TextOf
    answers: Answers
    arxiv: str
    keys: Callable[[], Awaitable[Keys]]

    async def read(self, paper_id: PaperId) -> ReadPaper:
        """Read a paper. Raises `PaperNotFoundError`, `SourcesFailedError`."""
        found = await self.papers.details(paper_id)
        paper, notices = found.papers[0], list(found.notices)
        key = f"text:{paper.id or paper_id}"
        if (kept := await self.answers.get(key)) is not None and (read := _kept(kept)) is not None:
            return ReadPaper(paper=paper, sections=read[1], origin=read[0], notices=notices)
        async for origin, url, rate in self._places(paper, notices):
            try:
                sections = await self.text_of.sections(await self.files.get(url, rate))
            except SourceFaultError as error:
                notices.append(f"{origin}: {url} {error.reason}.")
            except UnreadablePaperError as error:
                notices.append(f"{origin}: {error}")
            else:
                await self.answers.put(key, json.dumps([origin, [asdict(one) for one in sections]]), TEXT_KEPT_S)
                return ReadPaper(paper=paper, sections=sections, origin=origin, notices=notices)
        return ReadPaper(paper=paper, notices=notices)

    async def code(self, paper_id: PaperId) -> Links:
        """Repositories and models. Raises as `read`."""
        return await self._links(paper_id, code_of)

    async def data(self, paper_id: PaperId) -> Links:
        """Data sets. Raises as `read`."""
        return await self._links(paper_id, data_of)

    async def _links(self, paper_id: PaperId, look: Callable[[Ask, Source, str], Awaitable[list[Link]]]) -> Links:
        found = await self.papers.details(paper_id)
        paper, notices, links = found.papers[0], list(found.notices), dict[str, Link]()
        if not paper.arxiv_id:
            notices.append("It has no arXiv id, and links to code and data are only found by that id.")
            return Links(paper=paper, links=[], notices=notices)
        for source in (HUGGING_FACE, PAPERS_WITH_CODE):
            try:
                for one in await look(self.ask(source), source, paper.arxiv_id):
                    links.setdefault(one.url.rstrip("/").lower(), one)
            except SourceFaultError as error:
                notices.append(f"{source.label} {error.reason}.")
        return Links(paper=paper, links=list(links.values()), notices=notices)

    async def _places(self, paper: Paper, notices: list[str]) -> AsyncGenerator[tuple[str, str, Rate]]:
        if paper.arxiv_id:
            yield "arXiv source", f"{self.arxiv}/e-print/{paper.arxiv_id}", ARXIV_RATE
            yield "arXiv PDF", f"{self.arxiv}/pdf/{paper.arxiv_id}", ARXIV_RATE
        if paper.pdf and "arxiv.org/" not in paper.pdf:
            yield "open PDF", paper.pdf, FILE_RATE
        if paper.doi and (await self.keys()).contact:
            try:
                url = await open_file_of(self.ask(UNPAYWALL), paper.doi)
            except SourceFaultError as error:
                notices.append(f"{UNPAYWALL.label} {error.reason}.")
                return
            if url and url != paper.pdf:
                yield "open PDF", url, FILE_RATE


def _kept(text: str) -> tuple[str, list[Section]] | None:
    try:
        origin, sections = json.loads(text)
        return str(origin), [Section(**one) for one in sections]
    except (ValueError, TypeError):
        return None
