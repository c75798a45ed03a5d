"""`project_create` and its siblings: the agent writes with the person, and cites papers of the corpus."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from backend_api.agent.tool import Done, Tool, ToolCall
from backend_api.agent.tools.local import Arguments, Line, local_tool
from backend_api.kit.errors import ConflictError, InvalidError, NotFoundError, TooLargeError, UpstreamError
from backend_api.kit.ids import UserId
from backend_api.research.tools import Budget
from backend_api.writing.application import Writing
from backend_api.writing.domain import (
    MAX_AUTHORS,
    MAX_BRIEF_CHARACTERS,
    MAX_INSTRUCTION_CHARACTERS,
    MAX_LEVEL,
    MAX_SECTIONS,
    MAX_TEXT_CHARACTERS,
    MAX_TITLE_CHARACTERS,
    Author,
    Heading,
    Kind,
    Project,
    ProjectId,
    SectionId,
    Settings,
)
from backend_api.writing.errors import TextChangedError
from backend_api.writing.listing import (
    UNTRUSTED,
    changed_text,
    check_text,
    draft_text,
    outline_text,
    projects_text,
    references_text,
    section_text,
)
from backend_api.writing.styles import STYLES

DEADLINE_MS = 60_000
_ETAG = "The etag it was read with; none where it has no text yet."
StyleName = Annotated[str, Field(max_length=60, json_schema_extra={"enum": [one.name for one in STYLES]})]
A = TypeVar("A", bound=Arguments)
Work = Callable[[ToolCall, A], Awaitable[Done]]


class CreateArguments(Arguments):
    title: Line = Field(min_length=1, max_length=MAX_TITLE_CHARACTERS)
    kind: Kind = "paper"
    style: StyleName = Field(default="apa", description="Of citations.")
    language: Line = Field(default="en", max_length=35, description="Of the text, such as en, zh or de.")
    authors: list[Line] = Field(default_factory=list[Line], max_length=MAX_AUTHORS)


class ListArguments(Arguments):
    only_here: bool = Field(default=False, description="Only those of this conversation.")
    cursor: str | None = Field(default=None, max_length=200)


class ProjectArguments(Arguments):
    project: Line = Field(min_length=1, max_length=60, description="Its id, as project_list tells it.")


class HeadingArguments(Arguments):
    title: Line = Field(min_length=1, max_length=MAX_TITLE_CHARACTERS)
    level: int = Field(default=1, ge=1, le=MAX_LEVEL)
    brief: str = Field(default="", max_length=MAX_BRIEF_CHARACTERS, description="What is to stand in it.")
    id: Line | None = Field(default=None, max_length=40, description="Of a section that is there; none: a new one.")


class OutlineArguments(ProjectArguments):
    outline: list[HeadingArguments] = Field(max_length=MAX_SECTIONS, description="All sections, in their order.")
    etag: str = Field(default="", max_length=64, description="Of the outline as it was read; none where it is empty.")
    drop: bool = Field(default=False, description="Sections with a text that are left out may go.")


class SectionArguments(ProjectArguments):
    section: Line = Field(min_length=1, max_length=40, description="Its id, as draft_read tells it.")


class WriteArguments(SectionArguments):
    text: str = Field(
        max_length=MAX_TEXT_CHARACTERS,
        description="All of it, in Markdown without its own heading; citations as [@key] of citation_add.",
    )
    etag: str = Field(default="", max_length=64, description=_ETAG)


class RefineArguments(SectionArguments):
    text: str = Field(max_length=MAX_TEXT_CHARACTERS, description="All of the text as you would have it.")
    instruction: str = Field(
        min_length=1,
        max_length=MAX_INSTRUCTION_CHARACTERS,
        description="What was wanted of it, for the person to read.",
    )
    etag: str = Field(default="", max_length=64, description=_ETAG)


class ReadArguments(SectionArguments):
    start: int = Field(default=0, ge=0, le=10_000_000, description="Character to read on at.")


class CiteArguments(ProjectArguments):
    record: Line = Field(min_length=1, max_length=60, description="The id of the paper, as corpus_list tells it.")
    section: Line | None = Field(default=None, max_length=40)
    after: str = Field(
        default="", max_length=500, description="A text that stands in the section once, to put the citation behind."
    )


class DraftArguments(ProjectArguments):
    part: Literal["outline", "whole"] = Field(default="outline", description="whole: with all texts.")
    start: int = Field(default=0, ge=0, le=10_000_000, description="Character of the whole to read on at.")


def writing_tools(writing: Writing | None, budget: Budget | None = None) -> list[Tool]:
    """The tools. Without `writing` they only describe themselves and can't be called."""

    def told(work: Work[A]) -> Work[A]:
        async def run_call(call: ToolCall, arguments: A) -> Done:
            try:
                return await work(call, arguments)
            except TextChangedError as error:
                return Done(success=False, output=changed_text(error))
            except (ConflictError, InvalidError, NotFoundError, TooLargeError, UpstreamError) as error:
                return Done(success=False, output=error.detail)

        return run_call

    def author(call: ToolCall) -> Author:
        return Author(kind="agent", session_id=call.session_id)

    async def project_of(call: ToolCall, arguments: ProjectArguments) -> Project:
        assert writing is not None
        return await writing.projects.get(UserId(call.user_id), ProjectId(arguments.project))

    async def create(call: ToolCall, arguments: CreateArguments) -> Done:
        assert writing is not None
        settings = Settings(
            title=arguments.title,
            kind=arguments.kind,
            style=arguments.style,
            language=arguments.language,
            authors=tuple(arguments.authors),
        )
        project = await writing.projects.create(UserId(call.user_id), settings, author(call))
        return Done(success=True, output=f"Created {project.id}. Set its outline next (outline_set).")

    async def list_projects(call: ToolCall, arguments: ListArguments) -> Done:
        assert writing is not None
        session_id = call.session_id if arguments.only_here else ""
        page = await writing.projects.page(
            UserId(call.user_id), session_id=session_id, limit=50, cursor=arguments.cursor
        )
        return Done(success=True, output=projects_text(page.items, page.next_cursor))

    async def set_outline(call: ToolCall, arguments: OutlineArguments) -> Done:
        assert writing is not None
        headings = [
            Heading(id=SectionId(one.id) if one.id else None, title=one.title, level=one.level, brief=one.brief)
            for one in arguments.outline
        ]
        project = await writing.projects.set_outline(
            *(UserId(call.user_id), ProjectId(arguments.project), headings, arguments.etag, author(call)),
            drop=arguments.drop,
        )
        return Done(success=True, output=outline_text(project))

    async def write(call: ToolCall, arguments: WriteArguments) -> Done:
        assert writing is not None
        section_id = SectionId(arguments.section)
        project = await writing.projects.write(
            UserId(call.user_id),
            ProjectId(arguments.project),
            section_id,
            arguments.text,
            arguments.etag,
            author(call),
        )
        section = project.section(section_id)
        return Done(success=True, output=f"Stored {section.id} {section.title}, etag {section.etag}.")

    async def refine(call: ToolCall, arguments: RefineArguments) -> Done:
        assert writing is not None
        await writing.projects.suggest(
            UserId(call.user_id),
            ProjectId(arguments.project),
            SectionId(arguments.section),
            arguments.text,
            arguments.instruction,
            arguments.etag,
            author(call),
        )
        return Done(success=True, output="The person sees your text beside the present one, and accepts or rejects it.")

    async def read(call: ToolCall, arguments: ReadArguments) -> Done:
        project = await project_of(call, arguments)
        return Done(success=True, output=section_text(project.section(SectionId(arguments.section)), arguments.start))

    async def cite(call: ToolCall, arguments: CiteArguments) -> Done:
        assert writing is not None
        section_id = SectionId(arguments.section) if arguments.section else None
        project, reference = await writing.cite(
            UserId(call.user_id),
            ProjectId(arguments.project),
            arguments.record,
            author(call),
            section_id,
            arguments.after,
        )
        etag = f" The section has the etag {project.section(section_id).etag}." if section_id else ""
        return Done(success=True, output=f"Cite it as [@{reference.key}].{etag}")

    async def check(call: ToolCall, arguments: ProjectArguments) -> Done:
        assert writing is not None
        project, notice = await project_of(call, arguments), ""
        if budget is not None:
            may, notice = await budget.spend(call)
            if not may:
                return Done(success=False, output=notice)
        found = await writing.check(UserId(call.user_id), project)
        told = f"{notice}\n" if notice else ""
        return Done(success=True, output=f"{told}{UNTRUSTED}\n\n{check_text(found)}")

    async def draft(call: ToolCall, arguments: DraftArguments) -> Done:
        assert writing is not None
        project = await project_of(call, arguments)
        if arguments.part == "whole":
            return Done(success=True, output=draft_text(project, arguments.start))
        known = await writing.records.of(UserId(call.user_id), [one.record_id for one in project.references])
        return Done(success=True, output=f"{outline_text(project)}\n\n{UNTRUSTED}\n{references_text(project, known)}")

    reads = partial(local_tool, effect="reads", deadline_ms=DEADLINE_MS)
    writes = partial(local_tool, effect="writes", deadline_ms=DEADLINE_MS)
    return [
        writes(
            name="project_create",
            description="Begin a paper, report, chapter or notes that you and the person write and export together.",
            arguments=CreateArguments,
            phrase="Beginning {title}",
            run_call=told(create),
        ),
        reads(
            name="project_list",
            description="The projects of writing, the one changed last first.",
            arguments=ListArguments,
            phrase="Looking through projects of writing",
            run_call=told(list_projects),
        ),
        writes(
            name="outline_set",
            description="Set the sections of a project: their titles, order and level. Their texts stay.",
            arguments=OutlineArguments,
            phrase="Setting the outline of {project}",
            run_call=told(set_outline),
        ),
        writes(
            name="section_write",
            description="Write the text of a section. One that somebody has changed since you read it stays as it is.",
            arguments=WriteArguments,
            phrase="Writing section {section}",
            run_call=told(write),
        ),
        writes(
            name="section_refine",
            description="Suggest another text for a section that has one; the person accepts or rejects it.",
            arguments=RefineArguments,
            phrase="Refining section {section}",
            run_call=told(refine),
        ),
        reads(
            name="section_read",
            description="The text of a section, with its etag.",
            arguments=ReadArguments,
            phrase="Reading section {section}",
            run_call=told(read),
        ),
        writes(
            name="citation_add",
            description="Put a paper of the corpus into the bibliography of a project; tells the key to cite it by.",
            arguments=CiteArguments,
            phrase="Citing {record}",
            run_call=told(cite),
        ),
        reads(
            name="citations_check",
            description="Compare all citations with their sources: keys, titles, authors, years, retractions.",
            arguments=ProjectArguments,
            phrase="Checking the citations of {project}",
            run_call=told(check),
        ),
        reads(
            name="draft_read",
            description="The outline of a project with etags and bibliography, or the whole draft.",
            arguments=DraftArguments,
            phrase="Reading the draft {project}",
            run_call=told(draft),
        ),
    ]
