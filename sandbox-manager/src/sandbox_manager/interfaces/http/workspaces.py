"""Routes of `/workspaces`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query

from contracts.identifiers import NAME, SNAPSHOT_ID
from contracts.workspaces import Snapshot, SnapshotList, TakeSnapshot
from sandbox_manager.domain import workspace as domain
from sandbox_manager.interfaces.http.service_token import require_service_token
from sandbox_manager.interfaces.http.use_cases import Wired

_Session = Annotated[str, Path(pattern=NAME)]
_Owner = Annotated[str, Query(pattern=NAME)]
_Snapshot = Annotated[str, Path(pattern=SNAPSHOT_ID)]

router = APIRouter(
    prefix="/workspaces/{session_id}",
    tags=["workspaces"],
    dependencies=[Depends(require_service_token)],
    responses={409: {}},
)


@router.get("/snapshots")
async def list_(session_id: _Session, user_id: _Owner, wired: Wired) -> SnapshotList:
    """The snapshots of a session."""
    workspace = await wired.workspaces.work.get(session_id, user_id)
    return SnapshotList(
        items=[_to_wire(one) for one in workspace.snapshots], max_count=wired.workspaces.take_snapshot.limits.max_count
    )


@router.post("/snapshots", status_code=201)
async def take(session_id: _Session, user_id: _Owner, body: TakeSnapshot, wired: Wired) -> Snapshot:
    """Keep the files as they are now; programs go on running."""
    return _to_wire(await wired.workspaces.take_snapshot(session_id, user_id, body.name))


@router.post("/snapshots/{snapshot_id}/restore")
async def restore(session_id: _Session, snapshot_id: _Snapshot, user_id: _Owner, wired: Wired) -> Snapshot:
    """Restore the files from a snapshot; the session's sandbox ends, and its next one starts on them."""
    return _to_wire(await wired.workspaces.restore(session_id, user_id, snapshot_id))


@router.delete("/snapshots/{snapshot_id}", status_code=204)
async def delete(session_id: _Session, snapshot_id: _Snapshot, user_id: _Owner, wired: Wired) -> None:
    """Delete a snapshot; 204 also if there is none."""
    await wired.workspaces.delete(session_id, user_id, snapshot_id)


@router.delete("", status_code=204)
async def remove(session_id: _Session, user_id: _Owner, wired: Wired) -> None:
    """End the session's sandbox and remove its files and snapshots, after the delay that is set."""
    await wired.workspaces.remove(session_id, user_id)


def _to_wire(snapshot: domain.Snapshot) -> Snapshot:
    return Snapshot(**asdict(snapshot))
