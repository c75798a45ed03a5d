"""What projects of writing stand on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from backend_api.kit.ids import UserId
from backend_api.research.domain import Paper, Record
from backend_api.writing.domain import Project, ProjectId, Revision

Format = Literal["markdown", "latex", "pdf", "docx", "html"]
Unseen = Literal["missing", "no_picture", "too_large"]
"""Why a figure can't be shown."""
FORMATS: tuple[Format, ...] = ("markdown", "latex", "pdf", "docx", "html")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectPage:
    """Projects, the one changed last first, and the cursor of the next page."""

    items: Sequence[Project]
    next_cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionPage:
    """Revisions, newest first, without their texts, and the cursor of the next page."""

    items: Sequence[Revision]
    next_cursor: str | None


class ProjectStore(Protocol):
    """All raise `StoreUnavailableError`. It has more than seven methods, as a project is stored with its revisions,
    which a change keeps together."""

    async def get(self, user_id: UserId, project_id: ProjectId) -> Project | None:
        """None where there is none of this user."""
        ...

    async def insert(self, project: Project, revisions: Sequence[Revision]) -> None: ...

    async def replace(self, project: Project, revisions: Sequence[Revision]) -> bool:
        """With its revisions, or neither; False where it has another version by now. It is stored with the next
        one."""
        ...

    async def delete(self, user_id: UserId, project_id: ProjectId) -> bool:
        """With its revisions. False where there is none."""
        ...

    async def page(
        self, user_id: UserId, *, session_id: str = "", limit: int, cursor: str | None = None
    ) -> ProjectPage:
        """Of a conversation, or all. Raises `InvalidError` for a cursor that is none of ours."""
        ...

    async def count(self, user_id: UserId) -> int: ...

    async def revisions(
        self, project: Project, part: str = "", *, limit: int, cursor: str | None = None
    ) -> RevisionPage:
        """Of a part, or of all. Raises `InvalidError` for a cursor that is none of ours."""
        ...

    async def revision(self, project: Project, revision_id: str) -> Revision | None:
        """With its text."""
        ...

    async def revision_of(self, project: Project, part: str, etag: str = "") -> Revision | None:
        """The one of a part that has this etag; without one the last."""
        ...


class Records(Protocol):
    """The user's papers, as far as this deployment has any."""

    async def of(self, user_id: UserId, record_ids: Sequence[str]) -> Mapping[str, Record]:
        """Those that are there, by their id."""
        ...

    async def source_of(self, user_id: UserId, paper: Paper) -> Paper | None:
        """The paper as sources tell of it now; None where those that answered do not have it.

        Raises `SourcesFailedError`.
        """
        ...

    async def confirm(self, user_id: UserId, record_id: str, paper: Paper) -> None:
        """A source has told of an imported record, and tells the same."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """What a document is made of. `figures` are files by the path that the text names them by; `marked` are keys of
    citations that do not hold, with what is to be said there."""

    format: Format
    title: str
    authors: Sequence[str]
    language: str
    sections: Sequence[str]
    """In Markdown, each with its heading."""
    references: Sequence[Mapping[str, object]]
    csl: str
    biblatex: str
    figures: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    unseen: Mapping[str, Unseen] = field(default_factory=dict[str, Unseen])
    """Figures that are not there, and why: told in their place."""
    marked: Mapping[str, str] = field(default_factory=dict[str, str])
    is_numbered: bool = True
    is_preview: bool = False
    """HTML without a page around it, in which citations are links to what they cite."""
    is_talk: bool = False
    """Sections are what was said in a conversation, in Markdown as its page reads it; nothing is cited."""


class Renderer(Protocol):
    """Makes documents, in a program of its own for each, with limits of time and memory."""

    async def render(self, wanted: Rendering) -> bytes:
        """Raises `ExportInvalidError` and `ExportFailedError`."""
        ...
