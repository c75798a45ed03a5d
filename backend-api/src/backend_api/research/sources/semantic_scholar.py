"""Semantic Scholar: citations with few gaps, and recommendations. All clients without a key share one quota."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from backend_api.research.domain import Paper
from backend_api.research.identity import PaperId, parse_arxiv, parse_doi
from backend_api.research.ports import Ask, Keys, Query, Rate, Source
from backend_api.research.sources.shape import at, items, number, text

NAME = "semantic_scholar"
_GRAPH = "/graph/v1"
_KINDS = {"JournalArticle": "article-journal", "Conference": "paper-conference", "Book": "book", "Dataset": "dataset"}
_FIELDS = "title,abstract,year,venue,authors,externalIds,openAccessPdf,citationCount,url,journal,publicationTypes"


async def _search(ask: Ask, query: Query) -> list[Paper]:
    years = f"{query.year_from or ''}-{query.year_to or ''}" if query.year_from or query.year_to else None
    params = {"query": query.text, "limit": query.limit, "fields": _FIELDS, "year": years}
    # A parameter without a value, as documented.
    found = await ask.json(f"{_GRAPH}/paper/search", {**params, **({"openAccessPdf": ""} if query.is_open else {})})
    return _papers(items(found, "data"))


async def _look_up(ask: Ask, paper_id: PaperId) -> Paper | None:
    found = await ask.json(f"{_GRAPH}/paper/{_path(paper_id)}", {"fields": _FIELDS})
    return _paper(found) if found else None


async def _citations(ask: Ask, paper_id: PaperId, limit: int) -> list[Paper] | None:
    return await _related(ask, paper_id, "citations", "citingPaper", limit)


async def _references(ask: Ask, paper_id: PaperId, limit: int) -> list[Paper] | None:
    return await _related(ask, paper_id, "references", "citedPaper", limit)


async def _recommended(ask: Ask, paper_id: PaperId, limit: int) -> list[Paper] | None:
    path = f"/recommendations/v1/papers/forpaper/{_path(paper_id)}"
    found = await ask.json(path, {"fields": _FIELDS, "limit": limit})
    return _papers(items(found, "recommendedPapers")) if found else None


async def _related(ask: Ask, paper_id: PaperId, relation: str, field: str, limit: int) -> list[Paper] | None:
    found = await ask.json(f"{_GRAPH}/paper/{_path(paper_id)}/{relation}", {"fields": _FIELDS, "limit": limit})
    return _papers([at(one, field) for one in items(found, "data")]) if found else None


def _path(paper_id: PaperId) -> str:
    label = {"doi": "DOI:", "arxiv": "ARXIV:"}.get(paper_id.kind, "")
    return label + quote(paper_id.value, safe="/")


def _papers(found: list[Any]) -> list[Paper]:
    return [paper for paper in map(_paper, found) if paper.title]


def _paper(found: Any) -> Paper:
    return Paper(
        title=text(found, "title"),
        authors=tuple(text(one, "name") for one in items(found, "authors")),
        abstract=text(found, "abstract"),
        year=number(found, "year"),
        venue=text(found, "venue"),
        kind=next((_KINDS[one] for one in map(str, items(found, "publicationTypes")) if one in _KINDS), ""),
        volume=text(found, "journal", "volume").strip(),
        pages=text(found, "journal", "pages").strip(),
        source=NAME,
        url=text(found, "url"),
        doi=parse_doi(text(found, "externalIds", "DOI")),
        arxiv_id=parse_arxiv(text(found, "externalIds", "ArXiv")),
        s2_id=text(found, "paperId"),
        pdf=text(found, "openAccessPdf", "url"),
        citations=number(found, "citationCount"),
    )


def _headers(keys: Keys) -> dict[str, str]:
    return {"x-api-key": keys.semantic_scholar} if keys.semantic_scholar else {}


SEMANTIC_SCHOLAR = Source(
    name=NAME,
    label="Semantic Scholar",
    url="https://api.semanticscholar.org",
    rate=Rate(gap_ms=1_000, at_once=1),
    ids=frozenset({"doi", "arxiv", "s2"}),
    search=_search,
    look_up=_look_up,
    citations=_citations,
    references=_references,
    recommended=_recommended,
    headers=_headers,
)
