"""The papers that come with the product: found without a network, and asked where the demo model is all there is."""

from __future__ import annotations

from typing import Any

from backend_api.agent.model import ModelInfo
from backend_api.models.demo.model import DEMO_MODEL
from backend_api.research.module import plan_research
from backend_api.research.papers import Papers
from backend_api.research.ports import Query, Source
from backend_api.research.sources.registry import SOURCES
from backend_api.research.sources.shipped import PAPERS, SHIPPED
from support.research.parts import MemoryAnswers


def nothing_is_asked(source: Source) -> Any:
    return source


async def test_all_are_found_by_subject_and_each_by_its_id() -> None:
    papers = Papers(sources=[SHIPPED], ask=nothing_is_asked, answers=MemoryAnswers())
    found = await papers.search(Query(text="neural networks language", limit=8))
    assert [one.title for one in found.papers] == [one.title for one in PAPERS]
    for one in PAPERS:
        assert (await papers.details(one.ids[0])).papers[0].title == one.title
    assert (await papers.search(Query(text="sodium cathodes", limit=8))).papers == []


def test_they_are_asked_where_the_demo_model_is_all_there_is() -> None:
    real = ModelInfo(id="real", label="Real", provider="openai")
    assert plan_research([DEMO_MODEL]).ports["paper_sources"] == (*SOURCES, SHIPPED)
    assert plan_research([real, DEMO_MODEL]).ports["paper_sources"] == SOURCES
