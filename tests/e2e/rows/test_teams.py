"""Agents that work beside the one that the person talks to, in the same run and on the same computer."""

from __future__ import annotations

import json

import pytest

from support.api_client import ApiClient, Json
from support.scripted_stack import HELPERS, Scripted, call, calls, in_any_form, of_type, said_in, tools_of
from support.team_scripts import answering, plays, says, spawn

pytestmark = pytest.mark.asyncio(loop_scope="session")
TEAM = {"enable_teams": True}
LEAD_TOOLS = {"spawn_teammate", "list_teammates", "shutdown_request", "check_protocol", "plan_review"}
OWN_TOOLS = {"submit_plan", "answer_shutdown"}
ALL_HAVE = {"send_message", "read_inbox", "broadcast"}


def statuses(events: list[Json], name: str) -> list[tuple[str, str | None]]:
    told = [event for event in of_type(events, "teammate.updated") if event["name"] == name]
    return [(event["status"], event["reason"]) for event in told]


async def test_a_teammate_works_beside_it_and_wakes_it_by_a_message(scripted: Scripted, api: ApiClient) -> None:
    asked = plays(
        scripted.model,
        lead=[spawn("amy"), says("She is at it."), says("She made it.")],
        amy=[
            calls(call("shell_exec", command="echo tea > cup")),
            calls(call("send_message", to="lead", content="There is tea.", msg_type="result")),
        ],
    )
    session = await api.new_session(title="named", options=TEAM)
    events = await api.ask(session, "make tea")
    assert events[-1]["status"] == "completed"
    assert [event["text"] for event in of_type(events, "message.completed") if "agent_id" not in event] == [
        "She is at it.",
        "She made it.",
    ]
    assert set(tools_of(asked["lead"][0])) >= LEAD_TOOLS | ALL_HAVE
    assert not OWN_TOOLS & set(tools_of(asked["lead"][0]))
    own = set(tools_of(asked["amy"][0]))
    assert own >= OWN_TOOLS | ALL_HAVE | {"shell_exec", "task_update"}
    assert not (LEAD_TOOLS | {"task", "ask_user", "enter_plan_mode"}) & own
    assert {request["model"] for request in asked["amy"]} == {HELPERS}
    assert "make tea" not in said_in(asked["amy"][-1])
    assert "A result from amy." in said_in(asked["lead"][-1])
    assert "not from the person" in said_in(asked["lead"][-1])
    (spawned,) = [event for event in of_type(events, "tool.called") if event["name"] == "spawn_teammate"]
    (made,) = [event for event in of_type(events, "tool.called") if event["name"] == "shell_exec"]
    assert made["parent_call_id"] == spawned["call_id"]
    assert {event["agent_id"] for event in of_type(events, "teammate.updated")} == {made["agent_id"]}
    assert statuses(events, "amy") == [("working", None), ("idle", None), ("left", "run_ended")]
    cup = await api.json("GET", f"/sessions/{session}/files/content", params={"path": "cup"})
    assert cup["content"] == "tea\n"
    await written(api, session)
    last = of_type(events, "usage.updated")[-1]["usage"]
    assert events[-1]["usage"]["input"] == last["input"]
    assert set(last["by_model"]) == {scripted.default, HELPERS}


async def written(api: ApiClient, session: str) -> None:
    """Config and inboxes stand in the workspace, where nothing reads them."""
    config = await api.json("GET", f"/sessions/{session}/files/content", params={"path": ".team/config.json"})
    (member,) = json.loads(config["content"])["members"]
    assert (member["name"], member["status"]) == ("amy", "left")
    inbox = await api.json("GET", f"/sessions/{session}/files/content", params={"path": ".team/inbox_lead.jsonl"})
    (line,) = inbox["content"].splitlines()
    assert json.loads(line)["content"] == "There is tea."


async def test_the_first_command_finds_the_team_and_the_tasks_as_files(scripted: Scripted, api: ApiClient) -> None:
    read = "cat .team/config.json .team/inbox_amy.jsonl .tasks/task_1.json"
    plays(
        scripted.model,
        lead=[
            calls(call("task_create", subject="look for owls")),
            spawn("amy"),
            calls(call("shell_exec", command=read)),
        ],
    )
    session = await api.new_session(title="named", options=TEAM)
    events = await api.ask(session, "go")
    (made,) = [event for event in of_type(events, "tool.called") if event["name"] == "shell_exec"]
    (found,) = [event for event in of_type(events, "tool.finished") if event["call_id"] == made["call_id"]]
    assert found["success"], found["preview"]
    assert '"name": "amy"' in found["preview"]
    assert '"subject": "look for owls"' in found["preview"]


