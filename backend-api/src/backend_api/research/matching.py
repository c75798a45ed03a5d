"""Recognises the paper of a PDF: by the DOI, the arXiv id or the title on its first page."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from backend_api.kit.ids import UserId
from backend_api.research.corpus import Corpus
from backend_api.research.domain import Filter, Paper, Record, is_same
from backend_api.research.errors import ImportInvalidError, PaperNotFoundError, SourcesFailedError
from backend_api.research.identity import PaperId, arxiv_of_doi, parse_doi
from backend_api.research.papers import Papers
from backend_api.research.ports import File, Query, TextOf, UnreadablePaperError

FIRST_CHARACTERS = 6_000
LINE_CHARACTERS = 200
MIN_TITLE_LETTERS = 12
MOST_IDS = 5
MOST_LINES = 5
"""The number of the page's first lines that may be the title, or its beginning."""
_DOI = re.compile(r"10\.\d{4,9}/[^\s\"{}\\^`|<>]{1,200}")
_ARXIV = re.compile(r"arxiv:\s?(\d{4}\.\d{4,5})", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """The record, now linked to the conversation; else a paper of the sources, to be added; else neither."""

    record: Record | None = None
    offered: Paper | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchFile:
    """Finds the paper of a file. Nothing is added, as the person decides that. The first id on the page takes
    precedence."""

    corpus: Corpus
    papers: Papers
    text_of: TextOf

    async def __call__(self, user_id: UserId, content: bytes, session_id: str | None) -> Match:
        """Find the paper. Raises `ImportInvalidError` for a file that can't be read, and `StoreUnavailableError`."""
        text = await self._first_page(content)
        ids = list(_ids_in(text))
        for paper_id in ids:
            if record := await self._kept(user_id, paper_id):
                return await self._linked(user_id, record, session_id)
        lines = [one.strip()[:LINE_CHARACTERS] for one in text.splitlines() if len(_letters(one)) >= MIN_TITLE_LETTERS]
        for line in lines[:MOST_LINES]:
            page = await self.corpus.page(user_id, Filter(text=line), limit=20)
            if record := next((one for one in page.items if _has_title(text, one.paper)), None):
                return await self._linked(user_id, record, session_id)
        return Match(offered=await self._known(ids, lines[0] if lines else "", text))

    async def _first_page(self, content: bytes) -> str:
        if b"%PDF-" not in content[:1024]:
            raise ImportInvalidError("This is not a PDF.")
        try:
            sections = await self.text_of.sections(File(url="", kind="pdf", content=content))
        except UnreadablePaperError as error:
            raise ImportInvalidError(str(error)) from error
        return "\n".join(f"{one.title}\n{one.text}" for one in sections)[:FIRST_CHARACTERS]

    async def _kept(self, user_id: UserId, paper_id: PaperId) -> Record | None:
        named = Paper(title="", doi=_of(paper_id, "doi"), arxiv_id=_of(paper_id, "arxiv"))
        return next((one for one in await self.corpus.store.same_as(user_id, named) if is_same(one.paper, named)), None)

    async def _linked(self, user_id: UserId, record: Record, session_id: str | None) -> Match:
        linked = await self.corpus.change(user_id, record.id, lambda known: known.with_session(session_id))
        return Match(record=linked)

    async def _known(self, ids: list[PaperId], line: str, text: str) -> Paper | None:
        """The paper among these ids whose title is on the page, as the ids may be those of cited papers."""
        for paper_id in ids:
            try:
                paper = (await self.papers.details(paper_id)).papers[0]
            except (PaperNotFoundError, SourcesFailedError):
                continue
            if _has_title(text, paper):
                return paper
        if not line:
            return None
        try:
            found = (await self.papers.search(Query(text=line, limit=5))).papers
        except SourcesFailedError:
            return None
        return next((one for one in found if one.id is not None and _has_title(text, one)), None)


def _ids_in(text: str) -> Iterable[PaperId]:
    found = list[PaperId]()
    for one in _DOI.findall(text):
        if doi := parse_doi(one.rstrip(").]")):
            arxiv = arxiv_of_doi(doi)
            found.append(PaperId("arxiv", arxiv) if arxiv else PaperId("doi", doi))
    found += [PaperId("arxiv", one) for one in _ARXIV.findall(text)]
    return list(dict.fromkeys(found))[:MOST_IDS]


def _of(paper_id: PaperId, kind: str) -> str:
    return paper_id.value if paper_id.kind == kind else ""


def _has_title(text: str, paper: Paper) -> bool:
    title = _letters(paper.title)
    return len(title) >= MIN_TITLE_LETTERS and title in _letters(text)


def _letters(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(letter for letter in plain if letter.isalnum())
