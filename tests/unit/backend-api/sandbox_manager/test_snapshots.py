from __future__ import annotations

import json

import httpx
import pytest

from backend_api.domain.sandbox.errors import SandboxUnavailableError
from backend_api.domain.sandbox.snapshots import SnapshotNotFoundError, SnapshotRefusedError
from backend_api.infrastructure.sandbox_manager.snapshots import ManagerSnapshots

KEPT = {"id": "n1", "name": "one", "created_at": "2026-01-01T00:00:00Z", "bytes": 3, "content_bytes": 5, "files": 1}


class Manager:
    """Answers with what it was given."""

    def __init__(self, status: int, body: object = None) -> None:
        self.status, self.body = status, body
        self.calls: list[str] = []
        self.forgotten: list[str] = []

    def snapshots(self) -> ManagerSnapshots:
        http = httpx.AsyncClient(transport=httpx.MockTransport(self._handle), base_url="http://manager")
        return ManagerSnapshots(http, self.forgotten.append)

    def _handle(self, request: httpx.Request) -> httpx.Response:
        self.calls.append(f"{request.method} {request.url.raw_path.decode()}")
        return httpx.Response(self.status, content=json.dumps(self.body))


async def test_each_call_goes_to_the_session_of_its_user() -> None:
    manager = Manager(200, KEPT)
    snapshots = manager.snapshots()
    assert (await snapshots.create("s", "u", "one")).content_bytes == 5
    assert (await snapshots.restore("s", "u", "n1")).name == "one"
    await snapshots.delete("s", "u", "n1")
    manager.body = {"items": [KEPT], "max_count": 10}
    assert (await snapshots.kept("s", "u")).max_count == 10
    assert manager.calls == [
        "POST /workspaces/s/snapshots?user_id=u",
        "POST /workspaces/s/snapshots/n1/restore?user_id=u",
        "DELETE /workspaces/s/snapshots/n1?user_id=u",
        "GET /workspaces/s/snapshots?user_id=u",
    ]
    assert manager.forgotten == ["s"]


@pytest.mark.parametrize(
    ("status", "error"),
    [(404, SnapshotNotFoundError), (409, SnapshotRefusedError), (503, SandboxUnavailableError)],
)
async def test_a_problem_of_the_manager_keeps_its_meaning(status: int, error: type[Exception]) -> None:
    manager = Manager(status, {"title": "No", "status": status, "detail": "Because.", "code": "x"})
    with pytest.raises(error):
        await manager.snapshots().restore("s", "u", "n1")
    assert manager.forgotten == ["s"]


async def test_an_answer_that_is_none_of_the_managers_says_what_to_look_at() -> None:
    snapshots = Manager(200, "Welcome").snapshots()
    for call in (snapshots.kept("s", "u"), snapshots.create("s", "u", "one"), snapshots.restore("s", "u", "n1")):
        with pytest.raises(SandboxUnavailableError, match="SANDBOX_MANAGER_URL"):
            await call


@pytest.mark.parametrize("answers_at", [3, None], ids=["there is one", "there is none"])
async def test_a_manager_of_another_engine_is_passed_by(answers_at: int | None) -> None:
    calls: list[str] = []

    def handle(_: httpx.Request) -> httpx.Response:
        calls.append("call")
        if len(calls) == answers_at:
            return httpx.Response(201, json=KEPT)
        return httpx.Response(503, json={"title": "No", "status": 503, "detail": "Elsewhere.", "code": "elsewhere"})

    http = httpx.AsyncClient(transport=httpx.MockTransport(handle), base_url="http://manager")
    async with http:
        snapshots = ManagerSnapshots(http, lambda _: None, reach_for_s=30 if answers_at else 0.05)
        if answers_at:
            assert (await snapshots.create("s", "u", "one")).name == "one"
            assert len(calls) == answers_at
        else:
            with pytest.raises(SandboxUnavailableError, match="Elsewhere"):
                await snapshots.create("s", "u", "one")
            assert len(calls) > 1
