"""A run waits for a person for an hour by the clock of the store: it takes nothing from others, and its deadline ends
it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pymongo
import pytest

from support.api_client import ApiClient, register
from support.chaos.asker import Asker
from support.chaos.settings import crashes, trial_settings
from support.fleet import Fleet, Shape, run_fleet
from support.jumping_clock import LIBRARIES, jump, jumping_with
from support.model_server import ModelServer

SHAPE = Shape(gateways=1, workers=1, managers=1)
JUMPING = ("mongod", "gateway-1", "worker-1")
HOUR_S = 3600
LIMITS = {"QUOTAS": "runs=1", "MAX_CONCURRENT_RUNS": "1", "APPROVAL_TIMEOUT": str(1.5 * HOUR_S)}


@pytest.mark.timeout(300)
@pytest.mark.skipif(not LIBRARIES, reason="the package faketime is not installed: a clock can't be made to jump")
async def test_a_run_that_waits_holds_no_lease_and_no_slot_and_ends_at_its_deadline(tmp_path: Path) -> None:
    clock = tmp_path / "clock"
    faked = jumping_with(clock)
    async with ModelServer(respond=Asker()) as model:
        settings = trial_settings(model.openai_url) | LIMITS
        async with run_fleet(tmp_path, SHAPE, settings, runtime="fake", only=dict.fromkeys(JUMPING, faked)) as fleet:
            async with await register(fleet.urls[0], "person") as api:
                waiting = await api.new_session(options={"enable_approval": True})
                await api.send(waiting, "one approval")
                asked = (await api.until(waiting, "approval.requested"))[-1]
                await holds_nothing(fleet, api, waiting)
                jump(clock, HOUR_S)
                await holds_nothing(fleet, api, waiting)
                jump(clock, 2 * HOUR_S)
                (*_, end) = await api.until(waiting, "run.finished")
                events = await api.stored_events(waiting)
                late = {"decision": "approve"}
                await api.json("POST", f"/sessions/{waiting}/approvals/{asked['approval_id']}", json=late, expect=409)
        assert not model.refusals
        assert not crashes(fleet)
    assert end["status"] == "completed", events
    (resolved,) = [event for event in events if event["type"] == "approval.resolved"]
    assert (resolved["decision"], resolved["by"]) == ("deny", "timeout")
    assert not [event for event in events if event["type"] == "tool.started"]
    (result,) = [event for event in events if event["type"] == "tool.finished"]
    assert not result["success"]


async def holds_nothing(fleet: Fleet, api: ApiClient, waiting: str) -> None:
    """Nobody has it, and the one run that its user and the worker may have at once is another one's."""
    run = await asyncio.to_thread(_run_of, fleet, waiting)
    assert (run["status"], run["worker"], run["lease_expires_at"]) == ("waiting", None, None)
    other = await api.new_session()
    await api.send(other, "a hello")
    (*_, end) = await api.until(other, "run.finished")
    assert end["status"] == "completed"
    assert (await api.json("GET", f"/sessions/{waiting}"))["status"] == "waiting"


def _run_of(fleet: Fleet, session: str) -> dict[str, Any]:
    with pymongo.MongoClient[dict[str, Any]](fleet.mongo_uri) as client:
        for name in client.list_database_names():
            if (run := client[name]["runs"].find_one({"session_id": session})) is not None:
                return run
    raise AssertionError("there is no such run")
