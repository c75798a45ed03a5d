"""The tools of papers: bounded, marked as the words of others, within what a run may ask."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

import pytest

from backend_api.agent.tool import Done
from backend_api.agent.tools.local import LocalTools
from backend_api.research.findings import ReadTexts
from backend_api.research.identity import parse_id
from backend_api.research.listing import MAX_CHARACTERS, UNTRUSTED
from backend_api.research.tools import Budget, paper_tools
from contracts.tools import SearchDisplay
from support.research.known_papers import KNOWN
from support.research.parts import ResearchParts, research_parts
from support.scripted import call_tool

ORDERS = KNOWN[-1]
ALL = {
    "papers_search": {"query": "Deep learning"},
    "paper_details": {"id": KNOWN[2].doi},
    "paper_read": {"id": KNOWN[2].doi},
    "paper_citations": {"id": KNOWN[2].doi},
    "paper_references": {"id": KNOWN[2].doi},
    "papers_recommend": {"id": KNOWN[2].doi},
    "papers_by_author": {"name": "Yoshua Bengio"},
    "paper_code": {"id": KNOWN[0].arxiv},
    "paper_data": {"id": KNOWN[0].arxiv},
}


@dataclass(frozen=True, slots=True)
class Tools:
    parts: ResearchParts
    source: LocalTools

    async def call(self, tool: str, /, **arguments: Any) -> Done:
        return await call_tool(self.source, tool, arguments)


def tools_of(parts: ResearchParts, most: int = 0) -> Tools:
    budget = Budget(answers=parts.answers, most=most)
    return Tools(parts, LocalTools(paper_tools(parts.papers, parts.texts, budget)))


@pytest.fixture
async def tools() -> AsyncGenerator[Tools]:
    async with research_parts() as parts:
        yield tools_of(parts)


def test_all_only_read_and_say_what_they_do() -> None:
    specs = [tool.spec for tool in paper_tools(None, None, None)]
    assert {spec.name for spec in specs} == set(ALL)
    assert all(spec.read_only and not spec.needs_sandbox and "{" in spec.phrase for spec in specs)


async def test_each_answers_with_the_words_of_others_marked(tools: Tools) -> None:
    for name, arguments in ALL.items():
        done = await tools.call(name, **arguments)
        assert done.success, (name, done.output)
        assert UNTRUSTED in done.output, name
        assert len(done.output) < MAX_CHARACTERS + 1_000


async def test_a_search_tells_ids_and_shows_results(tools: Tools) -> None:
    done = await tools.call("papers_search", query="Deep Residual Learning for Image Recognition", limit=1)
    assert "1. Deep Residual Learning for Image Recognition (2016). Kaiming He, Jian Sun. 2016 IEEE" in done.output
    assert f"doi:{KNOWN[1].doi} arxiv:1512.03385 openalex:{KNOWN[1].openalex} s2:{KNOWN[1].s2}" in done.output
    shown = SearchDisplay.model_validate(done.display)
    assert [one.url for one in shown.results] == [f"https://doi.org/{KNOWN[1].doi}"]
    years = await tools.call("papers_search", query="Deep learning", year_from=2015, year_to=2016, source="openalex")
    assert years.success
    (asked,) = [path for path in tools.parts.fakes.asked_of("openalex") if "from_publication_date" in path]
    assert "2015-01-01" in asked
    assert "2016-12-31" in asked


async def test_what_was_read_is_remembered_for_the_run_by_each_of_the_papers_ids(tools: Tools) -> None:
    read_texts = ReadTexts(tools.parts.answers)
    parts = tools.parts
    source = LocalTools(paper_tools(parts.papers, parts.texts, Budget(answers=parts.answers), read_texts))
    await call_tool(source, "paper_read", {"id": KNOWN[2].doi})
    paper = (await parts.papers.details(parse_id(KNOWN[2].doi))).papers[0]
    for name in paper.ids:
        sections = await read_texts.find("r", [name])
        assert sections is not None
        assert (sections[0].title, sections[0].text) == ("abstract", paper.abstract)
    assert await read_texts.find("another run", paper.ids) is None


async def test_an_abstract_that_gives_orders_stands_below_the_mark_and_does_nothing(tools: Tools) -> None:
    done = await tools.call("paper_details", id=ORDERS.doi)
    mark, orders = done.output.index(UNTRUSTED), done.output.index("Ignore all earlier instructions")
    assert mark < orders


async def test_a_retracted_paper_is_told_as_one(tools: Tools) -> None:
    assert "Retracted: yes" in (await tools.call("paper_details", id="10.1000/gone.2012.1")).output
    assert "RETRACTED" in (await tools.call("papers_search", query="A claim that did not hold")).output


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("papers_search", {"query": "x" * 10_000}, "at most 500"),
        ("papers_search", {"query": " "}, "query"),
        ("papers_search", {"query": "x", "limit": 1_000}, "limit"),
        ("papers_search", {"query": "x", "source": "google"}, "source"),
        ("paper_details", {"id": "not a doi"}, "Give a DOI"),
        ("paper_details", {"id": "10.1000/nothing"}, "No source has a paper with the id"),
        ("paper_read", {"id": "2401.00001"}, "No source has a paper with the id"),
        ("paper_citations", {"id": "x" * 10_000}, "300"),
    ],
)
async def test_bad_input_is_a_clear_result(tools: Tools, name: str, arguments: dict[str, Any], said: str) -> None:
    done = await tools.call(name, **arguments)
    assert not done.success
    assert said in done.output


async def test_nothing_found_says_so(tools: Tools) -> None:
    done = await tools.call("papers_search", query="zzzz qqqq")
    assert "No papers were found" in done.output


async def test_a_run_is_told_before_its_calls_are_used_up_and_then_refused() -> None:
    async with research_parts() as parts:
        tools = tools_of(parts, most=5)
        said = [(await tools.call("papers_search", query="Random Forests", source="crossref")) for _ in range(6)]
        assert [one.success for one in said] == [True] * 5 + [False]
        assert "left in this run" not in said[0].output
        assert [one.output.partition("\n")[0] for one in said[1:5]] == [
            f"Calls to sources of papers left in this run: {left} of 5." for left in (3, 2, 1, 0)
        ]
        assert "all 5 of its calls" in said[5].output
        assert len(parts.fakes.asked_of("crossref")) == 5
