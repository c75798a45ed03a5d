"""OpenAlex: works of all fields, with citations. Each request includes the key, if there is one."""

from __future__ import annotations

from typing import Any

from backend_api.research.domain import Paper
from backend_api.research.identity import PaperId, parse_arxiv, parse_doi
from backend_api.research.ports import Ask, Keys, Query, Rate, Source
from backend_api.research.sources.shape import at, items, number, text

NAME = "openalex"
_KINDS = {
    "article": "article-journal",
    "review": "article-journal",
    "letter": "article-journal",
    "book-chapter": "chapter",
    "book": "book",
    "dissertation": "thesis",
    "report": "report",
    "dataset": "dataset",
}
_MAX_ABSTRACT_WORDS = 3_000
_FIELDS = (
    "id,doi,title,publication_year,authorships,abstract_inverted_index,primary_location,best_oa_location,locations,"
    "cited_by_count,is_retracted,ids,biblio,type"
)


async def _search(ask: Ask, query: Query) -> list[Paper]:
    wanted = [
        *([f"from_publication_date:{query.year_from}-01-01"] if query.year_from else []),
        *([f"to_publication_date:{query.year_to}-12-31"] if query.year_to else []),
        *(["is_oa:true"] if query.is_open else []),
    ]
    return await _works(ask, search=query.text, filter=",".join(wanted) or None, per_page=query.limit)


async def _look_up(ask: Ask, paper_id: PaperId) -> Paper | None:
    found = await ask.json(f"/works/{_path(paper_id)}", {"select": _FIELDS})
    return _paper(found) if found else None


async def _citations(ask: Ask, paper_id: PaperId, limit: int) -> list[Paper] | None:
    return await _related(ask, paper_id, "cites", limit)


async def _references(ask: Ask, paper_id: PaperId, limit: int) -> list[Paper] | None:
    return await _related(ask, paper_id, "cited_by", limit)


async def _by_author(ask: Ask, name: str, limit: int) -> list[Paper]:
    plain = name.replace(",", " ").replace("|", " ")
    return await _works(
        ask, filter=f"raw_author_name.search:{plain}", sort="cited_by_count:desc", per_page=limit, search=None
    )


async def _related(ask: Ask, paper_id: PaperId, relation: str, limit: int) -> list[Paper] | None:
    work = paper_id.value if paper_id.kind == NAME else None
    if work is None:
        found = await ask.json(f"/works/{_path(paper_id)}", {"select": "id"})
        work = text(found, "id").rsplit("/", 1)[-1]
    if not work:
        return None
    return await _works(ask, filter=f"{relation}:{work}", sort="cited_by_count:desc", per_page=limit, search=None)


async def _works(ask: Ask, **params: str | int | None) -> list[Paper]:
    found = await ask.json("/works", {**params, "select": _FIELDS})
    return [paper for paper in map(_paper, items(found, "results")) if paper.title]


def _path(paper_id: PaperId) -> str:
    if paper_id.kind == "arxiv":
        return f"doi:10.48550/arxiv.{paper_id.value}"
    return f"doi:{paper_id.value}" if paper_id.kind == "doi" else paper_id.value


def _paper(work: Any) -> Paper:
    places = [at(work, "best_oa_location"), at(work, "primary_location"), *items(work, "locations")[:20]]
    addresses = [text(place, "landing_page_url") for place in places]
    return Paper(
        title=text(work, "title") or text(work, "display_name"),
        authors=tuple(text(one, "author", "display_name") for one in items(work, "authorships")),
        abstract=_abstract(at(work, "abstract_inverted_index")),
        year=number(work, "publication_year"),
        venue=text(work, "primary_location", "source", "display_name"),
        kind=_kind(work),
        volume=text(work, "biblio", "volume"),
        issue=text(work, "biblio", "issue"),
        pages=_pages(work),
        publisher=text(work, "primary_location", "source", "host_organization_name"),
        source=NAME,
        url=text(work, "id"),
        doi=parse_doi(text(work, "doi")),
        arxiv_id=next(filter(None, (parse_arxiv(one) for one in addresses if "arxiv.org" in one)), ""),
        openalex_id=text(work, "id").rsplit("/", 1)[-1],
        pdf=next(filter(None, (text(place, "pdf_url") for place in places)), ""),
        citations=number(work, "cited_by_count"),
        is_retracted=at(work, "is_retracted") is True,
    )


def _kind(work: Any) -> str:
    """The kind of a work. OpenAlex calls a paper in the proceedings of a conference an article."""
    kind = _KINDS.get(text(work, "type"), "")
    place = text(work, "primary_location", "source", "type")
    if kind != "article-journal":
        return kind
    return {"conference": "paper-conference", "journal": kind, "": kind}.get(place, "")


def _pages(work: Any) -> str:
    first, last = text(work, "biblio", "first_page"), text(work, "biblio", "last_page")
    return f"{first}-{last}" if first and last and first != last else first


def _abstract(index: Any) -> str:
    """The abstract, rebuilt from the positions of each word."""
    if not isinstance(index, dict):
        return ""
    placed = [
        (place, word)
        for word in index  # pyright: ignore[reportUnknownVariableType] -- whatever came
        if isinstance(word, str)
        for place in items(index, word)
        if isinstance(place, int)
    ]
    return " ".join(word for _, word in sorted(placed)[:_MAX_ABSTRACT_WORDS])


def _params(keys: Keys) -> dict[str, str]:
    return {
        **({"api_key": keys.openalex} if keys.openalex else {}),
        **({"mailto": keys.contact} if keys.contact else {}),
    }


OPENALEX = Source(
    name=NAME,
    label="OpenAlex",
    url="https://api.openalex.org",
    rate=Rate(gap_ms=100, at_once=10),
    ids=frozenset({"doi", "arxiv", "openalex"}),
    search=_search,
    look_up=_look_up,
    citations=_citations,
    references=_references,
    by_author=_by_author,
    params=_params,
)
