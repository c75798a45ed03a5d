"""The tools of writing: what an agent reads is bounded, and who was late has what is needed to go on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from backend_api.agent.tool import Done
from backend_api.agent.tools.local import LocalTools
from backend_api.writing.application import Writing
from backend_api.writing.checking import CheckCitations
from backend_api.writing.exporting import Export
from backend_api.writing.figures import CollectFigures
from backend_api.writing.ports import Rendering, UnusableFigure
from backend_api.writing.projects import Projects
from backend_api.writing.tools import writing_tools
from support.scripted import call_tool
from support.writing import AT, MemoryProjects, MemoryRecords, paper


class NoRenderer:
    """`Renderer` that makes nothing."""

    async def render(self, wanted: Rendering) -> bytes:
        raise NotImplementedError

    async def unusable(self, owner: str, figures: Mapping[str, bytes]) -> Mapping[str, UnusableFigure]:
        return {}


class Tools:
    def __init__(self) -> None:
        self.store, self.records = MemoryProjects(), MemoryRecords()
        check = CheckCitations(records=self.records)
        writing = Writing(
            projects=Projects(store=self.store, now=lambda: AT),
            records=self.records,
            check=check,
            export=Export(
                records=self.records,
                check=check,
                figures=CollectFigures(ending_of=lambda _: "png"),
                renderer=NoRenderer(),
            ),
        )
        self._source = LocalTools(writing_tools(writing))

    async def call(self, tool: str, /, **arguments: Any) -> Done:
        return await call_tool(self._source, tool, arguments)

    async def begin(self) -> str:
        await self.call("project_create", title="A study")
        (name,) = self.store.kept
        await self.call("outline_set", project=name, outline=[{"title": "Introduction"}], etag=self.etag("outline"))
        return name

    def etag(self, part: str) -> str:
        (project,) = self.store.kept.values()
        return project.outline_etag if part == "outline" else project.sections[0].etag


@pytest.fixture
def tools() -> Tools:
    return Tools()


def test_all_that_only_look_say_so() -> None:
    specs = {tool.spec.name: tool.spec.read_only for tool in writing_tools(None)}
    assert [name for name, reads in specs.items() if reads] == [
        "project_list",
        "section_read",
        "citations_check",
        "draft_read",
    ]
    assert len(specs) == 9


async def test_a_paper_is_written_with_citations_of_records(tools: Tools) -> None:
    name = await tools.begin()
    tools.records.add("rec_1", paper(doi="10.1038/nature14539"))
    cited = await tools.call("citation_add", project=name, record="rec_1")
    assert cited.output == "Cite it as [@lecun2015deep]."
    done = await tools.call("section_write", project=name, section="s1", text="Nets are deep.", etag="")
    assert done.success
    done = await tools.call("citation_add", project=name, record="rec_1", section="s1", after="deep")
    assert tools.etag("s1") in done.output
    read = await tools.call("section_read", project=name, section="s1")
    assert read.output.endswith("Nets are deep [@lecun2015deep].")
    draft = await tools.call("draft_read", project=name)
    assert "[@lecun2015deep] rec_1: Deep learning (2015)" in draft.output
    assert "# Introduction (s1)" in (await tools.call("draft_read", project=name, part="whole")).output
    assert "0 findings block the export" in (await tools.call("citations_check", project=name)).output
    assert name in (await tools.call("project_list")).output


async def test_who_writes_over_an_older_text_reads_the_present_one(tools: Tools) -> None:
    name = await tools.begin()
    await tools.call("section_write", project=name, section="s1", text="One.")
    older = tools.etag("s1")
    await tools.call("section_write", project=name, section="s1", text="Two.", etag=older)
    late = await tools.call("section_write", project=name, section="s1", text="Three.", etag=older)
    assert not late.success
    assert "-One.\n+Two." in late.output
    assert f"Current etag: {tools.etag('s1')}\nCurrent text:\nTwo." in late.output


async def test_a_refined_section_waits_for_the_person(tools: Tools) -> None:
    name = await tools.begin()
    await tools.call("section_write", project=name, section="s1", text="One.")
    arguments = {"project": name, "section": "s1", "text": "Better.", "instruction": "Make it better."}
    done = await tools.call("section_refine", **arguments, etag=tools.etag("s1"))
    assert done.success
    read = (await tools.call("section_read", project=name, section="s1")).output
    assert "One." in read
    assert "A suggestion waits for the person (Make it better.):\nBetter." in read


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("project_create", {"title": "A", "style": "my-own"}, "style"),
        ("section_write", {"project": "prj_none", "section": "s1", "text": "x"}, "no project"),
        ("citation_add", {"record": "rec_none"}, "Keep the paper first"),
        ("citation_add", {"record": "rec_none", "section": "s1", "after": "not there"}, "once"),
        ("section_read", {"section": "s9"}, "no section"),
        ("outline_set", {"outline": [{"title": "A", "level": 9}]}, "level"),
    ],
)
async def test_what_can_not_be_done_is_said(tools: Tools, tool: str, arguments: dict[str, Any], says: str) -> None:
    name = await tools.begin()
    wanted = arguments if tool == "project_create" else {"project": name, **arguments}
    done = await tools.call(tool, **wanted)
    assert not done.success
    assert says in done.output


async def test_a_long_draft_is_read_in_pieces(tools: Tools) -> None:
    name = await tools.begin()
    await tools.call("section_write", project=name, section="s1", text="word " * 19_000)
    first = (await tools.call("section_read", project=name, section="s1")).output
    assert len(first) < 61_000
    assert "read on with start 60000" in first
