"""Crossref: publishers' data on their own works. Its headers declare the permitted rate."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from backend_api.research.domain import Paper
from backend_api.research.identity import PaperId, parse_arxiv, parse_doi
from backend_api.research.ports import Ask, Keys, Query, Rate, Source
from backend_api.research.sources.shape import at, items, number, text, year_of

NAME = "crossref"
_KINDS = {
    "journal-article": "article-journal",
    "proceedings-article": "paper-conference",
    "book-chapter": "chapter",
    "book": "book",
    "monograph": "book",
    "edited-book": "book",
    "reference-book": "book",
    "dissertation": "thesis",
    "report": "report",
    "dataset": "dataset",
}
_RETRACTIONS = frozenset({"retraction", "withdrawal", "removal"})


async def _search(ask: Ask, query: Query) -> list[Paper]:
    wanted = [
        *([f"from-pub-date:{query.year_from}"] if query.year_from else []),
        *([f"until-pub-date:{query.year_to}"] if query.year_to else []),
        *(["has-license:true"] if query.is_open else []),
    ]
    return await _works(
        ask, {"query.bibliographic": query.text, "rows": query.limit, "filter": ",".join(wanted) or None}
    )


async def _look_up(ask: Ask, paper_id: PaperId) -> Paper | None:
    found = await ask.json(f"/works/{quote(paper_id.value, safe='')}", {})
    return _paper(at(found, "message")) if found else None


async def _references(ask: Ask, paper_id: PaperId, limit: int) -> list[Paper] | None:
    """The references that the publisher deposited: some have a DOI, some a title, some neither."""
    found = await ask.json(f"/works/{quote(paper_id.value, safe='')}", {})
    if not found:
        return None
    named = [_reference(one) for one in items(found, "message", "reference")]
    return [paper for paper in named if paper.title][:limit]


async def _by_author(ask: Ask, name: str, limit: int) -> list[Paper]:
    return await _works(ask, {"query.author": name, "rows": limit})


async def _works(ask: Ask, params: dict[str, str | int | None]) -> list[Paper]:
    found = await ask.json("/works", params)
    return [paper for paper in map(_paper, items(found, "message", "items")) if paper.title]


def _paper(work: Any) -> Paper:
    updates = {text(one, "type") for one in items(work, "updated-by")}
    published = ("issued", "published-print", "published-online")
    years = (number(work, one, "date-parts", 0, 0) for one in published)
    links = (text(one, "URL") for one in items(work, "link") if text(one, "content-type") == "application/pdf")
    return Paper(
        title=text(work, "title", 0),
        authors=tuple(map(_author, items(work, "author"))),
        abstract=text(work, "abstract"),
        year=next(filter(None, years), None),
        venue=text(work, "container-title", 0),
        kind=_KINDS.get(text(work, "type"), ""),
        volume=text(work, "volume"),
        issue=text(work, "issue"),
        pages=text(work, "page"),
        publisher=text(work, "publisher"),
        source=NAME,
        url=text(work, "URL"),
        doi=parse_doi(text(work, "DOI")),
        pdf=next(filter(None, links), ""),
        citations=number(work, "is-referenced-by-count"),
        is_retracted=bool(updates & _RETRACTIONS),
    )


def _author(author: Any) -> str:
    return f"{text(author, 'given')} {text(author, 'family')}".strip() or text(author, "name")


def _reference(one: Any) -> Paper:
    unstructured = text(one, "unstructured")
    return Paper(
        title=text(one, "article-title") or text(one, "volume-title") or unstructured,
        authors=(text(one, "author"),) if text(one, "author") else (),
        year=year_of(text(one, "year") or unstructured),
        venue=text(one, "journal-title"),
        volume=text(one, "volume"),
        pages=text(one, "first-page"),
        source=NAME,
        doi=parse_doi(text(one, "DOI")),
        arxiv_id=parse_arxiv(text(one, "DOI")),
    )


def _params(keys: Keys) -> dict[str, str]:
    return {"mailto": keys.contact} if keys.contact else {}


CROSSREF = Source(
    name=NAME,
    label="Crossref",
    url="https://api.crossref.org",
    rate=Rate(gap_ms=200, at_once=2),
    ids=frozenset({"doi"}),
    search=_search,
    look_up=_look_up,
    references=_references,
    by_author=_by_author,
    params=_params,
)
