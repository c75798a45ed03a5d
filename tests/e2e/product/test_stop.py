"""Stop means stop: the stream, the command and everything it started."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from support.api_client import ApiClient
from support.endpoint import await_true, processes_with
from support.figures import TIMES, assert_median
from support.stack import Stack

Json = dict[str, Any]


async def stopped_in_a_command(api: ApiClient, session: str) -> float:
    """How long the stop of a command takes."""
    accepted = await api.send(session, "run sleep 7261 & setsid sleep 7261 & sleep 7261")
    await asyncio.to_thread(await_true, lambda: len(processes_with("sleep 7261")) >= 3)
    started = time.perf_counter()
    await api.json("POST", f"/sessions/{session}/stop", expect=202)
    events = await api.until(session, "run.finished", after=accepted["seq"])
    took = time.perf_counter() - started
    assert events[-1]["status"] == "stopped"
    await asyncio.to_thread(await_true, lambda: not processes_with("sleep 7261"))
    return took


async def stopped_in_mid_answer(api: ApiClient) -> float:
    """How long the stop of an answer takes."""
    session = await api.new_session()
    accepted = await api.send(session, "stream 2000")
    shown = ""
    async with asyncio.timeout(30):
        async for event in api.events(session, after=accepted["seq"]):
            if event["type"] == "message.delta":
                shown = shown[: event["offset"]] + event["text"]
            if len(shown) > 200:
                break
    started = time.perf_counter()
    await api.json("POST", f"/sessions/{session}/stop", expect=202)
    events = await api.until(session, "run.finished", after=accepted["seq"])
    took = time.perf_counter() - started
    assert events[-1]["status"] == "stopped"
    completed = [event for event in events if event["type"] == "message.completed"]
    assert completed[-1]["text"].startswith(shown)
    state: Json = await api.json("GET", f"/sessions/{session}/state")
    assert state["session"]["status"] == "idle"
    return took


async def test_stop_during_a_command_ends_the_run_and_leaves_no_process(stack: Stack) -> None:
    async with ApiClient(stack.base_url) as api:
        session = await api.new_session()
        await stopped_in_a_command(api, session)
        after = await api.ask(session, "run echo still here")
        assert after[-1]["status"] == "completed"


async def test_stop_in_mid_answer_keeps_the_partial_text(stack: Stack) -> None:
    async with ApiClient(stack.base_url) as api:
        await stopped_in_mid_answer(api)


@pytest.mark.quiet
async def test_stop_takes_less_than_half_a_second(stack: Stack) -> None:
    async with ApiClient(stack.base_url) as api:
        session = await api.new_session()
        await api.ask(session, "run true")
        assert_median([await stopped_in_a_command(api, session) for _ in range(TIMES)], below_s=0.5)
        assert_median([await stopped_in_mid_answer(api) for _ in range(TIMES)], below_s=0.5)


async def test_stop_of_an_idle_session_has_nothing_to_do(stack: Stack) -> None:
    async with ApiClient(stack.base_url) as api:
        session = await api.new_session()
        response = await api.http.post(f"/sessions/{session}/stop")
        assert response.status_code == 204
