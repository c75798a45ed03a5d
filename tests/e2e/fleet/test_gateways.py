"""Two gateways that work themselves: one ends while people look at it."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import httpx

from support.api_client import ApiClient, register
from support.fleet import Shape, run_fleet
from support.tls import NO_TLS

Json = dict[str, Any]
_SETTINGS = {"LLM_PROVIDER": "demo", "DEMO_DELAY_MS": "20", "SANDBOX_DESKTOP": "false"}


async def test_a_gateway_that_ends_closes_its_streams_and_hands_its_run_to_the_other(tmp_path: Path) -> None:
    async with run_fleet(tmp_path, Shape(gateways=2), _SETTINGS, runtime="fake") as fleet:
        async with await register(fleet.urls[0], "anna") as near, ApiClient(fleet.urls[1], near.token) as far:
            session = await far.new_session()
            accepted = await near.send(session, "stream 1000")
            await near.until(session, "message.delta", after=accepted["seq"])
            readers = [asyncio.create_task(_all(near, session)) for _ in range(20)]
            waiting = asyncio.create_task(near.http.post(f"/sessions/{session}/runs", json={"text": "stream 5"}))
            await far.until(session, "message.user", after=accepted["seq"] + 2)
            began = time.monotonic()
            assert await fleet["gateway-1"].stop() == 0
            took = time.monotonic() - began
            # Each stream ended as one does, not as a broken connection.
            seen = await asyncio.gather(*readers)
            assert all(not events or events[0]["seq"] == 1 for events in seen)
            answer = await waiting
            assert (answer.status_code, answer.json()["code"]) == (503, "run_takes_too_long")
            assert took < 20
            events = await far.until(session, "run.finished", after=accepted["seq"])
            assert events[-1]["status"] == "completed"
            stored = await far.stored_events(session)
            assert [event["seq"] for event in stored] == list(range(1, len(stored) + 1))
            started = [event for event in stored if event["type"] == "run.started"]
            assert [event["attempt"] for event in started[:2]] == [1, 2]
            assert [event["type"] for event in stored].count("message.user") == 2
            with_log = fleet["gateway-1"].tail(200_000)
            assert "run left without an end" not in with_log
            await _refused(fleet.urls[0])


async def _all(api: ApiClient, session: str) -> list[Json]:
    return [event async for event in api.events(session)]


async def _refused(url: str) -> None:
    async with httpx.AsyncClient(trust_env=False, verify=NO_TLS) as http:
        try:
            await http.get(f"{url}/healthz")
        except httpx.ConnectError:
            return
    raise AssertionError("it still answers")
