"""Gateway and worker are killed while three agents work for the main one, one of them waiting for a person, and a
command runs in the background: each goes on from where it stood, and no call runs twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.api_client import ApiClient, Json, register
from support.chaos.settings import crashes, trial_settings
from support.fleet import Fleet, Shape, run_fleet
from support.model_server import Answer, Call, ModelServer
from support.scripted_stack import of_type, tools_of

SHAPE = Shape(gateways=1, workers=1, managers=1)
WITHIN_S = 120.0
LEDGER = "ledger.txt"
CHILDREN = ("asks", "first", "second")
USAGE = (10, 4, 2)
SAID = Answer(texts=("It is done.",), usage=USAGE)


def shell(name: str, command: str) -> Call:
    return Call(name="shell_exec", id=f"call_{name}", arguments=json.dumps({"command": command, "shell": name}))


def calls(*made: Call) -> Answer:
    return Answer(texts=(), calls=made, usage=USAGE)


def respond(request: Json) -> Answer:
    """By who is asked and how often it has answered already."""
    messages: list[Json] = request["messages"]
    said = sum(message["role"] == "assistant" for message in messages)
    task = next(str(message["content"]) for message in messages if message["role"] == "user")
    if "task" in tools_of(request):
        return _main(said)
    name = next(name for name in CHILDREN if f"the {name} one" in task)
    if name == "asks":
        write = Call(name="file_write", id="call_write", arguments='{"path": "asked.txt", "content": "yes"}')
        return calls(write) if said == 0 else SAID
    steps = [
        f"echo {name} began >> {LEDGER}",
        f"echo {name} works >> {LEDGER}; sleep 5",
        f"echo {name} ends >> {LEDGER}",
    ]
    return calls(shell(f"{name}_{said}", steps[said])) if said < len(steps) else SAID


def _main(said: int) -> Answer:
    if said > 0:
        return SAID
    command = json.dumps({"command": f"sleep 8; echo background >> {LEDGER}; echo it is built"})
    tasks = [{"description": name, "prompt": f"You are the {name} one."} for name in CHILDREN]
    handed = [Call(name="task", id=f"call_{one['description']}", arguments=json.dumps(one)) for one in tasks]
    return calls(Call(name="background_run", id="call_background", arguments=command), *handed)


@pytest.mark.timeout(240)
async def test_children_go_on_and_no_call_runs_twice(tmp_path: Path) -> None:
    async with ModelServer(respond=respond) as server:
        settings = trial_settings(server.openai_url)
        async with run_fleet(tmp_path, SHAPE, settings, runtime="process", forged=True) as fleet:
            async with await register(fleet.urls[0], "person") as api:
                await killed(fleet, api)
            assert not server.refusals
            assert not crashes(fleet)


async def killed(fleet: Fleet, api: ApiClient) -> None:
    session = await api.new_session(title="named", options={"asked_tools": ["file_write"]})
    await api.send(session, "hand it on")
    approval = (await api.until(session, "approval.requested", timeout_s=WITHIN_S))[-1]
    await until_called(api, session, "first works", "second works")
    for name in ("worker-1", "gateway-1"):
        fleet[name].kill()
    for name in ("worker-1", "gateway-1"):
        fleet[name].start()
    for name in ("worker-1", "gateway-1"):
        await fleet[name].up()

    # Whose work nobody has to decide on goes on by itself; the other one is asked about once, and waits.
    await until_called(api, session, "first ends", "second ends")
    events = await api.stored_events(session)
    assert len(of_type(events, "approval.requested")) == 1
    (writes,) = [event["call_id"] for event in of_type(events, "tool.called") if event["name"] == "file_write"]
    assert writes not in [event["call_id"] for event in of_type(events, "tool.finished")]
    path = f"/sessions/{session}/approvals/{approval['approval_id']}"
    await api.json("POST", path, json={"decision": "approve"})
    await api.json("POST", path, json={"decision": "approve"}, expect=409)

    end = (await api.until(session, "run.finished", timeout_s=WITHIN_S))[-1]
    assert end["status"] == "completed"
    await api.until(session, "background.finished", timeout_s=WITHIN_S)
    content = await api.json("GET", f"/sessions/{session}/files/content", params={"path": LEDGER})
    lines = content["content"].splitlines()
    wanted = [f"{name} {step}" for name in ("first", "second") for step in ("began", "works", "ends")]
    assert sorted(lines) == sorted([*wanted, "background"])
    told_once(await api.stored_events(session), end)


def told_once(events: list[Json], end: Json) -> None:
    called = [event["call_id"] for event in of_type(events, "tool.called")]
    finished = [event["call_id"] for event in of_type(events, "tool.finished")]
    assert len(called) == len(set(called)) == 1 + 3 + 1 + 6
    assert sorted(finished) == sorted(called)
    assert len(of_type(events, "background.finished")) == 1
    children = of_type(events, "subagent.finished")
    assert len(children) == len(of_type(events, "subagent.started")) == 3
    # What the main agent used is what was asked of a model for itself: once before the children, and once after, or
    # twice where the background command had ended by then.
    main = sum_of(end["usage"]) - sum(sum_of(child["usage"]) for child in children)
    assert main in (2 * sum(USAGE[::2]), 3 * sum(USAGE[::2]))


def sum_of(usage: dict[str, Any]) -> int:
    return int(usage["input"]) + int(usage["output"])


async def until_called(api: ApiClient, session: str, *commands: str) -> None:
    """Calls with these in their commands have begun."""
    missing, after = set(commands), 0
    while missing:
        event = (await api.until(session, "tool.called", after=after, timeout_s=WITHIN_S))[-1]
        missing = {command for command in missing if command not in json.dumps(event)}
        after = event["seq"]
