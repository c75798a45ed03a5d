"""Bodies of the routes of projects."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from backend_api.kit.http.schemas import AnswerBody, RequestBody, Time, Words
from backend_api.research.domain import Record
from backend_api.writing.checking import Check
from backend_api.writing.citations import Finding
from backend_api.writing.domain import (
    MAX_AUTHORS,
    MAX_BRIEF_CHARACTERS,
    MAX_NAME_CHARACTERS,
    MAX_SECTIONS,
    MAX_TEXT_CHARACTERS,
    MAX_TITLE_CHARACTERS,
    Author,
    Kind,
    Project,
    Revision,
    Section,
    Suggestion,
    part_etag,
)


class AuthorBody(AnswerBody):
    kind: str = Field(description="`person` or `agent`.")
    session_id: str = Field(description="The conversation of the agent.")


class SuggestionBody(AnswerBody):
    id: str
    text: str
    instruction: str
    is_stale: bool = Field(description="The section was changed after it was made.")
    author: AuthorBody
    at: Time


class SectionBody(AnswerBody):
    id: str
    title: str
    level: int
    brief: str
    text: str
    etag: str
    suggestion: SuggestionBody | None


class ReferenceBody(AnswerBody):
    key: str
    record_id: str
    title: str = Field(description="Empty: its record is gone.")
    authors: list[str]
    year: int | None
    venue: str
    url: str
    is_retracted: bool
    is_imported: bool


class ListedProjectBody(AnswerBody):
    id: str
    title: str
    kind: str
    style: str
    language: str
    sections: int
    sessions: list[str]
    created_at: Time
    updated_at: Time


class ProjectPageBody(AnswerBody):
    is_enabled: bool
    items: list[ListedProjectBody]
    next_cursor: str | None


class ProjectBody(AnswerBody):
    id: str
    title: str
    kind: str
    style: str
    language: str
    authors: list[str]
    etag: str = Field(description="Of what stands above.")
    sections: list[SectionBody]
    outline_etag: str
    bibliography: list[ReferenceBody]
    sessions: list[str]
    created_at: Time
    updated_at: Time


class RevisionBody(AnswerBody):
    id: str
    part: str = Field(description="The id of a section, `outline` or `project`.")
    title: str
    change: str = Field(description="`created`, `settings`, `outline`, `written`, `accepted` or `restored`.")
    author: AuthorBody
    at: Time
    etag: str


class WholeRevisionBody(RevisionBody):
    text: str


class RevisionPageBody(AnswerBody):
    items: list[RevisionBody]
    next_cursor: str | None


class FindingBody(AnswerBody):
    code: str
    severity: str = Field(description="`error`: it is not exported as if it held. `warning`: it is told alone.")
    detail: str
    key: str
    record_id: str
    section_id: str
    at: int = Field(description="Character of the section's text.")


class CheckBody(AnswerBody):
    findings: list[FindingBody]
    cited: int
    places: int
    records: int


class StyleBody(AnswerBody):
    name: str
    label: str


class PreviewBody(AnswerBody):
    html: str = Field(description="Without a page around it, for a page that cleans it.")


class CreateBody(RequestBody):
    title: Words = Field(min_length=1, max_length=MAX_TITLE_CHARACTERS)
    kind: Kind = "paper"
    style: str = Field(default="apa", max_length=60)
    language: str = Field(default="en", max_length=35)
    authors: list[str] = Field(default_factory=list[str], max_length=MAX_AUTHORS)
    session_id: str | None = Field(default=None, max_length=100, description="A conversation that it belongs to.")


class SettingsBody(RequestBody):
    title: Words | None = Field(default=None, min_length=1, max_length=MAX_TITLE_CHARACTERS)
    kind: Kind | None = None
    style: str | None = Field(default=None, max_length=60)
    language: str | None = Field(default=None, max_length=35)
    authors: list[str] | None = Field(default=None, max_length=MAX_AUTHORS)


class HeadingBody(RequestBody):
    id: str | None = Field(default=None, max_length=40, description="Of a section that is there; none: a new one.")
    title: Words = Field(min_length=1, max_length=MAX_TITLE_CHARACTERS)
    level: int = Field(default=1, ge=1, le=4)
    brief: str = Field(default="", max_length=MAX_BRIEF_CHARACTERS)


class OutlineBody(RequestBody):
    outline: list[HeadingBody] = Field(max_length=MAX_SECTIONS)
    drop: bool = Field(default=False, description="Sections with a text that are left out may go.")


class TextBody(RequestBody):
    text: str = Field(max_length=MAX_TEXT_CHARACTERS)
    of_suggestion: str = Field(
        default="",
        max_length=40,
        description="The suggestion that changes of the text are taken from, if any: it stays for the others.",
    )


class SuggestBody(RequestBody):
    text: str = Field(max_length=MAX_TEXT_CHARACTERS)
    instruction: str = Field(default="", max_length=2_000)


class AcceptBody(RequestBody):
    text: str | None = Field(
        default=None, max_length=MAX_TEXT_CHARACTERS, description="What the person made of it; none: as it is."
    )


class CiteBody(RequestBody):
    record_id: str = Field(min_length=1, max_length=MAX_NAME_CHARACTERS)


def author_body(author: Author) -> AuthorBody:
    return AuthorBody(kind=author.kind, session_id=author.session_id)


def section_body(section: Section) -> SectionBody:
    return SectionBody(
        id=section.id,
        title=section.title,
        level=section.level,
        brief=section.brief,
        text=section.text,
        etag=section.etag,
        suggestion=_suggestion_body(section, section.suggestion) if section.suggestion else None,
    )


def _suggestion_body(section: Section, suggestion: Suggestion) -> SuggestionBody:
    return SuggestionBody(
        id=suggestion.id,
        text=suggestion.text,
        instruction=suggestion.instruction,
        is_stale=suggestion.base != section.version,
        author=author_body(suggestion.author),
        at=suggestion.at,
    )


def listed_body(project: Project) -> ListedProjectBody:
    settings = project.settings
    return ListedProjectBody(
        id=project.id,
        title=settings.title,
        kind=settings.kind,
        style=settings.style,
        language=settings.language,
        sections=len(project.sections),
        sessions=list(project.sessions),
        created_at=project.created_at,
        updated_at=project.updated_at,
    )


def project_body(project: Project, known: Mapping[str, Record]) -> ProjectBody:
    settings = project.settings
    return ProjectBody(
        id=project.id,
        title=settings.title,
        kind=settings.kind,
        style=settings.style,
        language=settings.language,
        authors=list(settings.authors),
        etag=project.etag,
        sections=[section_body(one) for one in project.sections],
        outline_etag=project.outline_etag,
        bibliography=[_reference_body(one.key, one.record_id, known.get(one.record_id)) for one in project.references],
        sessions=list(project.sessions),
        created_at=project.created_at,
        updated_at=project.updated_at,
    )


def _reference_body(key: str, record_id: str, record: Record | None) -> ReferenceBody:
    paper = record.paper if record else None
    return ReferenceBody(
        key=key,
        record_id=record_id,
        title=paper.title if paper else "",
        authors=list(paper.authors) if paper else [],
        year=paper.year if paper else None,
        venue=paper.venue if paper else "",
        url=paper.address if paper else "",
        is_retracted=paper.is_retracted if paper else False,
        is_imported=record.is_imported if record else False,
    )


def revision_body(revision: Revision) -> RevisionBody:
    return RevisionBody.model_validate(_revision_fields(revision))


def whole_revision_body(revision: Revision) -> WholeRevisionBody:
    return WholeRevisionBody.model_validate({**_revision_fields(revision), "text": revision.text})


def _revision_fields(revision: Revision) -> dict[str, object]:
    return {
        "id": revision.id,
        "part": revision.part,
        "title": revision.title,
        "change": revision.change,
        "author": author_body(revision.author),
        "at": revision.at,
        "etag": part_etag(revision.project_id, revision.part, revision.version),
    }


def finding_body(finding: Finding) -> FindingBody:
    return FindingBody.model_validate(finding)


def check_body(check: Check) -> CheckBody:
    return CheckBody(
        findings=[finding_body(one) for one in check.findings],
        cited=check.cited,
        places=check.places,
        records=check.records,
    )
