"""Ports that writing projects need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from backend_api.kit.ids import UserId
from backend_api.research.domain import Paper, Record
from backend_api.writing.domain import Project, ProjectId, Revision

Format = Literal["markdown", "latex", "pdf", "docx", "html"]
UnusableFigure = Literal["missing", "no_picture", "too_large", "linked", "damaged"]
"""Reasons why a figure can't be shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectPage:
    """Projects, last changed first, and the cursor of the next page."""

    items: Sequence[Project]
    next_cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionPage:
    """Revisions, newest first, without their texts, and the cursor of the next page."""

    items: Sequence[Revision]
    next_cursor: str | None


class ProjectStore(Protocol):
    """Stores projects. All methods raise `StoreUnavailableError`. More than seven methods, as a project and its
    revisions are stored together."""

    async def get(self, user_id: UserId, project_id: ProjectId) -> Project | None:
        """The project; None if the user has none of this id."""
        ...

    async def insert(self, project: Project, revisions: Sequence[Revision]) -> None: ...

    async def replace(self, project: Project, revisions: Sequence[Revision]) -> bool:
        """Store the project as its next version with its revisions, or neither; False if the stored version is another
        one."""
        ...

    async def delete(self, user_id: UserId, project_id: ProjectId) -> bool:
        """Delete a project with its revisions; False if there is none."""
        ...

    async def page(
        self, user_id: UserId, *, session_id: str = "", limit: int, cursor: str | None = None
    ) -> ProjectPage:
        """A page of projects, of one conversation or of all. Raises `InvalidError` for an invalid cursor."""
        ...

    async def count(self, user_id: UserId) -> int: ...

    async def revisions(
        self, project: Project, part: str = "", *, limit: int, cursor: str | None = None
    ) -> RevisionPage:
        """A page of revisions, of one part or of all. Raises `InvalidError` for an invalid cursor."""
        ...

    async def revision(self, project: Project, revision_id: str) -> Revision | None:
        """The revision with its text."""
        ...

    async def revision_of(self, project: Project, part: str, etag: str = "") -> Revision | None:
        """The revision of a part with this etag; without one, the latest."""
        ...


class Records(Protocol):
    """The user's papers, if this deployment has any."""

    async def of(self, user_id: UserId, record_ids: Sequence[str]) -> Mapping[str, Record]:
        """The existing records among these, by their id."""
        ...

    async def source_of(self, user_id: UserId, paper: Paper) -> Paper | None:
        """The paper with the present data of the sources; None if none of those that answered has it.

        Raises `SourcesFailedError`.
        """
        ...

    async def confirm(self, user_id: UserId, record_id: str, paper: Paper) -> None:
        """Mark an imported record as confirmed, as a source has the same data."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """The input of a document. `figures` are files by the path in the text; `marked` are keys of invalid citations,
    with the remark to show there."""

    format: Format
    title: str
    authors: Sequence[str]
    language: str
    sections: Sequence[str]
    """The sections in Markdown, each with its heading."""
    references: Sequence[Mapping[str, object]]
    csl: str
    biblatex: str
    figures: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    unusable: Mapping[str, UnusableFigure] = field(default_factory=dict[str, UnusableFigure])
    """Missing figures and the reasons, which are shown in their place."""
    marked: Mapping[str, str] = field(default_factory=dict[str, str])
    is_numbered: bool = True
    is_preview: bool = False
    """A fragment of HTML, in which citations link to the cited papers."""
    owner: str = ""
    """The user for whom it is made."""
    words: str = ""
    """The language of our own words in it; empty: `language`."""
    is_talk: bool = False
    """Whether the sections are a conversation, in Markdown as its page reads it; nothing is cited."""


class Renderer(Protocol):
    """Makes documents, each in a process of its own, with limits of time and memory."""

    async def render(self, wanted: Rendering) -> bytes:
        """Make a document. A figure that can't be set in a PDF is told in its place. Raises `ExportInvalidError` and
        `ExportFailedError`."""
        ...

    async def unusable(self, owner: str, figures: Mapping[str, bytes]) -> Mapping[str, UnusableFigure]:
        """The figures, by their paths, that can't be set in a PDF. Raises `ExportFailedError`."""
        ...
