"""Snapshots of a session's files."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import StringConstraints

from backend_api.computers.application.restore_snapshot import RestoreSnapshot
from backend_api.computers.application.take_snapshot import TakeSnapshot
from backend_api.conversations.ports import SessionRepository
from backend_api.identity.http.caller import CurrentCaller
from backend_api.kit.http.examples import with_example
from backend_api.kit.http.ports import port
from backend_api.kit.http.schemas import AnswerBody, RequestBody, Time, Words
from backend_api.kit.ids import SessionId
from backend_api.sandboxes.domain.snapshots import SnapshotNotFoundError, Snapshots

router = APIRouter(prefix="/api/sessions/{session_id}/snapshots", tags=["files"], responses={409: {}})

_SnapshotId = Annotated[str, Path(max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]


class TakeSnapshotBody(RequestBody):
    name: Annotated[Words, StringConstraints(min_length=1, max_length=100, strip_whitespace=True)]


class SnapshotBody(AnswerBody):
    id: str
    name: str
    created_at: Time
    bytes: int
    content_bytes: int
    files: int


class SnapshotListBody(AnswerBody):
    items: list[SnapshotBody]
    max_count: int


@router.get("")
async def list_snapshots(
    session_id: str,
    caller: CurrentCaller,
    sessions: Annotated[SessionRepository, port("sessions")],
    snapshots: Annotated[Snapshots, port("snapshots")],
) -> SnapshotListBody:
    """List the snapshots of the session, newest first."""
    session = await sessions.get(SessionId(session_id), caller.user.id)
    return SnapshotListBody.model_validate(await snapshots.list_all(session.id, caller.user.id))


@router.post("", status_code=201, openapi_extra=with_example({"name": "Before the clean-up"}))
async def take_snapshot(
    session_id: str,
    body: TakeSnapshotBody,
    caller: CurrentCaller,
    take_snapshot: Annotated[TakeSnapshot, port("take_snapshot")],
) -> SnapshotBody:
    """Create a snapshot of the files. The agent continues meanwhile."""
    return SnapshotBody.model_validate(await take_snapshot(SessionId(session_id), caller.user.id, body.name))


@router.post("/{snapshot_id}/restore")
async def restore_snapshot(
    session_id: str,
    snapshot_id: _SnapshotId,
    caller: CurrentCaller,
    restore_snapshot: Annotated[RestoreSnapshot, port("restore_snapshot")],
) -> SnapshotBody:
    """Restore all files or none. Refused while a run is active; the sandbox restarts at its next use."""
    restored = await restore_snapshot(SessionId(session_id), caller.user.id, snapshot_id)
    return SnapshotBody.model_validate(restored)


@router.delete("/{snapshot_id}", status_code=204)
async def delete_snapshot(
    session_id: str,
    snapshot_id: _SnapshotId,
    caller: CurrentCaller,
    sessions: Annotated[SessionRepository, port("sessions")],
    snapshots: Annotated[Snapshots, port("snapshots")],
) -> Response:
    """Delete a snapshot."""
    session = await sessions.get(SessionId(session_id), caller.user.id)
    kept = await snapshots.list_all(session.id, caller.user.id)
    if snapshot_id not in {one.id for one in kept.items}:
        raise SnapshotNotFoundError("There is no such snapshot of this session.")
    await snapshots.delete(session.id, caller.user.id, snapshot_id)
    return Response(status_code=204)
