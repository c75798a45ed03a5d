"""Papers are found in all sources together, by whatever names them, and a source that fails costs one notice."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import AsyncGenerator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from backend_api.kit.ids import UserId
from backend_api.research.corpus import Corpus, Entry
from backend_api.research.domain import Bounds, Paper
from backend_api.research.errors import CorpusFullError, PaperNotFoundError, SourcesFailedError
from backend_api.research.identity import parse_id
from backend_api.research.ports import Query, SourceFaultError
from backend_api.research.sources.arxiv import ARXIV
from support.research.fake_sources import Fault
from support.research.known_papers import KNOWN, KnownPaper
from support.research.memory_corpus import MemoryCorpus
from support.research.parts import CONTACT, ResearchParts, research_parts

ATTENTION, RESNET = KNOWN[0], KNOWN[1]


@pytest.fixture
async def parts() -> AsyncGenerator[ResearchParts]:
    async with research_parts() as made:
        yield made


def query(text: str, limit: int = 10) -> Query:
    return Query(text=text, limit=limit)


async def test_thirty_papers_are_found_by_title_and_ids_and_each_is_one(parts: ResearchParts) -> None:
    for one in KNOWN:
        by_title = (await parts.papers.search(query(f"{one.title} {one.authors[0]}"))).papers
        mine = [paper for paper in by_title if paper.title == one.title]
        assert len(mine) == 1, (one.title, by_title)
        assert (mine[0].doi, mine[0].arxiv_id) == (one.doi, one.arxiv), one.title
        for name in filter(None, (one.doi, one.arxiv, one.openalex, one.s2)):
            found = await parts.papers.details(parse_id(name))
            (paper,) = found.papers
            assert paper.title == one.title
            assert not found.notices
            assert (paper.doi or one.doi, paper.arxiv_id or one.arxiv) == (one.doi, one.arxiv), (name, paper)


async def test_no_file_makes_a_corpus_longer_than_it_may_be(parts: ResearchParts) -> None:
    store = MemoryCorpus()
    at = datetime(2026, 1, 1, tzinfo=UTC)
    corpus = Corpus(store=store, papers=parts.papers, now=lambda: at, within=Bounds(characters=25_000))
    for number in (1, 2):
        long = [Entry(paper=Paper(title=f"Title {number}", abstract="x" * 10_000))]
        await corpus.take_in(UserId("anna"), long, [])
    with pytest.raises(CorpusFullError):
        await corpus.take_in(UserId("anna"), [Entry(paper=Paper(title="Third", abstract="x" * 10_000))], [])
    assert len(store.kept) == 2


class Feed:
    """`Ask` of a source that sends this text."""

    def __init__(self, text: str) -> None:
        self._text = text

    async def text(self, path: str, params: Mapping[str, str | int | None]) -> str:
        del path, params
        return self._text

    async def json(self, path: str, params: Mapping[str, str | int | None]) -> Any:
        raise NotImplementedError


@pytest.mark.parametrize("inside", ["<a/>" * 300_000, "<a " + " ".join(f"a{one}=''" for one in range(300_000)) + "/>"])
async def test_a_feed_of_nothing_but_elements_is_refused_before_it_is_read(inside: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(SourceFaultError):
            await ARXIV.search(Feed(f"<feed>{inside}</feed>"), query("anything"))
        assert tracemalloc.get_traced_memory()[1] < 4 * len(inside)
    finally:
        tracemalloc.stop()


async def test_thirty_papers_by_all_their_names_are_thirty_records(parts: ResearchParts) -> None:
    store = MemoryCorpus()
    corpus = Corpus(store=store, papers=parts.papers, now=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    for one in KNOWN:
        found = (await parts.papers.search(query(f"{one.title} {one.authors[0]}"))).papers
        by_title = next(paper for paper in found if paper.title == one.title)
        assert by_title.id is not None
        names = [by_title.id, *(parse_id(name) for name in (one.doi, one.arxiv) if name)]
        added = [await corpus.add(UserId("anna"), name, by="person") for name in names]
        assert [each.is_new for each in added] == [True] + [False] * (len(names) - 1), one.title
    assert sorted(one.paper.title for one in store.kept.values()) == sorted(one.title for one in KNOWN)
    assert len(store.kept) == 30


async def test_sources_fill_each_others_gaps(parts: ResearchParts) -> None:
    (paper,) = (await parts.papers.details(parse_id(RESNET.doi))).papers
    assert (paper.source, paper.abstract, paper.citations) == ("openalex", RESNET.abstract, 1_001)
    assert (paper.doi, paper.arxiv_id, paper.s2_id) == (RESNET.doi, RESNET.arxiv, RESNET.s2)
    (gone,) = (await parts.papers.details(parse_id("10.1000/gone.2012.1"))).papers
    assert gone.is_retracted


async def test_keys_and_contact_are_sent_to_their_own_source_alone(parts: ResearchParts) -> None:
    await parts.papers.search(query("deep learning"))
    sent = {name: (path, headers) for name, path, headers in parts.fakes.asked}
    assert "api_key=key-of-openalex" in sent["openalex"][0]
    assert f"mailto={CONTACT.replace('@', '%40')}" in sent["crossref"][0]
    assert sent["semantic_scholar"][1]["x-api-key"] == "key-of-s2"
    for name in ("arxiv", "crossref", "semantic_scholar"):
        assert "key-of-openalex" not in sent[name][0]
    assert "x-api-key" not in sent["arxiv"][1]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("500", "responded with an error (500)"),
        ("html", "sent a web page instead of data"),
        ("cut", "incomplete or corrupt"),
        ("empty", "incomplete or corrupt"),
        ("throttled", "rate limiting"),
        ("forbidden", "needs a key"),
    ],
)
@pytest.mark.parametrize(("name", "label"), [("openalex", "OpenAlex"), ("arxiv", "arXiv")])
async def test_a_source_that_fails_costs_one_notice(
    parts: ResearchParts, fault: Fault, said: str, name: str, label: str
) -> None:
    parts.fakes.faults[name] = fault
    found = await parts.papers.search(query(RESNET.title))
    assert [paper.title for paper in found.papers][:1] == [RESNET.title]
    (notice,) = found.notices
    assert notice.startswith(label)
    assert said in notice
    assert [host for host, status, _ in parts.throttle.learned if status == 429] == (
        [parts.fakes.urls[name].removeprefix("http://")] if fault == "throttled" else []
    )


async def test_a_source_that_is_slow_or_away_is_not_waited_for() -> None:
    async with research_parts(source_s=0.5) as parts:
        parts.fakes.faults["semantic_scholar"] = "slow"
        found = await parts.papers.search(query(RESNET.title))
        assert found.papers
        assert [one for one in found.notices if one.startswith("Semantic Scholar has not answered within")]
    async with research_parts() as parts:
        parts.fakes.urls["crossref"] = "http://127.0.0.1:9"
        (notice,) = (await parts.papers.search(query(RESNET.title))).notices
        assert notice.startswith("Crossref can't be reached")


async def test_where_all_fail_it_is_an_error_and_what_is_in_none_is_not_found(parts: ResearchParts) -> None:
    with pytest.raises(PaperNotFoundError, match=r"No source has a paper with the id 10\.1000/nothing"):
        await parts.papers.details(parse_id("10.1000/nothing"))
    with pytest.raises(PaperNotFoundError):
        await parts.papers.details(parse_id("2401.00001"))
    for name in parts.fakes.urls:
        parts.fakes.faults[name] = "500"
    with pytest.raises(SourcesFailedError, match="OpenAlex responded with an error"):
        await parts.papers.search(query("deep learning"))
    with pytest.raises(SourcesFailedError):
        await parts.papers.details(parse_id(RESNET.doi))


async def test_a_paper_is_not_called_unknown_while_a_source_has_not_answered(parts: ResearchParts) -> None:
    parts.fakes.faults["crossref"] = "500"
    with pytest.raises(
        SourcesFailedError, match=r"None of the sources that responded has a paper with the id .* Crossref"
    ):
        await parts.papers.details(parse_id("10.1000/nothing"))


async def test_many_that_want_one_paper_share_a_look_up(parts: ResearchParts) -> None:
    name = parse_id(RESNET.doi)
    found = await asyncio.gather(*(parts.papers.details(name) for _ in range(20)))
    assert {one.papers[0].title for one in found} == {RESNET.title}
    alone = asyncio.create_task(parts.papers.details(parse_id(RESNET.arxiv)))
    await asyncio.sleep(0)
    alone.cancel()
    assert (await parts.papers.details(parse_id(RESNET.arxiv))).papers[0].title == RESNET.title


async def test_an_answer_is_kept_by_each_id_for_a_week_and_one_with_a_notice_is_not(parts: ResearchParts) -> None:
    await parts.papers.details(parse_id(RESNET.doi))
    count = len(parts.fakes.asked)
    for name in (RESNET.doi, RESNET.arxiv, RESNET.openalex, RESNET.s2):
        assert (await parts.papers.details(parse_id(name))).papers[0].title == RESNET.title
    assert len(parts.fakes.asked) == count
    assert set(parts.answers.within_s.values()) == {7 * 24 * 3_600}
    parts.fakes.faults["crossref"] = "500"
    await parts.papers.details(parse_id(KNOWN[2].doi))
    assert f"paper:doi:{KNOWN[2].doi}" not in parts.answers.kept


@pytest.mark.parametrize("one", [KNOWN[5], KNOWN[6]], ids=lambda one: one.title[:10])
async def test_citations_references_and_likes_of_a_paper_by_any_id(parts: ResearchParts, one: KnownPaper) -> None:
    at = one.number
    for name in (one.doi, one.arxiv, one.s2, one.openalex):
        cites = {paper.title for paper in (await parts.papers.related(parse_id(name), "citations", 10)).papers}
        assert cites == {other.title for other in KNOWN[at + 1 : at + 4]}, name
        cited = {paper.title for paper in (await parts.papers.related(parse_id(name), "references", 10)).papers}
        assert cited >= {other.title for other in KNOWN[at - 3 : at]}
        like = (await parts.papers.related(parse_id(name), "recommended", 3)).papers
        assert 0 < len(like) <= 3
    count = len(parts.fakes.asked)
    await parts.papers.related(parse_id(one.doi), "citations", 10)
    assert len(parts.fakes.asked) == count, "kept"


async def test_papers_of_an_author_are_found(parts: ResearchParts) -> None:
    found = await parts.papers.by_author("Yoshua Bengio", 20)
    assert {"Deep learning", "Generative Adversarial Networks"} <= {paper.title for paper in found.papers}


async def test_code_and_data_come_from_pages_of_papers(parts: ResearchParts) -> None:
    code = await parts.texts.code(parse_id(ATTENTION.arxiv))
    assert [one.url for one in code.links] == [
        "https://github.com/example/attention",
        "https://huggingface.co/example/models-of-attention",
        "https://github.com/example/official",
    ]
    data = await parts.texts.data(parse_id(ATTENTION.arxiv))
    assert [one.url for one in data.links] == [
        "https://huggingface.co/datasets/example/datasets-of-attention",
        "https://example.org/wmt",
    ]
    parts.fakes.faults["papers_with_code"] = "html"
    (notice,) = (await parts.texts.code(parse_id(ATTENTION.arxiv))).notices
    assert "web page" in notice
    none = await parts.texts.code(parse_id(KNOWN[2].doi))
    assert none.links == []
    assert "no arXiv id" in none.notices[0]


async def test_a_call_that_is_cancelled_asks_nobody_any_more(parts: ResearchParts) -> None:
    parts.fakes.faults["openalex"] = "slow"
    search = asyncio.create_task(parts.papers.search(query("deep learning")))
    async with asyncio.timeout(10):
        while not parts.fakes.asked_of("openalex"):
            await asyncio.sleep(0.01)
    search.cancel()
    with pytest.raises(asyncio.CancelledError):
        await search
