"""arXiv: preprints, with their files. One request in three seconds, and one at a time."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from backend_api.research.domain import Paper
from backend_api.research.identity import PaperId, parse_arxiv, parse_doi
from backend_api.research.ports import Ask, Query, Rate, Source, SourceFaultError
from backend_api.research.sources.shape import year_of

NAME = "arxiv"
RATE = Rate(gap_ms=3_000, at_once=1)
_ATOM = "{http://www.w3.org/2005/Atom}"
_OWN = "{http://arxiv.org/schemas/atom}"
_WORD = re.compile(r"\w+(?:[-'.]\w+)*")
_MOST_WORDS = 25
_MOST_PARTS = 200_000
"""The most tags and attributes of a feed; a hundred papers have some thousands."""


async def _search(ask: Ask, query: Query) -> list[Paper]:
    words = _WORD.findall(query.text)[:_MOST_WORDS]
    if not words:
        return []
    wanted = " AND ".join(f"all:{word}" for word in words)
    if query.year_from or query.year_to:
        wanted += f" AND submittedDate:[{query.year_from or 1990}01010000 TO {query.year_to or 2100}12312359]"
    return await _entries(ask, search_query=wanted, sortBy="relevance", max_results=query.limit)


async def _look_up(ask: Ask, paper_id: PaperId) -> Paper | None:
    """Look up a paper. An invalid id gives a feed without an entry, or with an entry about the error."""
    found = await _entries(ask, id_list=paper_id.value, max_results=1)
    return found[0] if found and found[0].arxiv_id == paper_id.value else None


async def _by_author(ask: Ask, name: str, limit: int) -> list[Paper]:
    words = " ".join(_WORD.findall(name)[:8])
    return await _entries(ask, search_query=f'au:"{words}"', sortBy="submittedDate", max_results=limit) if words else []


async def _entries(ask: Ask, **params: str | int | None) -> list[Paper]:
    feed = await ask.text("/api/query", {**params, "start": 0})
    if feed is None:
        return []
    # A feed has neither, and entities can be made to grow without end. An element takes many times its few bytes.
    parts = feed.count("<") + feed.count('="') + feed.count("='")
    if "<!DOCTYPE" in feed or "<!ENTITY" in feed or parts > _MOST_PARTS:
        raise SourceFaultError("sent a response that is not a feed")
    try:
        root = ElementTree.fromstring(feed)
    except ElementTree.ParseError as error:
        raise SourceFaultError("sent a response that is incomplete or corrupt") from error
    papers = [_paper(entry) for entry in root.findall(f"{_ATOM}entry")]
    return [paper for paper in papers if paper.title and paper.arxiv_id]


def _paper(entry: ElementTree.Element) -> Paper:
    def text(name: str) -> str:
        return entry.findtext(name) or ""

    address = text(f"{_ATOM}id")
    arxiv_id = parse_arxiv(address)
    return Paper(
        title=text(f"{_ATOM}title"),
        authors=tuple(one.findtext(f"{_ATOM}name") or "" for one in entry.findall(f"{_ATOM}author")),
        abstract=text(f"{_ATOM}summary"),
        year=year_of(text(f"{_ATOM}published")),
        venue=text(f"{_OWN}journal_ref") or "arXiv",
        source=NAME,
        url=f"https://arxiv.org/abs/{arxiv_id}" if arxiv_id else "",
        doi=parse_doi(text(f"{_OWN}doi")),
        arxiv_id=arxiv_id,
        pdf=f"https://export.arxiv.org/pdf/{arxiv_id}" if arxiv_id else "",
    )


ARXIV = Source(
    name=NAME,
    label="arXiv",
    url="https://export.arxiv.org",
    rate=RATE,
    ids=frozenset({"arxiv"}),
    search=_search,
    look_up=_look_up,
    by_author=_by_author,
)
