"""Projects in MongoDB: one document per project and one per revision, written in one transaction."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, ClassVar, cast

from beanie import Document
from pymongo import ASCENDING, DESCENDING, IndexModel
from pymongo.asynchronous.client_session import AsyncClientSession

from backend_api.kit.errors import InvalidError
from backend_api.kit.ids import UserId
from backend_api.kit.mongo.database import Database
from backend_api.kit.mongo.transactions import DURABLE, AbandonedError, in_transaction, store_errors
from backend_api.writing.domain import (
    Author,
    Project,
    ProjectId,
    Reference,
    Revision,
    Section,
    Settings,
    Suggestion,
    part_etag,
)
from backend_api.writing.ports import ProjectPage, RevisionPage

MAX_REVISIONS = 300
"""The most revisions of a part: the last ones are kept."""
_PROJECTS, _REVISIONS = "writing_projects", "writing_revisions"


class ProjectDocument(Document):
    """A project with its texts."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- the project
    user_id: str
    settings: dict[str, Any]
    sections: list[dict[str, Any]]
    references: list[dict[str, Any]]
    sessions: list[str]
    created_at: datetime
    updated_at: datetime
    version: int
    outline_version: int
    settings_version: int
    next_section: int

    class Settings:
        name = _PROJECTS
        indexes: ClassVar = [
            IndexModel([("user_id", ASCENDING), ("updated_at", DESCENDING), ("_id", DESCENDING)]),
        ]