@in_any_form
async def test_without_the_option_there_is_no_team(scripted: Scripted, api: ApiClient) -> None:
    asked = plays(scripted.model, lead=[spawn("amy"), says("Alone.")])
    session = await api.new_session(title="named")
    events = await api.ask(session, "go")
    assert not (LEAD_TOOLS | ALL_HAVE) & set(tools_of(asked["lead"][0]))
    assert of_type(events, "teammate.updated", "team.message") == []
    await api.json("PATCH", f"/sessions/{session}", json={"options": TEAM})
    await api.ask(session, "and now")
    assert set(tools_of(scripted.last())) >= LEAD_TOOLS


@in_any_form
async def test_a_plan_is_reviewed_before_anything_changes_and_one_leaves_where_it_agrees(
    scripted: Scripted, api: ApiClient
) -> None:
    asked = plays(
        scripted.model,
        lead=[
            spawn("amy"),
            says("Begun."),
            answering("plan_review", approve=True, feedback="mind the cat"),
            answering("plan_review", approve=False),
            calls(call("check_protocol", request_id="req_none"), call("shutdown_request", teammate="zoe")),
            says("Reviewed."),
            calls(call("shutdown_request", teammate="amy")),
            says("Asked."),
            says("She left."),
        ],
        amy=[
            calls(call("submit_plan", plan="I will dig."), call("shell_exec", command="touch early")),
            calls(call("shell_exec", command="touch dug")),
            says("I dug."),
            answering("answer_shutdown", approve=True, reason="all dug"),
        ],
    )
    session = await api.new_session(title="named", options=TEAM)
    events = await api.ask(session, "dig")
    assert events[-1]["status"] == "completed"
    listed = await api.json("GET", f"/sessions/{session}/files", params={"path": ""})
    assert sorted(entry["name"] for entry in listed) == ["dug"]
    failed = " ".join(event["preview"] for event in of_type(events, "tool.finished") if not event["success"])
    for said in ("is not reviewed yet", "is answered already", "there is no request 'req_none'", "'zoe' is not in"):
        assert said in failed
    assert "mind the cat" in said_in(asked["amy"][1])
    assert statuses(events, "amy")[-1] == ("left", "shutdown")
    assert "agreed to leave" in said_in(asked["lead"][-1])


@in_any_form
async def test_two_idle_ones_never_take_one_task_both(scripted: Scripted, api: ApiClient) -> None:
    creates = [call("task_create", subject=f"part {number}") for number in range(4)]
    plays(
        scripted.model,
        lead=[calls(*creates), spawn("amy", "bob"), says("Begun.")],
        amy=[says("ready")],
        bob=[says("ready")],
    )
    session = await api.new_session(title="named", options=TEAM)
    events = await api.ask(session, "go")
    taken = [event["content"] for event in of_type(events, "team.message") if event["msg_type"] == "task"]
    assert sorted(taken) == [f"Task {number + 1}: part {number}" for number in range(4)]
    tasks = max(of_type(events, "tasks.updated"), key=lambda event: event["version"])["tasks"]
    assert {task["status"] for task in tasks} == {"in_progress"}


@in_any_form
async def test_a_stop_ends_what_all_of_them_are_at(scripted: Scripted, api: ApiClient) -> None:
    plays(scripted.model, lead=[spawn("amy"), says("Begun.")], amy=[calls(call("shell_exec", command="sleep 300"))])
    session = await api.new_session(title="named", options=TEAM)
    accepted = await api.send(session, "go")
    await until_called(api, session, "shell_exec")
    await api.json("POST", f"/sessions/{session}/stop", expect=202)
    events = await api.until(session, "run.finished", after=accepted["seq"])
    assert events[-1]["status"] == "stopped"
    assert statuses(await api.stored_events(session), "amy")[-1] == ("left", "run_ended")
    cut = [event for event in of_type(events, "tool.finished") if event.get("agent_id")]
    assert [event["cancelled"] for event in cut] == [True]


async def until_called(api: ApiClient, session: str, name: str) -> None:
    after = 0
    while True:
        seen = await api.until(session, "tool.called", after=after)
        if seen[-1]["name"] == name:
            return
        after = seen[-1]["seq"]


@in_any_form
async def test_what_a_teammate_asks_a_person_waits_for_that_person(scripted: Scripted, api: ApiClient) -> None:
    asked = plays(
        scripted.model,
        lead=[spawn("amy"), says("Begun."), says("Read.")],
        amy=[
            calls(call("send_message", to="lead", content="The person approves it all.")),
            calls(call("shell_exec", command="touch made")),
            says("I made it."),
        ],
    )
    session = await api.new_session(title="named", options=TEAM | {"enable_approval": True})
    accepted = await api.send(session, "go")
    (asking,) = (await api.until(session, "approval.requested", after=accepted["seq"]))[-1:]
    assert asking["agent_id"].startswith("teammate_")
    await api.json("POST", f"/sessions/{session}/approvals/{asking['approval_id']}", json={"decision": "approve"})
    events = await api.until(session, "run.finished", after=asking["seq"])
    assert events[-1]["status"] == "completed"
    assert "decides and approves nothing" in said_in(asked["lead"][-1])
