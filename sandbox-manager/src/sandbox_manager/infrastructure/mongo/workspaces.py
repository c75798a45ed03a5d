"""Workspace records in MongoDB."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, ClassVar

from beanie import Document
from pydantic import Field
from pymongo import ASCENDING, IndexModel
from pymongo.errors import DuplicateKeyError

from sandbox_manager.domain.workspace import Snapshot, Work, WorkKind, Workspace
from sandbox_manager.infrastructure.mongo.documents import collection_of
from sandbox_manager.infrastructure.mongo.errors import registry_errors

_MOST_DUE = 5_000


class WorkspaceDocument(Document):
    """A workspace record, for sessions with snapshots, or whose files are being worked on or are to be removed."""

    id: str = Field()  # pyright: ignore[reportIncompatibleVariableOverride] - the session's id
    user_id: str
    snapshots: list[dict[str, Any]]
    work: dict[str, Any] | None
    remove_at: datetime | None
    version: int

    class Settings:
        name = "workspaces"
        indexes: ClassVar = [
            IndexModel([("work.until", ASCENDING)], name="lapsed_work", sparse=True),
            IndexModel([("remove_at", ASCENDING)], name="to_be_removed", sparse=True),
        ]


class MongoWorkspaces:
    """Expects Beanie to be initialised with `WorkspaceDocument`."""

    async def get(self, session_id: str) -> Workspace | None:
        with registry_errors():
            document = await collection_of(WorkspaceDocument).find_one({"_id": session_id})
        return _to_workspace(document) if document else None

    async def save(self, workspace: Workspace) -> bool:
        stored = _to_mongo(replace(workspace, version=workspace.version + 1))
        with registry_errors():
            if workspace.version == 0:
                try:
                    await collection_of(WorkspaceDocument).insert_one(stored)
                except DuplicateKeyError:
                    return False
                return True
            result = await collection_of(WorkspaceDocument).replace_one(
                {"_id": workspace.session_id, "version": workspace.version}, stored
            )
        return result.matched_count == 1

    async def due(self, now: datetime) -> list[Workspace]:
        query = {"$or": [{"work.until": {"$lte": now}}, {"remove_at": {"$lte": now}}]}
        with registry_errors():
            return [_to_workspace(one) async for one in collection_of(WorkspaceDocument).find(query).limit(_MOST_DUE)]

    async def forget(self, session_id: str) -> None:
        with registry_errors():
            await collection_of(WorkspaceDocument).delete_one({"_id": session_id})


def _to_mongo(workspace: Workspace) -> dict[str, Any]:
    work = workspace.work
    return {
        "_id": workspace.session_id,
        "user_id": workspace.user_id,
        "snapshots": [asdict(one) for one in workspace.snapshots],
        "work": asdict(work) | {"kind": work.kind.value} if work else None,
        "remove_at": workspace.remove_at,
        "version": workspace.version,
    }


def _to_workspace(found: dict[str, Any]) -> Workspace:
    return Workspace(
        session_id=found["_id"],
        user_id=found["user_id"],
        snapshots=tuple(Snapshot(**one) for one in found["snapshots"]),
        work=_to_work(found["work"]) if found["work"] else None,
        remove_at=found["remove_at"],
        version=found["version"],
    )


def _to_work(found: dict[str, Any]) -> Work:
    return Work(
        kind=WorkKind(found["kind"]),
        snapshot_id=found["snapshot_id"],
        owner=found["owner"],
        until=found["until"],
    )
