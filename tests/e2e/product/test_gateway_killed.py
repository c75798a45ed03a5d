"""A process that dies in the middle of a run leaves nothing running for ever and nothing done twice."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpx
import pytest

from support.api_client import ApiClient
from support.stack import Stack
from support.tls import NO_TLS

Json = dict[str, Any]


async def wait_until_ready(stack: Stack, *, timeout_s: float = 30) -> None:
    async with asyncio.timeout(timeout_s), httpx.AsyncClient(trust_env=False, verify=NO_TLS) as http:
        while True:
            try:
                if (await http.get(f"{stack.base_url}/readyz")).status_code == 200:
                    return
            except httpx.HTTPError:
                pass
            await asyncio.sleep(0.05)


async def test_a_run_whose_gateway_was_killed_in_mid_command_goes_on_before_that_would_have_ended(stack: Stack) -> None:
    async with ApiClient(stack.base_url) as api:
        session = await api.new_session()
        await api.ask(session, "run true")
        accepted = await api.send(session, "run echo begun >> count.txt && sleep 40")
        await api.until(session, "tool.called", after=accepted["seq"])
        async with asyncio.timeout(10):
            while (await api.http.get(f"/sessions/{session}/files/download?path=count.txt")).status_code != 200:
                await asyncio.sleep(0.05)

        await stack.kill(stack.runner)
        await wait_until_ready(stack)
        restarted = time.monotonic()

        events = await api.until(session, "run.finished", after=accepted["seq"], timeout_s=30)
        took = time.monotonic() - restarted
        # Its lease is over after 10 s; the command itself would take 40.
        assert took < 25, f"{took:.1f} s after the start"
        assert events[-1]["status"] in {"completed", "interrupted"}
        result = next(event for event in events if event["type"] == "tool.finished")
        assert not result["success"]
        assert "may have" in result["preview"]
        content = await api.http.get(f"/sessions/{session}/files/download", params={"path": "count.txt"})
        assert content.text == "begun\n", "the command ran twice"
        state: Json = await api.json("GET", f"/sessions/{session}/state")
        assert state["session"]["status"] == "idle"
        again = await api.ask(session, "run echo usable")
        assert again[-1]["status"] == "completed"


@pytest.mark.thorough
@pytest.mark.parametrize("database", ["as it was", "restarted under the gateway"])
async def test_an_answer_cut_by_a_killed_gateway_is_given_after_the_restart(stack: Stack, database: str) -> None:
    if database != "as it was":
        await stack.kill("mongod")
        await wait_until_ready(stack)
    async with ApiClient(stack.base_url) as api:
        session = await api.new_session()
        accepted = await api.send(session, "stream 300")
        async with asyncio.timeout(30):
            async for event in api.events(session, after=accepted["seq"]):
                if event["type"] == "message.delta":
                    break
        await stack.kill(stack.runner)
        await wait_until_ready(stack)
        events = await api.until(session, "run.finished", after=accepted["seq"], timeout_s=40)
        assert events[-1]["status"] == "completed"
        stored = await api.stored_events(session)
        assert [event["seq"] for event in stored] == list(range(1, len(stored) + 1))
        assert len([event for event in stored if event["type"] == "message.user"]) == 1
