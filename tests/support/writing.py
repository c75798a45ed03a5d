"""Projects of writing over what is in memory, with records that tests make."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from backend_api.kit.ids import UserId
from backend_api.research.domain import Paper, Record, RecordId
from backend_api.research.errors import SourcesFailedError
from backend_api.writing.domain import Author, Heading, Project, ProjectId, Revision, Settings, part_etag
from backend_api.writing.ports import ProjectPage, RevisionPage
from backend_api.writing.projects import Projects

ANNA = UserId("anna")
PERSON = Author(kind="person")
AGENT = Author(kind="agent", session_id="s1")
AT = datetime(2026, 1, 1, tzinfo=UTC)

PNG = b"\x89PNG\r\n\x1a\n" + b"".join(
    struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
    for name, content in (
        (b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(b"\0\0\x80\0")),
        (b"IEND", b""),
    )
)


def paper(title: str = "Deep learning", *authors: str, year: int | None = 2015, **more: object) -> Paper:
    return Paper(title=title, authors=authors or ("Yann LeCun", "Yoshua Bengio"), year=year, **more)  # pyright: ignore[reportArgumentType]


def record(name: str, of: Paper, *, is_imported: bool = False) -> Record:
    return Record(id=RecordId(name), user_id=ANNA, paper=of, is_imported=is_imported, created_at=AT)


@dataclass(slots=True)
class MemoryProjects:
    """`ProjectStore`. `before` is called before each write, as another one who is quicker."""

    kept: dict[str, Project] = field(default_factory=dict[str, Project])
    history: list[Revision] = field(default_factory=list[Revision])
    others: list[Project] = field(default_factory=list[Project])

    async def get(self, user_id: UserId, project_id: ProjectId) -> Project | None:
        found = self.kept.get(project_id)
        return found if found and found.user_id == user_id else None

    async def insert(self, project: Project, revisions: Sequence[Revision]) -> None:
        self.kept[project.id] = project
        self.history += revisions

    async def replace(self, project: Project, revisions: Sequence[Revision]) -> bool:
        if self.others:
            quicker = self.others.pop(0)
            self.kept[quicker.id] = replace(quicker, version=quicker.version + 1)
        if self.kept[project.id].version != project.version:
            return False
        self.kept[project.id] = replace(project, version=project.version + 1)
        self.history += revisions
        return True

    async def delete(self, user_id: UserId, project_id: ProjectId) -> bool:
        return self.kept.pop(project_id, None) is not None

    async def page(
        self, user_id: UserId, *, session_id: str = "", limit: int, cursor: str | None = None
    ) -> ProjectPage:
        return ProjectPage(items=list(self.kept.values())[:limit], next_cursor=None)

    async def count(self, user_id: UserId) -> int:
        return len(self.kept)

    async def revisions(
        self, project: Project, part: str = "", *, limit: int, cursor: str | None = None
    ) -> RevisionPage:
        found = [one for one in reversed(self.history) if part in ("", one.part)]
        return RevisionPage(items=found[:limit], next_cursor=None)

    async def revision(self, project: Project, revision_id: str) -> Revision | None:
        return next((one for one in self.history if one.id == revision_id), None)

    async def revision_of(self, project: Project, part: str, etag: str = "") -> Revision | None:
        of_part = [one for one in reversed(self.history) if one.part == part]
        return next((one for one in of_part if etag in ("", part_etag(project.id, part, one.version))), None)


@dataclass(slots=True)
class MemoryRecords:
    """`Records`: `told` is what sources say by the id of a paper; `are_away` that none answers."""

    kept: dict[str, Record] = field(default_factory=dict[str, Record])
    told: dict[str, Paper] = field(default_factory=dict[str, Paper])
    confirmed: list[str] = field(default_factory=list[str])
    are_away: bool = False

    async def of(self, user_id: UserId, record_ids: Sequence[str]) -> Mapping[str, Record]:
        return {name: self.kept[name] for name in record_ids if name in self.kept}

    async def source_of(self, user_id: UserId, paper: Paper) -> Paper | None:
        if self.are_away:
            raise SourcesFailedError("OpenAlex has not answered.")
        return self.told.get(str(paper.id))

    async def confirm(self, user_id: UserId, record_id: str, paper: Paper) -> None:
        self.confirmed.append(record_id)

    def add(self, name: str, of: Paper, *, told: Paper | None = None, is_imported: bool = False) -> None:
        """One of which sources tell the same, or this."""
        self.kept[name] = record(name, of, is_imported=is_imported)
        if of.id:
            self.told[str(of.id)] = told or of


async def begun(store: MemoryProjects, *titles: str, **settings: object) -> tuple[Projects, Project]:
    """A project with these sections, without texts."""
    projects = Projects(store=store, now=lambda: AT)
    project = await projects.create(ANNA, Settings(title="A study", **settings), PERSON)  # pyright: ignore[reportArgumentType]
    headings = [Heading(title=title) for title in titles]
    return projects, await projects.set_outline(ANNA, project.id, headings, project.outline_etag, PERSON)
