"""Links of a paper: code and data from Hugging Face's pages of papers and from the rebuilt Papers with Code there, and
an open file from Unpaywall."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from backend_api.research.domain import Paper
from backend_api.research.identity import PaperId
from backend_api.research.ports import Ask, Keys, Query, Rate, Source
from backend_api.research.sources.shape import at, items, number, text


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """`note` is the kind of code or data, as far as known."""

    url: str
    name: str
    note: str = ""


async def _no_search(ask: Ask, query: Query) -> list[Paper]:
    del ask, query
    return []


async def _no_paper(ask: Ask, paper_id: PaperId) -> Paper | None:
    del ask, paper_id
    return None


_OF_LINKS = Source(
    name="hugging_face",
    label="Hugging Face",
    url="https://huggingface.co",
    rate=Rate(gap_ms=500, at_once=2),
    ids=frozenset({"arxiv"}),
    search=_no_search,
    look_up=_no_paper,
)
HUGGING_FACE = _OF_LINKS
PAPERS_WITH_CODE = replace(
    _OF_LINKS, name="papers_with_code", label="Papers with Code", url="https://paperswithcode.co"
)


def _unpaywall_params(keys: Keys) -> dict[str, str]:
    return {"email": keys.contact}


UNPAYWALL = replace(
    _OF_LINKS,
    name="unpaywall",
    label="Unpaywall",
    url="https://api.unpaywall.org",
    rate=Rate(gap_ms=100, at_once=4),
    ids=frozenset({"doi"}),
    params=_unpaywall_params,
)
"""The source of open files; it requires a contact address."""
LINK_SOURCES = (HUGGING_FACE, PAPERS_WITH_CODE, UNPAYWALL)


async def code_of(ask: Ask, source: Source, arxiv_id: str) -> list[Link]:
    """Repositories, those of the authors first."""
    if source is PAPERS_WITH_CODE:
        found = await _of_papers_with_code(ask, arxiv_id, "repositories")
        made = [
            Link(
                url=text(one, "url"),
                name=text(one, "url").removeprefix("https://"),
                note=", ".join(
                    filter(None, ("by its authors" if at(one, "is_official") else "", text(one, "framework")))
                ),
            )
            for one in found
        ]
        return [one for one in made if one.url.startswith("https://")]
    page = await ask.json(f"/api/papers/{quote(arxiv_id, safe='')}", {})
    own = text(page, "githubRepo")
    links = [Link(url=own, name=own.removeprefix("https://"), note="named on its page")] if own else []
    models = await _of_hugging_face(ask, "models", arxiv_id)
    return [*links, *(replace(one, url=f"https://huggingface.co/{one.name}") for one in models)]


async def data_of(ask: Ask, source: Source, arxiv_id: str) -> list[Link]:
    """Data sets that name the paper."""
    if source is PAPERS_WITH_CODE:
        found = await _of_papers_with_code(ask, arxiv_id, "datasets")
        made = [Link(url=text(one, "url"), name=text(one, "full_name") or text(one, "name")) for one in found]
        return [one for one in made if one.url.startswith("https://")]
    data = await _of_hugging_face(ask, "datasets", arxiv_id)
    return [replace(one, url=f"https://huggingface.co/datasets/{one.name}") for one in data]


async def open_file_of(ask: Ask, doi: str) -> str:
    """The address of an open PDF; empty if there is none."""
    found = await ask.json(f"/v2/{quote(doi, safe='/')}", {})
    return text(found, "best_oa_location", "url_for_pdf")


async def _of_papers_with_code(ask: Ask, arxiv_id: str, kind: str) -> list[Any]:
    papers = items(await ask.json("/api/v1/papers/", {"arxiv_id": arxiv_id}), "results")
    name = text(papers, 0, "id")
    if not name:
        return []
    return items(await ask.json(f"/api/v1/papers/{quote(name, safe='')}/{kind}/", {}), "results")


async def _of_hugging_face(ask: Ask, kind: str, arxiv_id: str) -> list[Link]:
    found = await ask.json(f"/api/{kind}", {"filter": f"arxiv:{arxiv_id}", "sort": "downloads", "limit": 20})
    return [
        Link(url="", name=text(one, "id"), note=f"{kind[:-1]}, {number(one, 'downloads') or 0:,} downloads")
        for one in items(found)
        if text(one, "id")
    ]
