"""`Snapshots` from the sandbox manager over its REST contract."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from backend_api.sandboxes.domain.errors import SandboxUnavailableError
from backend_api.sandboxes.domain.snapshots import (
    Snapshot,
    SnapshotNotFoundError,
    SnapshotRefusedError,
    StoredSnapshots,
)
from backend_api.sandboxes.manager.rest import BODY_BYTES, REACH_FOR_S, UNREACHED, UNUSABLE, parse, problem_of
from contracts.workspaces import Snapshot as WireSnapshot
from contracts.workspaces import SnapshotList
from service_kit.bounded_http import Answer, BoundedHttp, Bounds, RefusedAnswerError, TransportError

_BOUNDS = Bounds(body_bytes=BODY_BYTES, head_s=330.0, silent_s=20.0)
"""Longer than a workspace takes to pack."""
_ELSEWHERE = "elsewhere"
_PAUSE_S = 0.1


class ManagerSnapshots:
    """`forget` is called with a session whose sandbox ended with a restore.

    If managers of several engines share one address, the wrong one refuses and does nothing; the call is then repeated
    until it reaches the right one.
    """

    def __init__(self, http: BoundedHttp, forget: Callable[[str], None], *, reach_for_s: float = REACH_FOR_S) -> None:
        self._http = http
        self._forget = forget
        self._reach_for_s = reach_for_s

    async def list_all(self, session_id: str, user_id: str) -> StoredSnapshots:
        found = parse(SnapshotList, await self._send("GET", session_id, user_id))
        return StoredSnapshots(items=[_snapshot(one) for one in found.items], max_count=found.max_count)

    async def create(self, session_id: str, user_id: str, name: str) -> Snapshot:
        return _read(await self._send("POST", session_id, user_id, json={"name": name}))

    async def restore(self, session_id: str, user_id: str, snapshot_id: str) -> Snapshot:
        try:
            return _read(await self._send("POST", session_id, user_id, f"/{snapshot_id}/restore"))
        finally:
            self._forget(session_id)

    async def delete(self, session_id: str, user_id: str, snapshot_id: str) -> None:
        await self._send("DELETE", session_id, user_id, f"/{snapshot_id}")

    async def _send(self, method: str, session_id: str, user_id: str, path: str = "", **fields: Any) -> Answer:
        url = f"/workspaces/{session_id}/snapshots{path}"
        until = asyncio.get_running_loop().time() + self._reach_for_s
        while True:
            try:
                response = await self._http.ask(method, url, _BOUNDS, params={"user_id": user_id}, **fields)
            except RefusedAnswerError as error:
                raise SandboxUnavailableError(UNUSABLE) from error
            except TransportError as error:
                raise SandboxUnavailableError(UNREACHED) from error
            if response.is_success:
                return response
            code, detail = problem_of(response)
            if code != _ELSEWHERE or asyncio.get_running_loop().time() >= until:
                break
            await asyncio.sleep(_PAUSE_S)
        if response.status == 404:
            raise SnapshotNotFoundError("There is no such snapshot.")
        if response.status == 409:
            raise SnapshotRefusedError(detail)
        raise SandboxUnavailableError(detail)


def _read(response: Answer) -> Snapshot:
    return _snapshot(parse(WireSnapshot, response))


def _snapshot(wire: WireSnapshot) -> Snapshot:
    return Snapshot(**wire.model_dump())