class RevisionDocument(Document):
    """A part of a project after a change; `etag` is that of the part at the time."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- the revision
    project_id: str
    user_id: str
    part: str
    version: int
    etag: str
    title: str
    text: str
    change: str
    author: dict[str, str]
    at: datetime

    class Settings:
        name = _REVISIONS
        indexes: ClassVar = [
            IndexModel([("project_id", ASCENDING), ("at", DESCENDING), ("_id", DESCENDING)]),
            IndexModel([("project_id", ASCENDING), ("part", ASCENDING), ("version", DESCENDING)]),
        ]


class MongoProjects:
    """`ProjectStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, user_id: UserId, project_id: ProjectId) -> Project | None:
        """Find it by id and owner at once."""
        async with store_errors():
            found = await self._projects.find_one({"_id": project_id, "user_id": user_id})
        return None if found is None else _project(found)

    async def insert(self, project: Project, revisions: Sequence[Revision]) -> None:
        """One transaction."""

        async def work(session: AsyncClientSession) -> None:
            await self._projects.insert_one(_document(project), session=session)
            await self._insert_revisions(revisions, session)

        await in_transaction(self._database, work)

    async def replace(self, project: Project, revisions: Sequence[Revision]) -> bool:
        """Compare-and-set on the version, in one transaction with the revisions."""
        fields = _document(project) | {"version": project.version + 1}
        wanted = {"_id": fields.pop("_id"), "user_id": project.user_id, "version": project.version}

        async def work(session: AsyncClientSession) -> None:
            if not (await self._projects.update_one(wanted, {"$set": fields}, session=session)).matched_count:
                raise AbandonedError
            await self._insert_revisions(revisions, session)

        try:
            await in_transaction(self._database, work)
        except AbandonedError:
            return False
        for part in {one.part for one in revisions}:
            await self._prune(project.id, part)
        return True

    async def delete(self, user_id: UserId, project_id: ProjectId) -> bool:
        """Delete the project first: revisions without a project can't be found."""
        async with store_errors():
            owned = self._projects.with_options(write_concern=DURABLE)
            gone = (await owned.delete_one({"_id": project_id, "user_id": user_id})).deleted_count
            if gone:
                await self._revisions.delete_many({"project_id": project_id})
        return bool(gone)

    async def page(
        self, user_id: UserId, *, session_id: str = "", limit: int, cursor: str | None = None
    ) -> ProjectPage:
        """Read a page without the texts, which may be large."""
        wanted = {"user_id": user_id} | ({"sessions": session_id} if session_id else {})
        if cursor is not None:
            wanted = {"$and": [wanted, _after(cursor, "updated_at")]}
        without = {"sections.text": 0, "sections.suggestion.text": 0, "sections.brief": 0}
        async with store_errors():
            rows = self._projects.find(wanted, without).sort([("updated_at", -1), ("_id", -1)])
            found = await rows.limit(limit + 1).to_list()
        next_cursor = _encode(found[limit - 1], "updated_at") if len(found) > limit else None
        return ProjectPage(items=[_project(one) for one in found[:limit]], next_cursor=next_cursor)

    async def count(self, user_id: UserId) -> int:
        """Count by an index."""
        async with store_errors():
            return await self._projects.count_documents({"user_id": user_id})

    async def revisions(
        self, project: Project, part: str = "", *, limit: int, cursor: str | None = None
    ) -> RevisionPage:
        """Read a page without the texts."""
        wanted: dict[str, Any] = {"project_id": project.id} | ({"part": part} if part else {})
        if cursor is not None:
            wanted = {"$and": [wanted, _after(cursor, "at")]}
        async with store_errors():
            rows = self._revisions.find(wanted, {"text": 0}).sort([("at", -1), ("_id", -1)])
            found = await rows.limit(limit + 1).to_list()
        next_cursor = _encode(found[limit - 1], "at") if len(found) > limit else None
        return RevisionPage(items=[_revision(one) for one in found[:limit]], next_cursor=next_cursor)

    async def revision(self, project: Project, revision_id: str) -> Revision | None:
        """Find it by its id."""
        async with store_errors():
            found = await self._revisions.find_one({"_id": revision_id, "project_id": project.id})
        return None if found is None else _revision(found)

    async def revision_of(self, project: Project, part: str, etag: str = "") -> Revision | None:
        """Find it by an index."""
        wanted = {"project_id": project.id, "part": part} | ({"etag": etag} if etag else {})
        async with store_errors():
            found = await self._revisions.find_one(wanted, sort=[("version", -1)])
        return None if found is None else _revision(found)

    @property
    def _projects(self) -> Any:
        # The driver: Beanie's own calls are untyped, and take no projection.
        return cast("Any", self._database[_PROJECTS])

    @property
    def _revisions(self) -> Any:
        return cast("Any", self._database[_REVISIONS])

    async def _insert_revisions(self, revisions: Sequence[Revision], session: AsyncClientSession) -> None:
        if revisions:
            await self._revisions.insert_many([_revision_document(one) for one in revisions], session=session)

    async def _prune(self, project_id: ProjectId, part: str) -> None:
        wanted = {"project_id": project_id, "part": part}
        async with store_errors():
            oldest = await self._revisions.find_one(wanted, {"version": 1}, sort=[("version", -1)], skip=MAX_REVISIONS)
            if oldest is not None:
                await self._revisions.delete_many({**wanted, "version": {"$lte": oldest["version"]}})


def _document(project: Project) -> dict[str, Any]:
    settings = asdict(project.settings)
    return {
        "_id": project.id,
        "user_id": project.user_id,
        "settings": {**settings, "authors": list(project.settings.authors)},
        "sections": [asdict(one) for one in project.sections],
        "references": [asdict(one) for one in project.references],
        "sessions": list(project.sessions),
        "created_at": project.created_at,
        "updated_at": project.updated_at,
        "version": project.version,
        "outline_version": project.outline_version,
        "settings_version": project.settings_version,
        "next_section": project.next_section,
    }


def _project(found: dict[str, Any]) -> Project:
    settings: dict[str, Any] = {**found["settings"], "authors": tuple(found["settings"]["authors"])}
    return Project(
        id=ProjectId(found["_id"]),
        user_id=UserId(found["user_id"]),
        settings=Settings(**settings),
        sections=tuple(map(_section, found["sections"])),
        references=tuple(Reference(**one) for one in found["references"]),
        sessions=tuple(found["sessions"]),
        created_at=_utc(found["created_at"]),
        updated_at=_utc(found["updated_at"]),
        version=found["version"],
        outline_version=found["outline_version"],
        settings_version=found["settings_version"],
        next_section=found["next_section"],
    )


def _section(found: dict[str, Any]) -> Section:
    told: dict[str, Any] | None = found.get("suggestion")
    suggestion = None
    if told:
        fields: dict[str, Any] = {"text": "", **told, "author": Author(**told["author"]), "at": _utc(told["at"])}
        suggestion = Suggestion(**fields)
    whole: dict[str, Any] = {**found, "suggestion": suggestion}
    return Section(**whole)


def _revision_document(revision: Revision) -> dict[str, Any]:
    fields = asdict(revision)
    return {
        "_id": fields.pop("id"),
        **fields,
        "etag": part_etag(revision.project_id, revision.part, revision.version),
    }


def _revision(found: dict[str, Any]) -> Revision:
    return Revision(
        id=found["_id"],
        project_id=ProjectId(found["project_id"]),
        user_id=UserId(found["user_id"]),
        part=found["part"],
        version=found["version"],
        title=found["title"],
        text=found.get("text", ""),
        change=found["change"],
        author=Author(**found["author"]),
        at=_utc(found["at"]),
    )


def _utc(at: datetime) -> datetime:
    return at.replace(tzinfo=at.tzinfo or UTC)


def _after(cursor: str, field: str) -> dict[str, Any]:
    try:
        millis, _, last_id = base64.urlsafe_b64decode(cursor.encode()).decode().partition(":")
        at = datetime.fromtimestamp(int(millis) / 1000, UTC)
    except (ValueError, OverflowError, OSError, binascii.Error) as error:
        raise InvalidError("The cursor is invalid. Use one that a page returned.", field="query.cursor") from error
    return {"$or": [{field: {"$lt": at}}, {field: at, "_id": {"$lt": last_id}}]}


def _encode(found: dict[str, Any], field: str) -> str:
    at = _utc(found[field])
    return base64.urlsafe_b64encode(f"{round(at.timestamp() * 1000)}:{found['_id']}".encode()).decode()
