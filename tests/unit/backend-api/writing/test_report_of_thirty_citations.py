"""A run writes a report of six pages with thirty citations, of which its model made up five: those are refused by the
check and marked in what is exported, and all others resolve."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pypdfium2
import pytest

from backend_api.agent.events import RunFinished, ToolFinished
from backend_api.agent.model import FinishPart, TextPart
from backend_api.agent.tools.local import LocalTools
from backend_api.agent.tools.task import task_tool
from backend_api.research.tools import Budget
from backend_api.writing.application import Writing
from backend_api.writing.checking import CheckCitations
from backend_api.writing.domain import Project
from backend_api.writing.errors import CitationsFailedError
from backend_api.writing.exporting import Export
from backend_api.writing.figures import CollectFigures
from backend_api.writing.ports import Rendering, UnusableFigure
from backend_api.writing.programs.running import ExportPrograms
from backend_api.writing.projects import Projects
from backend_api.writing.tools import writing_tools
from support.acting import Acting, call
from support.research.parts import MemoryAnswers
from support.scripted import call_tool
from support.stage import USER, Stage, worker_for, working
from support.writing import AT, MemoryProjects, MemoryRecords, paper

CALLS, STOP = FinishPart("tool_calls"), FinishPart("stop")
SECTIONS = ["Introduction", "Cathodes", "Anodes", "Electrolytes", "Cost", "Outlook"]
NAMES = ("Abel", "Bohr", "Curie", "Dirac", "Euler", "Fermi", "Gauss", "Hahn", "Ising", "Joule")
NO_FIGURES = CollectFigures(ending_of=lambda _: "png")
INVENTED = ["smith2023made", "jones2024never"]
SENTENCE = "The cells were cycled at room temperature and their capacity was measured after each hundred cycles"


class Report:
    """What a scripted model writes, step by step, by what stands in the store then."""

    def __init__(self, store: MemoryProjects, records: MemoryRecords) -> None:
        self.store = store
        for number in range(28):
            own = paper(
                f"Sodium study {number}", f"{NAMES[number % 10]}{number}", year=1990 + number, doi=f"10.1000/n{number}"
            )
            records.add(f"rec_{number}", own)
        # Three that stand in the corpus, and are not what their sources tell, or are withdrawn.
        one, two, three = (records.kept[f"rec_{number}"].paper for number in (25, 26, 27))
        records.add("rec_25", one, told=paper("Another study", *one.authors, year=one.year, doi=one.doi))
        records.add("rec_26", two, told=paper(two.title, "Somebody Else", year=two.year, doi=two.doi))
        records.add(
            "rec_27", three, told=paper(three.title, *three.authors, year=three.year, doi=three.doi, is_retracted=True)
        )

    @property
    def project(self) -> Project:
        (project,) = self.store.kept.values()
        return project

    def step(self, number: int) -> list[Any]:
        if number == 0:
            return [call("project_create", title="Sodium-ion batteries", kind="report"), CALLS]
        if number == 1:
            outline = [{"title": title} for title in SECTIONS]
            etag = self.project.outline_etag
            return [call("outline_set", project=self.project.id, outline=outline, etag=etag), CALLS]
        if number == 2:
            cites = [call("citation_add", project=self.project.id, record=f"rec_{one}") for one in range(28)]
            return [*cites, CALLS]
        if number == 3:
            writes = [
                call("section_write", project=self.project.id, section=one.id, text=self.text_of(at))
                for at, one in enumerate(self.project.sections)
            ]
            return [*writes, CALLS]
        if number == 4:
            return [call("citations_check", project=self.project.id), CALLS]
        return [TextPart("Five of the citations do not hold."), STOP]

    def text_of(self, section: int) -> str:
        """Five citations each, and so much text that each section fills a page."""
        keys = [*(one.key for one in self.project.references), *INVENTED]
        lines = [f"{SENTENCE} [@{key}]." for key in keys[section * 5 : section * 5 + 5]]
        return "\n\n".join(f"{line} {f'{SENTENCE}. ' * 6}" for line in lines)


async def test_twenty_five_of_thirty_citations_resolve_and_the_five_planted_ones_are_refused_and_marked() -> None:
    store, records, answers = MemoryProjects(), MemoryRecords(), MemoryAnswers()
    check = CheckCitations(records=records)
    export = Export(records=records, check=check, figures=NO_FIGURES, renderer=ExportPrograms())
    projects = Projects(store=store, now=lambda: AT)
    writing = Writing(projects=projects, records=records, check=check, export=export)
    report, stage = Report(store, records), Stage()
    tools = writing_tools(writing, Budget(answers=answers, most=100))
    session = await stage.open_session(title="named")
    async with working(
        worker_for(stage, Acting(report.step, lambda _task, _number: []), LocalTools([*tools, task_tool()]))
    ):
        run = await stage.say(session, "Write a report of six pages on sodium-ion batteries")
        assert isinstance(await stage.until_finished(run), RunFinished)
    finished = stage.payloads(session, ToolFinished)
    assert all(one.success for one in finished), [one.preview for one in finished if not one.success]

    planted = {*INVENTED, *(one.key for one in report.project.references[25:])}
    told = next(one.preview for one in finished if "keys are cited in" in one.preview)
    assert told.count("30 keys are cited in 30 places") == 1
    assert set(re.findall(r"- error \w+ @(\S+)", told)) == planted
    assert answers.calls == {run: 1}, "the check counts among the calls to sources"

    async def no_figure(_path: str, _most: int) -> bytes | None:
        return None

    with pytest.raises(CitationsFailedError) as refused:
        await export(USER, report.project, "html", no_figure)
    assert {one.key for one in refused.value.findings} == planted
    page = (await export(USER, report.project, "html", no_figure, anyway=True)).decode()
    marks = re.findall(r"<strong>\[[^\]<]*: ([\w-]+)\]</strong>", page)
    assert (set(marks), len(marks)) == (planted, 5)
    references = re.findall(r'id="ref-([\w-]+)"', page)
    assert len({*references} - planted) == 25
    pdf = await export(USER, report.project, "pdf", no_figure, anyway=True)
    assert len(pypdfium2.PdfDocument(pdf)) >= 6


async def test_a_run_that_has_used_up_its_calls_to_sources_checks_no_citations() -> None:
    store, records, answers = MemoryProjects(), MemoryRecords(), MemoryAnswers()
    check = CheckCitations(records=records)

    class NoRenderer:
        async def render(self, wanted: Rendering) -> bytes:
            raise NotImplementedError

        async def unusable(self, owner: str, figures: Mapping[str, bytes]) -> Mapping[str, UnusableFigure]:
            return {}

    export = Export(records=records, check=check, figures=NO_FIGURES, renderer=NoRenderer())
    writing = Writing(projects=Projects(store=store, now=lambda: AT), records=records, check=check, export=export)
    tools = LocalTools(writing_tools(writing, Budget(answers=answers, most=1)))
    await call_tool(tools, "project_create", {"title": "A study"})
    (name,) = store.kept
    first, second = [await call_tool(tools, "citations_check", {"project": name}) for _ in range(2)]
    assert first.success
    assert "left in this run: 0 of 1" in first.output
    assert not second.success
    assert "RESEARCH_MAX_CALLS" in second.output
