"""Stop means stop: the stream, the command and everything it started."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from support.api_client import ApiClient
from support.figures import reached
from support.stack import Stack

Json = dict[str, Any]


def processes_with(argument: str) -> list[int]:
    """Ids of processes on this machine, sandboxes included, that have `argument` in their command line."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if argument.encode() in command.split(b"\0"):
            found.append(int(entry.name))
    return found


async def wait_for_processes(argument: str, *, at_least: int) -> None:
    async with asyncio.timeout(30):
        while len(processes_with(argument)) < at_least:
            await asyncio.sleep(0.02)


async def test_stop_during_a_command_ends_the_run_in_half_a_second_and_leaves_no_process(stack: Stack) -> None:
    async with ApiClient(stack.base_url) as api:
        session = await api.new_session()
        await api.ask(session, "run true")

        async def stopping() -> float:
            accepted = await api.send(session, "run sleep 7261 & setsid sleep 7261 & sleep 7261")
            await wait_for_processes("7261", at_least=3)
            started = time.perf_counter()
            await api.json("POST", f"/sessions/{session}/stop", expect=202)
            events = await api.until(session, "run.finished", after=accepted["seq"])
            took = time.perf_counter() - started
            assert events[-1]["status"] == "stopped"
            async with asyncio.timeout(30):
                while processes_with("7261"):
                    await asyncio.sleep(0.01)
            # The processes are gone as soon as the run has ended, or half a second later.
            return max(took, time.perf_counter() - started - 0.5)

        await reached(stopping, below_s=0.5)
        after = await api.ask(session, "run echo still here")
        assert after[-1]["status"] == "completed"


async def test_stop_in_mid_answer_keeps_the_partial_text(stack: Stack) -> None:
    async with ApiClient(stack.base_url) as api:
        await reached(lambda: _stopped_in_mid_answer(api), below_s=0.5)


async def _stopped_in_mid_answer(api: ApiClient) -> float:
    """How long the stop took."""
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


async def test_stop_of_an_idle_session_has_nothing_to_do(stack: Stack) -> None:
    async with ApiClient(stack.base_url) as api:
        session = await api.new_session()
        response = await api.http.post(f"/sessions/{session}/stop")
        assert response.status_code == 204
