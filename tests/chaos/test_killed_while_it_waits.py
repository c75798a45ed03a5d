"""Gateway and worker are killed while runs wait for a person or are summed up, and while a command runs in the
background: each goes on by itself, and no call runs twice."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.api_client import ApiClient, register
from support.chaos.asker import LEDGER, Asker
from support.chaos.settings import crashes, trial_settings
from support.fleet import Fleet, Shape, run_fleet
from support.model_server import ModelServer

SHAPE = Shape(gateways=1, workers=1, managers=1)
WITHIN_S = 120.0
"""A sandbox starts meanwhile, and a lease lapses."""
ASKS = {"enable_approval": True}


@dataclass(frozen=True, slots=True)
class Run:
    """One message in a session of its own."""

    api: ApiClient
    session: str

    async def event(self, event_type: str) -> dict[str, Any]:
        """The last one there is by the first of this type."""
        return (await self.api.until(self.session, event_type, timeout_s=WITHIN_S))[-1]

    async def resolve(self, what: str, wait_id: str, body: dict[str, Any], *, expect: int = 200) -> None:
        await self.api.json("POST", f"/sessions/{self.session}/{what}/{wait_id}", json=body, expect=expect)

    async def ends_once(self, *lines: str, finished: int) -> list[dict[str, Any]]:
        """It is completed with these lines in the ledger and so many results of tools; all its events."""
        (*_, end) = await self.api.until(self.session, "run.finished", timeout_s=WITHIN_S)
        events = await self.api.stored_events(self.session)
        assert end["status"] == "completed", events
        assert [event["type"] for event in events].count("tool.finished") == finished, events
        if lines:
            path = f"/sessions/{self.session}/files/content"
            ledger = (await self.api.json("GET", path, params={"path": LEDGER}))["content"]
            assert sorted(ledger.split()) == sorted(lines)
        return events


async def begin(api: ApiClient, text: str, **options: Any) -> Run:
    run = Run(api, await api.new_session(options=options))
    await api.send(run.session, text)
    return run


async def kill_both(fleet: Fleet) -> None:
    for name in ("worker-1", "gateway-1"):
        if fleet[name].is_alive:
            fleet[name].kill()
    for name in ("worker-1", "gateway-1"):
        fleet[name].start()
    await asyncio.gather(*(fleet[name].up() for name in ("worker-1", "gateway-1")))


@pytest.mark.timeout(300)
async def test_each_goes_on_and_no_call_runs_twice(tmp_path: Path) -> None:
    model = Asker()
    async with ModelServer(respond=model) as server:
        settings = trial_settings(server.openai_url)
        async with run_fleet(tmp_path, SHAPE, settings, runtime="process", forged=True) as fleet:
            async with await register(fleet.urls[0], "person") as api:
                await killed(fleet, api, model)
            assert not server.refusals
            assert not crashes(fleet)


async def killed(fleet: Fleet, api: ApiClient, model: Asker) -> None:
    two, one, question, plan, summary, later = await asyncio.gather(
        begin(api, "two approvals", **ASKS),
        begin(api, "one approval", **ASKS),
        begin(api, "a question"),
        begin(api, "a plan", enable_plan_mode=True),
        begin(api, "a summary"),
        begin(api, "a background"),
    )
    # While two wait, the call that needs no approval runs; of one of them is decided before all is killed.
    asked = await two.event("approval.requested")
    events = await api.stored_events(two.session)
    called = {event["call_id"]: event for event in events if event["type"] == "tool.called"}
    assert [called[call["call_id"]]["name"] for call in asked["calls"]] == ["shell_exec", "shell_exec"]
    done = [called[event["call_id"]]["name"] for event in events if event["type"] == "tool.finished"]
    assert done == ["file_find"]
    first = {"decision": "approve", "call_ids": [asked["calls"][0]["call_id"]]}
    await two.resolve("approvals", asked["approval_id"], first)
    await later.event("run.finished")
    approval, questions = await one.event("approval.requested"), await question.event("question.asked")
    proposed = await plan.event("plan.proposed")
    async with asyncio.timeout(WITHIN_S):
        await model.summing_up.wait()

    # What is said to a run that waits decides nothing, and is read after the decision.
    await api.send(question.session, "in a dark tone")

    # Nobody hears of these answers: there is no worker, and the gateway ends as soon as they are stored.
    fleet["worker-1"].kill()
    await asyncio.gather(
        one.resolve("approvals", approval["approval_id"], {"decision": "approve"}),
        question.resolve("questions", questions["question_id"], {"answers": {"q": "red"}}),
        plan.resolve("plans", proposed["plan_id"], {"decision": "approve"}),
    )
    await kill_both(fleet)

    await asyncio.gather(one.ends_once("only", finished=1), question.ends_once(finished=1), plan.ends_once(finished=1))
    (read,) = [told for told in model.read if "in a dark tone" in told]
    assert "> red" in read.partition("in a dark tone")[0]
    # What waits was left alone by that, and what was decided stays so.
    assert (await api.json("GET", f"/sessions/{two.session}"))["status"] == "waiting"
    await two.resolve("approvals", asked["approval_id"], {**first, "decision": "deny"}, expect=409)
    await two.resolve("approvals", asked["approval_id"], {"decision": "approve"})
    await two.resolve("approvals", asked["approval_id"], {"decision": "approve"}, expect=409)
    events = await two.ends_once("first", "second", finished=3)
    assert [event["type"] for event in events].count("approval.requested") == 1

    # What ran in the background meanwhile is told by whoever is there, once, and ran once.
    events = await api.until(later.session, "background.finished", timeout_s=WITHIN_S)
    ended = await api.until(later.session, "run.finished", after=events[-1]["seq"], timeout_s=WITHIN_S)
    assert [event["cause"] for event in ended if event["type"] == "run.queued"] == ["background"]
    assert [event["type"] for event in await later.ends_once("later", finished=1)].count("background.finished") == 1
    assert any("it is built" in told for told in model.read)

    events = await summary.ends_once("before", finished=1)
    assert [event["attempt"] for event in events if event["type"] == "run.started"] == [1, 2]
    assert [event["type"] for event in events].count("context.compacted") == 1
