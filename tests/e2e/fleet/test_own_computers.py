"""A person with as many computers at work as they may have: what waits for one of them, over two gateways and workers,
with a manager of real sandboxes."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator
from typing import Any

import pytest
import pytest_asyncio

from support.api_client import ApiClient, register
from support.fleet import Fleet, Shape, run_fleet

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(300)]
Json = dict[str, Any]
ALL = 2
_SETTINGS = {
    "LLM_PROVIDER": "demo",
    "DEMO_DELAY_MS": "0",
    "SANDBOX_DESKTOP": "false",
    "BASH_TIMEOUT": "600",
    "SANDBOX_MAX_PER_USER": "5",
    "SANDBOX_MAX_PER_USER_TOTAL": str(ALL),
    "RATE_LIMITS": "messages=0",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Fleet]:
    shape = Shape(gateways=2, workers=2, managers=1)
    async with run_fleet(tmp_path_factory.mktemp("own"), shape, _SETTINGS) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def near(fleet: Fleet, request: pytest.FixtureRequest) -> AsyncGenerator[ApiClient]:
    """A person of each test at the first gateway, whose computers are given back when it has ended."""
    name: str = request.node.name
    async with await register(fleet.urls[0], f"u{abs(hash(name)) % 10**8}") as api:
        yield api
        for session in (await api.json("GET", "/sessions"))["items"]:
            await delete(api, session["id"])


@pytest_asyncio.fixture(loop_scope="module")
async def far(fleet: Fleet, near: ApiClient) -> AsyncGenerator[ApiClient]:
    """The same person at the second one."""
    async with ApiClient(fleet.urls[1], near.token) as api:
        yield api


async def at_work(api: ApiClient) -> list[str]:
    """Sessions whose runs have all the computers there may be."""
    sessions = [await api.new_session(title="at work") for _ in range(ALL)]
    for session in sessions:
        accepted = await api.send(session, "run echo begun; sleep 600")
        await api.until(session, "tool.output", after=accepted["seq"], timeout_s=120)
    return sessions


async def waiting(api: ApiClient, text: str) -> str:
    """A session whose run waits for a computer."""
    session = await api.new_session(title="waiting")
    await api.send(session, text)
    events = api.events(session)
    async with asyncio.timeout(30), contextlib.aclosing(events):  # type: ignore[type-var]
        async for event in events:
            if event["type"] == "sandbox.updated" and event["queue_reason"] is not None:
                assert (event["status"], event["queue_reason"]) == ("starting", "user_limit")
                return session
    raise AssertionError("the stream ended before it was told")


async def place(api: ApiClient, session: str, *, becomes: int | None) -> None:
    """Wait until the computer of a session has this place in line, and no other reason than its user's limit."""
    async with asyncio.timeout(40):
        while (now := await api.json("GET", f"/sessions/{session}/sandbox"))["queue_position"] != becomes:
            await asyncio.sleep(0.1)
    assert becomes is None or (now["status"], now["queue_reason"]) == ("starting", "user_limit")


async def finished(api: ApiClient, session: str) -> Json:
    """The end of the session's one run, whose command said what it was to."""
    (*_, end) = events = await api.until(session, "run.finished")
    (result,) = [event for event in events if event["type"] == "tool.finished"]
    assert (end["status"], result["success"]) == ("completed", True), events[-8:]
    return result


async def delete(api: ApiClient, session: str) -> None:
    await api.json("DELETE", f"/sessions/{session}", expect=204)


async def test_a_request_that_needs_the_computer_is_told_so_soon_and_the_run_that_waits_goes_on(
    near: ApiClient, far: ApiClient
) -> None:
    busy = await at_work(near)
    session = await waiting(near, "run cat uploaded.txt || echo none")
    upload = {"files": ("uploaded.txt", b"never")}
    began = time.monotonic()
    refused = await asyncio.gather(
        *(api.http.get(f"/sessions/{session}/files") for api in (near, far)),
        *(api.http.post(f"/sessions/{session}/files", files=upload) for api in (near, far)),
        *(api.http.post(f"/sessions/{session}/sandbox") for api in (near, far)),
    )
    assert time.monotonic() - began < 30
    for answer in refused:
        assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
        assert (answer.json()["code"], answer.json()["retryable"]) == ("computer_queued", True)
        assert "your computers" in answer.json()["detail"]
        assert int(answer.headers["retry-after"]) > 0
    await place(far, session, becomes=1)
    await delete(near, busy[0])
    assert "none" in (await finished(near, session))["preview"]
    updates = [event for event in await near.stored_events(session) if event["type"] == "sandbox.updated"]
    assert {event["status"] for event in updates[:-1]} == {"starting"}
    assert updates[-1]["status"] == "ready"


async def test_a_run_that_waits_outlives_the_manager_and_its_gateway_and_keeps_its_place(
    fleet: Fleet, near: ApiClient, far: ApiClient
) -> None:
    busy = await at_work(near)
    session = await waiting(near, "run echo it")
    for name in ("manager-1", "gateway-1"):
        fleet[name].kill()
        fleet[name].start()
        await fleet[name].up()
        await place(far, session, becomes=1)
    behind = await waiting(far, "run echo behind")
    await place(far, session, becomes=1)
    await place(far, behind, becomes=2)
    await delete(far, busy[0])
    await finished(far, session)
    assert (await far.json("GET", f"/sessions/{behind}"))["status"] == "running"


async def test_a_run_whose_worker_dies_while_it_waits_is_taken_over_and_leaves_no_place_behind(
    fleet: Fleet, near: ApiClient, far: ApiClient
) -> None:
    busy = await at_work(near)
    session = await waiting(near, "run echo it")
    workers = fleet.kind("worker")
    for member in workers:
        member.kill()
    for member in workers:
        member.start()
    for member in workers:
        await member.up()
    for used in busy:  # else the runs that died with their workers would leave theirs to who waits
        await far.json("POST", f"/sessions/{used}/sandbox/renew")
    (*_, end) = events = await near.until(session, "run.finished")
    (result,) = [event for event in events if event["type"] == "tool.finished"]
    assert (end["status"], result["success"]) == ("completed", False)
    assert "may have happened" in result["preview"]
    behind = await waiting(near, "run echo behind")
    async with asyncio.timeout(60):
        while (await far.json("GET", f"/sessions/{behind}/sandbox"))["queue_position"] != 1:
            await asyncio.sleep(0.1)
