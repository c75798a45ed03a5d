from __future__ import annotations

import httpx
import pytest
from respx import MockRouter

from backend_api.sandboxes.domain.errors import SandboxUnavailableError
from backend_api.sandboxes.domain.snapshots import SnapshotNotFoundError, SnapshotRefusedError
from backend_api.sandboxes.manager.snapshots import ManagerSnapshots
from service_kit.bounded_http import BoundedHttp

KEPT = {"id": "n1", "name": "one", "created_at": "2026-01-01T00:00:00Z", "bytes": 3, "content_bytes": 5, "files": 1}
ALL = "http://manager/workspaces/s/snapshots"


@pytest.fixture
def forgotten() -> list[str]:
    return []


@pytest.fixture
def snapshots(http: BoundedHttp, forgotten: list[str]) -> ManagerSnapshots:
    return ManagerSnapshots(http, forgotten.append)


async def test_each_call_goes_to_the_session_of_its_user(
    respx_mock: MockRouter, snapshots: ManagerSnapshots, forgotten: list[str]
) -> None:
    respx_mock.post(ALL, params={"user_id": "u"}).respond(201, json=KEPT)
    respx_mock.post(f"{ALL}/n1/restore", params={"user_id": "u"}).respond(json=KEPT)
    respx_mock.delete(f"{ALL}/n1", params={"user_id": "u"}).respond(204)
    respx_mock.get(ALL, params={"user_id": "u"}).respond(json={"items": [KEPT], "max_count": 10})
    assert (await snapshots.create("s", "u", "one")).content_bytes == 5
    assert (await snapshots.restore("s", "u", "n1")).name == "one"
    await snapshots.delete("s", "u", "n1")
    assert (await snapshots.list_all("s", "u")).max_count == 10
    assert forgotten == ["s"]


@pytest.mark.parametrize(
    ("status", "error"),
    [(404, SnapshotNotFoundError), (409, SnapshotRefusedError), (503, SandboxUnavailableError)],
)
async def test_a_problem_of_the_manager_keeps_its_meaning(
    respx_mock: MockRouter,
    snapshots: ManagerSnapshots,
    forgotten: list[str],
    status: int,
    error: type[Exception],
) -> None:
    problem = {"title": "No", "status": status, "detail": "Because.", "code": "x"}
    respx_mock.post(f"{ALL}/n1/restore").respond(status, json=problem)
    with pytest.raises(error):
        await snapshots.restore("s", "u", "n1")
    assert forgotten == ["s"]


async def test_an_answer_that_is_none_of_the_managers_says_what_to_look_at(
    respx_mock: MockRouter, snapshots: ManagerSnapshots
) -> None:
    respx_mock.route().respond(json="Welcome")
    for call in (snapshots.list_all("s", "u"), snapshots.create("s", "u", "one"), snapshots.restore("s", "u", "n1")):
        with pytest.raises(SandboxUnavailableError, match="SANDBOX_MANAGER_URL"):
            await call


ELSEWHERE = httpx.Response(503, json={"title": "No", "status": 503, "detail": "Elsewhere.", "code": "elsewhere"})


async def test_a_manager_of_another_engine_is_passed_by(respx_mock: MockRouter, snapshots: ManagerSnapshots) -> None:
    respx_mock.post(ALL).mock(side_effect=[ELSEWHERE, ELSEWHERE, httpx.Response(201, json=KEPT)])
    assert (await snapshots.create("s", "u", "one")).name == "one"


async def test_where_all_managers_are_of_another_engine_that_is_told(respx_mock: MockRouter, http: BoundedHttp) -> None:
    asked = respx_mock.post(ALL).mock(ELSEWHERE)
    with pytest.raises(SandboxUnavailableError, match="Elsewhere"):
        await ManagerSnapshots(http, lambda _: None, reach_for_s=0.05).create("s", "u", "one")
    assert asked.call_count > 1
