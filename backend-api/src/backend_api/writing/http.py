"""Routes of the caller's writing projects: outline, texts, citations, revisions, and documents."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Query, Response

from backend_api.conversations.application.session_sandbox import SessionSandbox
from backend_api.identity.http.caller import ONE_PLACE, CurrentCaller
from backend_api.kit.errors import DomainError
from backend_api.kit.http.examples import with_example
from backend_api.kit.http.ports import port
from backend_api.sandboxes.ports import Workspace
from backend_api.writing.application import Writing
from backend_api.writing.bodies import (
    AcceptBody,
    CheckBody,
    CiteBody,
    CreateBody,
    OutlineBody,
    PreviewBody,
    ProjectBody,
    ProjectPageBody,
    RevisionPageBody,
    SettingsBody,
    StyleBody,
    SuggestBody,
    TextBody,
    WholeRevisionBody,
    check_body,
    finding_body,
    listed_body,
    project_body,
    revision_body,
    whole_revision_body,
)
from backend_api.writing.domain import Author, Heading, Project, ProjectId, SectionId, Settings
from backend_api.writing.errors import CitationsFailedError, TextChangedError
from backend_api.writing.figure_files import figures_of
from backend_api.writing.ports import Format
from backend_api.writing.styles import STYLES
from contracts.errors import PROBLEM_MEDIA_TYPE
from service_kit.problems import domain_problem

router = APIRouter(prefix="/api/writing", tags=["writing"])
Use = Annotated[Writing, port("writing")]
Sandboxed = Annotated[SessionSandbox, port("session_sandbox")]
Files = Annotated[Workspace, port("workspace")]
Name = Annotated[str, Path(max_length=60)]
Key = Annotated[str, Path(max_length=100)]
IfMatch = Annotated[str, Header(max_length=100, description="The `etag` it was read with; none: it was empty.")]
PERSON = Author(kind="person")
_MEDIA: dict[Format, tuple[str, str]] = {
    "markdown": ("text/markdown; charset=utf-8", "md"),
    "latex": ("application/zip", "zip"),
    "pdf": ("application/pdf", "pdf"),
    "docx": ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
    "html": ("text/html; charset=utf-8", "html"),
}
_EXPORTED: dict[int | str, dict[str, Any]] = {
    200: {"content": {media.partition(";")[0]: {"schema": {"type": "string"}} for media, _ in _MEDIA.values()}},
    404: {},
    409: {},
    422: {},
}
_CHANGED: dict[int | str, dict[str, Any]] = {404: {}, 409: {}, 412: {}, 422: {}}


@router.get("")
async def list_projects(
    caller: CurrentCaller,
    writing: Use,
    session_id: Annotated[str, Query(max_length=100, pattern=r"^[^\x00]*$")] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
) -> ProjectPageBody:
    """List projects, last changed first."""
    if not writing.is_enabled:
        return ProjectPageBody(is_enabled=False, items=[], next_cursor=None)
    page = await writing.projects.page(caller.user.id, session_id=session_id, limit=limit, cursor=cursor)
    return ProjectPageBody(is_enabled=True, items=list(map(listed_body, page.items)), next_cursor=page.next_cursor)


@router.get("/styles")
async def list_styles(caller: CurrentCaller, writing: Use) -> list[StyleBody]:
    """List the citation styles."""
    del caller
    writing.enabled()
    return [StyleBody(name=one.name, label=one.label) for one in STYLES]


@router.post(
    "",
    status_code=201,
    responses={404: {}, 413: {}, 422: {}},
    openapi_extra=with_example({"title": "A review of cathodes", "kind": "paper", "style": "ieee", "language": "en"}),
)
async def create_project(body: CreateBody, caller: CurrentCaller, writing: Use) -> ProjectBody:
    """Create a project."""
    settings = Settings(
        title=body.title, kind=body.kind, style=body.style, language=body.language, authors=tuple(body.authors)
    )
    author = Author(kind="person", session_id=body.session_id or "")
    return await _body(writing, await writing.enabled().projects.create(caller.user.id, settings, author))


@router.get("/{project_id}", responses={404: {}})
async def get_project(project_id: Name, caller: CurrentCaller, writing: Use) -> ProjectBody:
    """Return one project with its texts, and the etag of each part."""
    return await _body(writing, await writing.enabled().projects.get(caller.user.id, ProjectId(project_id)))


@router.patch(
    "/{project_id}",
    response_model=ProjectBody,
    responses=_CHANGED,
    openapi_extra=with_example({"style": "nature", "authors": ["Anna Weber"]}),
)
async def change_project(
    project_id: Name, body: SettingsBody, caller: CurrentCaller, writing: Use, if_match: IfMatch = ""
) -> Any:
    """Change title, kind, style, language or authors, if they are unchanged since they were read."""

    def change(settings: Settings) -> Settings:
        return Settings(
            title=settings.title if body.title is None else body.title,
            kind=body.kind or settings.kind,
            style=settings.style if body.style is None else body.style,
            language=settings.language if body.language is None else body.language,
            authors=settings.authors if body.authors is None else tuple(body.authors),
        )

    use = writing.enabled()
    work = use.projects.set_settings(caller.user.id, ProjectId(project_id), change, _etag(if_match), PERSON)
    return await _answer(use, work)


@router.delete("/{project_id}", status_code=204, responses={404: {}})
async def delete_project(project_id: Name, caller: CurrentCaller, writing: Use) -> Response:
    """Delete a project with its revisions."""
    await writing.enabled().projects.delete(caller.user.id, ProjectId(project_id))
    return Response(status_code=204)


@router.put(
    "/{project_id}/outline",
    response_model=ProjectBody,
    responses=_CHANGED,
    openapi_extra=with_example(
        {"outline": [{"id": "s1", "title": "Introduction"}, {"title": "Method", "brief": "How it was measured."}]}
    ),
)
async def set_outline(
    project_id: Name, body: OutlineBody, caller: CurrentCaller, writing: Use, if_match: IfMatch = ""
) -> Any:
    """Set the sections, in their order. A section keeps its text."""
    use = writing.enabled()
    headings = [
        Heading(id=SectionId(one.id) if one.id else None, title=one.title, level=one.level, brief=one.brief)
        for one in body.outline
    ]
    work = use.projects.set_outline(
        caller.user.id, ProjectId(project_id), headings, _etag(if_match), PERSON, drop=body.drop
    )
    return await _answer(use, work)


@router.put(
    "/{project_id}/sections/{section_id}",
    response_model=ProjectBody,
    responses=_CHANGED | {413: {}},
    openapi_extra=with_example({"text": "Cathodes are old [@volta1800pile]."}),
)
async def write_section(
    project_id: Name, section_id: Name, body: TextBody, caller: CurrentCaller, writing: Use, if_match: IfMatch = ""
) -> Any:
    """Write the text of a section: 412 with the present text if it was changed since it was read."""
    use = writing.enabled()
    work = use.projects.write(
        caller.user.id,
        ProjectId(project_id),
        SectionId(section_id),
        body.text,
        _etag(if_match),
        PERSON,
        of_suggestion=body.of_suggestion,
    )
    return await _answer(use, work)


@router.post(
    "/{project_id}/sections/{section_id}/suggestion",
    response_model=ProjectBody,
    responses=_CHANGED | {413: {}},
    openapi_extra=with_example(
        {
            "text": "Cathodes are very old [@volta1800pile].",
            "instruction": "Say how old.",
        }
    ),
)
async def suggest_text(
    project_id: Name, section_id: Name, body: SuggestBody, caller: CurrentCaller, writing: Use, if_match: IfMatch = ""
) -> Any:
    """Suggest another text for a section, to be accepted or rejected."""
    use = writing.enabled()
    work = use.projects.suggest(
        caller.user.id,
        ProjectId(project_id),
        SectionId(section_id),
        body.text,
        body.instruction,
        _etag(if_match),
        PERSON,
    )
    return await _answer(use, work)


@router.post(
    "/{project_id}/sections/{section_id}/suggestion/{suggestion_id}",
    response_model=ProjectBody,
    responses=_CHANGED | {413: {}},
    openapi_extra=with_example({}),
)
async def accept_suggestion(
    project_id: Name,
    section_id: Name,
    suggestion_id: Name,
    body: AcceptBody,
    caller: CurrentCaller,
    writing: Use,
    if_match: IfMatch = "",
) -> Any:
    """Replace the text by a suggestion, or by an edited version of it."""
    use = writing.enabled()
    work = use.projects.accept(
        caller.user.id,
        ProjectId(project_id),
        SectionId(section_id),
        suggestion_id,
        _etag(if_match),
        PERSON,
        body.text,
    )
    return await _answer(use, work)


@router.delete("/{project_id}/sections/{section_id}/suggestion/{suggestion_id}", responses={404: {}, 409: {}})
async def reject_suggestion(
    project_id: Name, section_id: Name, suggestion_id: Name, caller: CurrentCaller, writing: Use
) -> ProjectBody:
    """Reject a suggestion."""
    use = writing.enabled()
    project = await use.projects.reject(
        caller.user.id, ProjectId(project_id), SectionId(section_id), suggestion_id, PERSON
    )
    return await _body(use, project)


@router.post(
    "/{project_id}/bibliography",
    status_code=201,
    responses={404: {}, 409: {}, 413: {}, 422: {}},
    openapi_extra=with_example({"record_id": "rec_3f6c0e0a9d5b4c7e8a1b2c3d4e5f6071"}),
)
async def add_reference(project_id: Name, body: CiteBody, caller: CurrentCaller, writing: Use) -> ProjectBody:
    """Add a record of the corpus to the bibliography."""
    use = writing.enabled()
    project, _ = await use.cite(caller.user.id, ProjectId(project_id), body.record_id, PERSON)
    return await _body(use, project)


@router.delete("/{project_id}/bibliography/{key}", responses={404: {}, 409: {}})
async def remove_reference(project_id: Name, key: Key, caller: CurrentCaller, writing: Use) -> ProjectBody:
    """Remove a paper from the bibliography; the record stays."""
    use = writing.enabled()
    return await _body(use, await use.projects.remove_reference(caller.user.id, ProjectId(project_id), key, PERSON))


@router.get("/{project_id}/revisions", responses={404: {}, 422: {}})
async def list_revisions(
    project_id: Name,
    caller: CurrentCaller,
    writing: Use,
    part: Annotated[str, Query(max_length=40, pattern=r"^[^\x00]*$")] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
) -> RevisionPageBody:
    """List changes, newest first: of one part, or of all."""
    page = await writing.enabled().projects.revisions(
        caller.user.id, ProjectId(project_id), part, limit=limit, cursor=cursor
    )
    return RevisionPageBody(items=list(map(revision_body, page.items)), next_cursor=page.next_cursor)


@router.get("/{project_id}/revisions/{revision_id}", responses={404: {}})
async def get_revision(project_id: Name, revision_id: Name, caller: CurrentCaller, writing: Use) -> WholeRevisionBody:
    """Return one revision with its text."""
    return whole_revision_body(
        await writing.enabled().projects.revision(caller.user.id, ProjectId(project_id), revision_id)
    )


@router.post("/{project_id}/revisions/{revision_id}/restore", response_model=ProjectBody, responses=_CHANGED)
async def restore_revision(
    project_id: Name, revision_id: Name, caller: CurrentCaller, writing: Use, if_match: IfMatch = ""
) -> Any:
    """Restore a part from a revision, as a change of its own."""
    use = writing.enabled()
    work = use.projects.restore(caller.user.id, ProjectId(project_id), revision_id, _etag(if_match), PERSON)
    return await _answer(use, work)


@router.post("/{project_id}/check", dependencies=[ONE_PLACE], responses={404: {}, 422: {}})
async def check_citations(
    project_id: Name, caller: CurrentCaller, writing: Use, session_sandbox: Sandboxed, workspace: Files
) -> CheckBody:
    """Compare all citations with their sources, and check that the figures exist."""
    use = writing.enabled()
    project = await use.projects.get(caller.user.id, ProjectId(project_id))
    read = figures_of(project, session_sandbox, workspace)
    return check_body(await use.export.all_problems(caller.user.id, project, read))


@router.get("/{project_id}/preview", dependencies=[ONE_PLACE], responses={404: {}, 422: {}})
async def preview_project(
    project_id: Name, caller: CurrentCaller, writing: Use, session_sandbox: Sandboxed, workspace: Files
) -> PreviewBody:
    """Return the text as HTML, with citations in their style and small figures."""
    use = writing.enabled()
    project = await use.projects.get(caller.user.id, ProjectId(project_id))
    made = await use.export.preview(caller.user.id, project, figures_of(project, session_sandbox, workspace))
    return PreviewBody(html=made.decode())


@router.post("/{project_id}/export", dependencies=[ONE_PLACE], response_class=Response, responses=_EXPORTED)
async def export_project(
    project_id: Name,
    caller: CurrentCaller,
    writing: Use,
    session_sandbox: Sandboxed,
    workspace: Files,
    form: Annotated[Literal["markdown", "latex", "pdf", "docx", "html"], Query(alias="format")],
    anyway: Annotated[
        bool, Query(description="Mark citations that do not hold, and leave out missing figures.")
    ] = False,
) -> Response:
    """Download a document, whole or not at all. 409 with the findings if citations are not valid."""
    use = writing.enabled()
    project = await use.projects.get(caller.user.id, ProjectId(project_id))
    read = figures_of(project, session_sandbox, workspace)
    try:
        content = await use.export(caller.user.id, project, form, read, anyway=anyway)
    except CitationsFailedError as error:
        return _problem(error, findings=[finding_body(one).model_dump() for one in error.findings])
    media, ending = _MEDIA[form]
    headers = {"Content-Disposition": f'attachment; filename="draft.{ending}"', "X-Content-Type-Options": "nosniff"}
    return Response(content, media_type=media, headers=headers)


async def _answer(writing: Writing, work: Any) -> Any:
    try:
        return await _body(writing, await work)
    except TextChangedError as error:
        return _problem(error, present=error.present, etag=error.etag, difference=error.difference)


def _problem(error: DomainError, **more: object) -> Response:
    """The problem, with the fields that a client needs to resolve the conflict."""
    answer = domain_problem(error)
    body = {**json.loads(bytes(answer.body)), **more}
    return Response(json.dumps(body, ensure_ascii=False), answer.status_code, media_type=PROBLEM_MEDIA_TYPE)


async def _body(writing: Writing, project: Project) -> ProjectBody:
    known = await writing.records.of(project.user_id, [one.record_id for one in project.references])
    return project_body(project, known)


def _etag(header: str) -> str:
    return header.strip().removeprefix("W/").strip('"')
