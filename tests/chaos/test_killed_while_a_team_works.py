"""Gateway and worker are killed while a teammate is at work: another worker goes on inside it, and nothing happens
twice."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from support.api_client import Json, register
from support.chaos.settings import crashes, trial_settings
from support.fleet import Shape, run_fleet
from support.model_server import Answer, ModelServer
from support.scripted_stack import call, calls, of_type
from support.team_scripts import plays, says, spawn

SHAPE = Shape(gateways=1, workers=1, managers=1)
WITHIN_S = 120.0


@pytest.mark.timeout(300)
async def test_another_worker_goes_on_inside_a_teammate(tmp_path: Path) -> None:
    async with ModelServer() as model:

        def hangs_once(_: Json) -> Answer:
            return says("I dug.") if model.silent.is_set() else Answer(hang=True)

        plays(
            model,
            by_history=True,
            lead=[calls(call("task_create", subject="water")), spawn("amy"), says("Begun."), says("Read.")],
            amy=[calls(call("shell_exec", command="echo dug >> ledger.txt")), hangs_once],
        )
        settings = trial_settings(model.openai_url)
        async with run_fleet(tmp_path, SHAPE, settings, runtime="process", forged=True) as fleet:
            async with await register(fleet.urls[0], "person") as api:
                session = await api.new_session(title="named", options={"enable_teams": True})
                await api.send(session, "dig")
                async with asyncio.timeout(WITHIN_S):
                    await model.silent.wait()
                for name in ("worker-1", "gateway-1"):
                    fleet[name].kill()
                for name in ("worker-1", "gateway-1"):
                    fleet[name].start()
                await asyncio.gather(*(fleet[name].up() for name in ("worker-1", "gateway-1")))
                (*_, end) = await api.until(session, "run.finished", timeout_s=WITHIN_S)
                assert end["status"] == "completed"
                events = await api.stored_events(session)
                assert [event["attempt"] for event in of_type(events, "run.started")] == [1, 2]
                path = f"/sessions/{session}/files/content"
                assert (await api.json("GET", path, params={"path": "ledger.txt"}))["content"] == "dug\n"
                told = [(one["sender"], one["msg_type"]) for one in of_type(events, "team.message")]
                assert told.count(("amy", "result")) == 2, told
                assert told.count(("tasks", "task")) == 1, told
                statuses = [one["status"] for one in of_type(events, "teammate.updated")]
                assert statuses == ["working", "idle", "working", "idle", "left"]
            assert not model.refusals
            assert not crashes(fleet)
