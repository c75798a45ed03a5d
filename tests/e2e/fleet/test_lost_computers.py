"""A computer that dies, sleeps or does not come while a conversation counts on it, with a manager of real sandboxes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from sandbox_manager.infrastructure.runtimes.process.launch import MARK, marked_identity
from sandbox_manager.infrastructure.runtimes.process.processes import marked
from sandbox_manager.infrastructure.runtimes.process.store import Store
from support.api_client import ApiClient, register
from support.fleet import Fleet, Shape, run_fleet

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(240)]
Json = dict[str, Any]
IDLE_S = 3
_SETTINGS = {
    "LLM_PROVIDER": "demo",
    "DEMO_DELAY_MS": "0",
    "SANDBOX_DESKTOP": "false",
    "BASH_TIMEOUT": "600",
    "SANDBOX_MAX_PER_USER": "1",
    "SANDBOX_IDLE_TIMEOUT_MINUTES": str(IDLE_S / 60),
    "SANDBOX_TUNING": "queue-s=10,sweep-ms=500",
    "RATE_LIMITS": "messages=0",
}
KEEPS = "run echo kept > kept.txt"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Fleet]:
    async with run_fleet(tmp_path_factory.mktemp("lost"), Shape(workers=1), _SETTINGS) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def api(fleet: Fleet) -> AsyncGenerator[ApiClient]:
    """A person of each test."""
    number = len(list(fleet.folder.glob("person-*")))
    (fleet.folder / f"person-{number}").touch()
    async with await register(fleet.urls[0], f"person-{number}") as client:
        yield client


def kill_computer(fleet: Fleet, session: str) -> None:
    """As `kill -9` does with the process that all others of it hang on."""
    (identity,) = {
        whose
        for mark in marked(MARK)
        if (whose := marked_identity(mark, fleet.stack)) is not None and whose.session_id == session
    }
    state = Store(fleet.sandboxes, fleet.stack).state(identity.sandbox_id)
    assert state is not None
    state.root.kill()


async def told(api: ApiClient, session: str, status: str, *, after: int = 0) -> Json:
    """The first time the session is told so of its computer."""
    events = api.events(session, after=after)
    async with asyncio.timeout(60), contextlib.aclosing(events):  # type: ignore[type-var]
        async for event in events:
            if event["type"] == "sandbox.updated" and event["status"] == status:
                return event
    raise AssertionError(f"never told that it is {status}")


def result_of(events: list[Json]) -> Json:
    (result,) = [event for event in events if event["type"] == "tool.finished"]
    return result


async def approved(api: ApiClient, session: str, accepted: Json) -> Json:
    """The result of the call that was asked for."""
    (*_, asked) = await api.until(session, "approval.requested", after=accepted["seq"])
    path = f"/sessions/{session}/approvals/{asked['approval_id']}"
    await api.json("POST", path, json={"decision": "approve"})
    return result_of(await api.until(session, "run.finished", after=accepted["seq"]))


async def test_one_killed_in_the_middle_of_a_call_is_told_and_the_next_message_has_another_with_the_files(
    fleet: Fleet, api: ApiClient
) -> None:
    session = await api.new_session()
    accepted = await api.send(session, f"{KEEPS}; echo begun; sleep 600")
    await api.until(session, "tool.output", after=accepted["seq"])
    kill_computer(fleet, session)
    (*_, end) = events = await api.until(session, "run.finished", after=accepted["seq"])
    result = result_of(events)
    assert (end["status"], result["success"]) == ("completed", False)
    assert "may have happened" in result["preview"]
    assert (await told(api, session, "gone"))["reason"]

    result = result_of(await api.ask(session, "run cat kept.txt"))
    assert result["success"]
    assert "restarted since the last call" in result["preview"]
    assert result["preview"].rstrip().endswith("kept")


async def test_one_killed_while_its_run_waits_for_a_person_is_another_when_that_goes_on(
    fleet: Fleet, api: ApiClient
) -> None:
    session = await api.new_session(options={"enable_approval": True})
    assert (await approved(api, session, await api.send(session, KEEPS)))["success"]
    accepted = await api.send(session, "run cat kept.txt")
    await api.until(session, "approval.requested", after=accepted["seq"])
    kill_computer(fleet, session)
    await told(api, session, "gone")
    result = await approved(api, session, accepted)
    assert result["success"]
    assert result["preview"].rstrip().endswith("kept")


async def test_one_killed_in_the_middle_of_an_upload_is_told_and_nothing_half_is_left(
    fleet: Fleet, api: ApiClient
) -> None:
    session = await api.new_session()
    await api.ask(session, KEEPS)

    async def body() -> AsyncIterator[bytes]:
        yield b'--b\r\nContent-Disposition: form-data; name="files"; filename="half.bin"\r\n\r\n' + b"x" * 2_000_000
        kill_computer(fleet, session)
        await told(api, session, "gone")
        yield b"x" * 2_000_000 + b"\r\n--b--\r\n"

    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    broken = await api.http.post(f"/sessions/{session}/files", content=body(), headers=headers)
    assert (broken.status_code, broken.headers["content-type"]) == (503, "application/problem+json"), broken.text
    assert broken.json()["retryable"]
    # By how far the gateway had come.
    assert broken.json()["code"] in ("computer_lost", "computer_unavailable")

    again = await api.http.post(f"/sessions/{session}/files", files={"files": ("whole.bin", b"y" * 1_000)})
    assert again.status_code == 201, again.text
    names = {entry["name"] for entry in await api.json("GET", f"/sessions/{session}/files")}
    assert names == {"kept.txt", "whole.bin"}


async def test_a_run_that_waits_for_a_person_holds_no_place_and_comes_back_to_its_computer_as_it_was(
    api: ApiClient,
) -> None:
    session = await api.new_session(options={"enable_approval": True})
    assert (await approved(api, session, await api.send(session, f"{KEEPS}; sleep 900 &")))["success"]
    accepted = await api.send(session, "run cat kept.txt; pgrep -c sleep")
    await api.until(session, "approval.requested", after=accepted["seq"])
    asleep = await told(api, session, "paused")

    other = await api.new_session()
    (*_, end) = await api.ask(other, "run echo the only place")
    assert end["status"] == "completed"
    assert (await api.json("GET", f"/sessions/{session}/sandbox"))["status"] == "paused"

    result = await approved(api, session, accepted)
    assert (result["success"], result["preview"].split()) == (True, ["kept", "1"])
    assert await told(api, session, "ready", after=asleep["seq"])


async def test_who_connects_meanwhile_is_told_in_time(fleet: Fleet, api: ApiClient) -> None:
    session = await api.new_session()
    await api.ask(session, KEEPS)
    kill_computer(fleet, session)
    listed: httpx.Response = await api.http.get(f"/sessions/{session}/files")
    if listed.status_code != 200:  # it has not been noticed yet
        assert (listed.status_code, listed.json()["retryable"]) == (503, True)
        assert int(listed.headers["retry-after"]) > 0
        await told(api, session, "gone")
        listed = await api.http.get(f"/sessions/{session}/files")
    assert [entry["name"] for entry in listed.json()] == ["kept.txt"]


async def test_a_run_that_waits_for_one_in_vain_ends_once_the_time_is_over_with_what_to_do_and_leaves_nothing(
    fleet: Fleet, api: ApiClient
) -> None:
    busy, session = await api.new_session(), await api.new_session()
    accepted = await api.send(busy, "run echo begun; sleep 600")
    await api.until(busy, "tool.output", after=accepted["seq"], timeout_s=120)
    (*_, end) = events = await api.ask(session, "run echo it", timeout_s=60)
    assert (end["status"], end["retryable"]) == ("failed", True)
    assert "1 running computer, which is the maximum" in end["reason"]
    updates = [(event["status"], event["queue_reason"]) for event in events if event["type"] == "sandbox.updated"]
    assert updates.count(("starting", "user_limit")) == 1
    assert updates[-1] == ("failed", None)
    assert session not in [folder.name for folder in (fleet.sandboxes / "workspaces").iterdir()]

    await api.json("DELETE", f"/sessions/{busy}", expect=204)
    (*_, end) = events = await api.ask(session, "run echo it")
    assert (end["status"], result_of(events)["success"]) == ("completed", True)
