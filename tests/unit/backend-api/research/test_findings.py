"""Findings hold to what was read: each has its record, its place, and the words that stand there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from backend_api.agent.capability import Setup
from backend_api.agent.tool import Done
from backend_api.agent.tools.local import LocalTools
from backend_api.kit.ids import UserId
from backend_api.research.domain import Paper, Record, RecordId
from backend_api.research.errors import RecordNotFoundError
from backend_api.research.findings import CheckFindings, ReadTexts, plain
from backend_api.research.findings_tools import FindingsTools, findings_tool
from backend_api.research.ports import Section
from contracts.tools import FindingsDisplay
from support.research.parts import MemoryAnswers
from support.scripted import call_tool

SECTIONS = [
    Section(title="Introduction", text="Trees need water to\ngrow tall and to stay alive in sum-\nmer.", page=1),
    Section(title="Results", text="“Ten of twelve trees” grew faster — by 4 % — when watered daily.", page=3),
]
ABSTRACT = "We watered twelve trees and measured how fast they grew."
QUOTE = "Trees need water to grow tall"


@dataclass(frozen=True, slots=True)
class Tools:
    source: LocalTools
    record: str

    async def submit(self, *findings: dict[str, Any]) -> Done:
        return await call_tool(self.source, "findings_submit", {"findings": list(findings)})

    def finding(self, **given: Any) -> dict[str, Any]:
        return {"claim": "Trees need water.", "record": self.record, "section": "1", "quote": QUOTE, **given}


RECORD = Record(
    id=RecordId("tree1"),
    user_id=UserId("u"),
    paper=Paper(title="Trees", doi="10.1000/trees", abstract=ABSTRACT),
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
    added_by="agent",
)


class OneRecord:
    """A corpus that holds it alone."""

    async def get(self, user_id: UserId, record_id: RecordId) -> Record:
        if (user_id, record_id) != (RECORD.user_id, RECORD.id):
            raise RecordNotFoundError("There is no such record.")
        return RECORD


async def made(*, reads: bool = True) -> Tools:
    texts = ReadTexts(MemoryAnswers())
    if reads:
        await texts.remember("r", RECORD.paper.ids, SECTIONS, ABSTRACT)
    return Tools(LocalTools([findings_tool(CheckFindings(corpus=OneRecord(), texts=texts))]), RECORD.id)


async def test_a_finding_whose_words_were_read_is_taken_with_its_place_and_shown_with_its_record() -> None:
    tools = await made()
    done = await tools.submit(
        tools.finding(),
        tools.finding(section="results", quote='"Ten of twelve trees" grew faster - by 4 %'),
        tools.finding(section="", page=2, quote="to stay alive in summer."),
        tools.finding(section="abstract", quote="We watered twelve trees"),
    )
    assert done.success, done.output
    shown = FindingsDisplay.model_validate(done.display)
    assert [one.place for one in shown.items] == [
        "1. Introduction (page 1)",
        "2. Results (page 3)",
        "1. Introduction (page 1)",
        "abstract",
    ]
    assert {one.record for one in shown.items} == {tools.record}
    assert shown.items[0].url.startswith("https://")
    assert f"[{tools.record}, 1. Introduction (page 1)] Trees need water." in done.output


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"record": ""}, "there is no record ''. Keep the paper with corpus_add"),
        ({"record": "made-up"}, "there is no record 'made-up'"),
        ({"section": ""}, "names no section or page"),
        ({"section": "7"}, "the paper has no such section or page. Sections: abstract; 1. Introduction"),
        ({"section": "2"}, "is in another place: 1. Introduction (page 1). Name that place."),
        ({"quote": "Trees need no water at all to grow"}, "is not in the text that was read"),
        ({"quote": "Trees"}, "shorter than 20 characters"),
        ({"quote": ""}, "shorter than 20 characters"),
    ],
)
async def test_one_that_does_not_hold_is_refused_with_what_to_do_and_the_others_stay(
    wrong: dict[str, Any], reason: str
) -> None:
    tools = await made()
    done = await tools.submit(tools.finding(**wrong), tools.finding())
    assert done.success
    assert reason in done.output.partition("Finding 1 was refused: ")[2]
    shown = FindingsDisplay.model_validate(done.display)
    assert (len(shown.items), shown.refused) == (1, 1)
    alone = await tools.submit(tools.finding(**wrong))
    assert (alone.success, alone.display) == (False, None)


async def test_what_another_run_has_read_is_not_quoted() -> None:
    tools = await made(reads=False)
    done = await tools.submit(tools.finding())
    assert not done.success
    assert "this run has not read that paper. Read it with paper_read" in done.output


async def test_only_agents_that_research_have_it() -> None:
    source = FindingsTools(CheckFindings(corpus=None, texts=None))  # type: ignore[arg-type]
    setup = Setup(now=lambda: None)  # type: ignore[arg-type,return-value]
    assert list(await source.tools(setup)) == []
    (tool,) = await source.tools(replace(setup, kind="research"))
    assert (tool.spec.name, tool.spec.read_only) == ("findings_submit", True)


def test_texts_are_compared_without_what_a_page_does_to_them() -> None:
    assert plain("“Effi-\ncient  ﬁts” — 5") == '"efficient fits" - 5'
