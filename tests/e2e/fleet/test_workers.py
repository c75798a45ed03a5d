"""Two gateways, two workers: what a person wants reaches a run wherever it is, and no process is needed for long."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from support.api_client import ApiClient, register
from support.fleet import Fleet, Shape, run_fleet
from support.fleet_member import Member

pytestmark = pytest.mark.asyncio(loop_scope="module")
Json = dict[str, Any]
LEASE_S = 10
_SETTINGS = {
    "LLM_PROVIDER": "demo",
    "DEMO_DELAY_MS": "20",
    "SANDBOX_DESKTOP": "false",
    "SANDBOX_MAX_PER_USER": "20",
    "RATE_LIMITS": "messages=0",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Fleet]:
    async with run_fleet(tmp_path_factory.mktemp("fleet"), Shape(gateways=2, workers=2), _SETTINGS) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def near(fleet: Fleet) -> AsyncGenerator[ApiClient]:
    """A person at the first gateway."""
    async with await register(fleet.urls[0], "anna") as api:
        yield api


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def far(fleet: Fleet, near: ApiClient) -> AsyncGenerator[ApiClient]:
    """The same person at the second one."""
    async with ApiClient(fleet.urls[1], near.token) as api:
        yield api


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def session(near: ApiClient) -> str:
    """A session whose computer runs already."""
    session_id = await near.new_session()
    await near.ask(session_id, "run true")
    return session_id


def holder(fleet: Fleet, events: list[Json]) -> Member:
    """The worker that holds the run last started."""
    name = [event["worker"] for event in events if event["type"] == "run.started"][-1]
    return next(member for member in fleet.kind("worker") if f"-{member.pid}-" in name)


async def sound(api: ApiClient, session: str) -> list[Json]:
    """The whole stream as stored, which has no hole and no double."""
    events = await api.stored_events(session)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    return events


def results(events: list[Json]) -> list[Json]:
    return [event for event in events if event["type"] == "tool.finished"]


async def begun(api: ApiClient, session: str, text: str, until: str) -> tuple[Json, list[Json]]:
    """Say something; what was accepted, and the events up to a type."""
    accepted = await api.send(session, text)
    return accepted, await api.until(session, until, after=accepted["seq"])


async def test_a_stop_at_another_gateway_reaches_the_worker_in_half_a_second(
    near: ApiClient, far: ApiClient, session: str
) -> None:
    took: list[float] = []
    for _ in range(3):
        accepted, _ = await begun(near, session, "run sleep 60", "tool.called")
        began = time.monotonic()
        await far.json("POST", f"/sessions/{session}/stop", expect=202)
        events = await far.until(session, "run.finished", after=accepted["seq"])
        took.append(time.monotonic() - began)
        assert events[-1]["status"] == "stopped"
        assert [result["cancelled"] for result in results(events)] == [True]
    # Of three on a busy machine; a heartbeat alone would take seconds.
    assert min(took) < 0.5, took
    await sound(near, session)


async def test_a_redirect_in_mid_command_cuts_it_and_goes_on_in_the_same_run(
    near: ApiClient, far: ApiClient, session: str
) -> None:
    accepted, _ = await begun(near, session, "run echo begun; sleep 60; echo slept", "tool.output")
    redirect = await far.send(session, "run echo redirected", interrupt=True)
    assert redirect["run_id"] == accepted["run_id"]
    events = await near.until(session, "run.finished", after=accepted["seq"])
    assert events[-1]["status"] == "completed"
    first, second = results(events)
    assert (first["cancelled"], first["success"]) == (True, False)
    assert "may have happened" in first["preview"]
    assert (second["cancelled"], second["preview"].strip()) == (False, "redirected")
    types = [event["type"] for event in events]
    assert "run.started" not in types[types.index("tool.called") :], "nobody took the run over in the middle"
    await sound(near, session)


async def test_a_redirect_in_mid_answer_keeps_what_was_said(near: ApiClient, far: ApiClient, session: str) -> None:
    accepted, _ = await begun(near, session, "stream 3000", "message.delta")
    await far.send(session, "run echo redirected", interrupt=True)
    events = await near.until(session, "run.finished", after=accepted["seq"])
    assert events[-1]["status"] == "completed"
    said = [event for event in events if event["type"] == "message.completed"]
    assert said[0]["partial"]
    assert said[0]["text"]
    assert [result["preview"].strip() for result in results(events)] == ["redirected"]
    await sound(near, session)


async def test_one_message_sent_to_two_gateways_at_once_is_accepted_once_for_ever(
    near: ApiClient, far: ApiClient
) -> None:
    session = await near.new_session()
    sent = await asyncio.gather(
        *(api.send(session, "stream 5", client_message_id="c-1") for api in (near, far) for _ in range(3))
    )
    assert [one["duplicate"] for one in sent].count(False) == 1
    assert len({(one["message_id"], one["run_id"], one["seq"]) for one in sent}) == 1
    await near.until(session, "run.finished")
    late = await far.send(session, "stream 5", client_message_id="c-1")
    assert (late["duplicate"], late["seq"]) == (True, sent[0]["seq"])
    events = await sound(near, session)
    assert [event["type"] for event in events].count("message.user") == 1
    assert [event["type"] for event in events].count("run.finished") == 1


async def test_a_job_is_cancelled_from_another_gateway(near: ApiClient, far: ApiClient) -> None:
    session = await near.new_session()
    accepted, _ = await begun(near, session, "stream 3000", "message.delta")
    job = f"/jobs/{accepted['run_id']}"
    assert (await far.json("GET", job))["status"] == "running"
    await far.json("POST", f"{job}/cancel", expect=202)
    await near.until(session, "run.finished", after=accepted["seq"])
    assert (await far.json("GET", job))["status"] == "cancelled"
    await far.json("POST", f"{job}/cancel", expect=409)


@pytest.mark.thorough
async def test_a_run_begins_while_redis_is_away(fleet: Fleet, near: ApiClient) -> None:
    session = await near.new_session()
    fleet["redis"].kill()
    try:
        events = await near.ask(session, "stream 5")
    finally:
        fleet["redis"].start()
        await fleet["redis"].up()
    assert events[-1]["status"] == "completed"
    assert (await near.ask(session, "stream 5"))[-1]["status"] == "completed"


async def test_a_worker_that_ends_hands_its_run_over_and_that_is_no_failed_attempt(
    fleet: Fleet, near: ApiClient, session: str
) -> None:
    accepted, events = await begun(near, session, "run echo begun; sleep 60; echo slept", "tool.output")
    worker = holder(fleet, events)
    began = time.monotonic()
    assert await worker.stop() == 0
    took = time.monotonic() - began
    try:
        events = await near.until(session, "run.finished", after=accepted["seq"])
    finally:
        worker.start()
        await worker.up()
    # Its clean end is bounded; what it may take on top is the machine's.
    assert took < 20
    assert events[-1]["status"] == "completed"
    started = [event for event in await sound(near, session) if event["type"] == "run.started"]
    started = [event for event in started if event["run_id"] == accepted["run_id"]]
    assert [event["attempt"] for event in started] == [1, 2]
    (result,) = results(events)
    assert not result["success"]
    assert "may have happened" in result["preview"]


@pytest.mark.thorough
async def test_a_paused_worker_that_wakes_after_its_lease_says_and_writes_nothing_more(
    fleet: Fleet, near: ApiClient, far: ApiClient
) -> None:
    session = await near.new_session()
    accepted, events = await begun(near, session, "stream 1000", "message.delta")
    worker, old = holder(fleet, events), events[-1]["message_id"]
    heard: list[Json] = []
    async with _listening(far, session, accepted["seq"], heard):
        worker.process.send_signal(signal.SIGSTOP)  # type: ignore[union-attr]
        try:
            await _until(lambda: [one["attempt"] for one in heard if one["type"] == "run.started"] == [1, 2], 60)
        finally:
            worker.process.send_signal(signal.SIGCONT)  # type: ignore[union-attr]
        taken_over = len(heard)
        await _until(lambda: any(event["type"] == "run.finished" for event in heard), 60)
    after = [event for event in heard[taken_over:] if event.get("message_id") == old]
    assert after == [], "the one that was paused spoke on"
    (finished,) = [event for event in heard if event["type"] == "run.finished"]
    assert finished["status"] == "completed"
    stored = await sound(near, session)
    assert len([event for event in stored if event["type"] == "message.completed"]) == 1
    assert len([event for event in stored if event["type"] == "run.finished"]) == 1
    assert "run lost to another worker" in worker.tail(200_000) or "lease" in worker.tail(200_000)


@contextlib.asynccontextmanager
async def _listening(api: ApiClient, session: str, after: int, heard: list[Json]) -> AsyncIterator[None]:
    async def listen() -> None:
        async for event in api.events(session, after=after):
            heard.append(event)

    task = asyncio.create_task(listen())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


async def _until(is_so: Any, timeout_s: float) -> None:
    async with asyncio.timeout(timeout_s):
        while not is_so():
            await asyncio.sleep(0.05)
