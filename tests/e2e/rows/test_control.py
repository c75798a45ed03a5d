"""A person in control: plan, approval, question, options, presets; what acts does so in a real sandbox."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from support.api_client import ApiClient, Json
from support.model_server import Answer
from support.scripted_stack import (
    LARGE,
    PRICED,
    Scripted,
    begin,
    call,
    calls,
    of_type,
    results,
    said_in,
    succeeded,
    tools_of,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def files_of(api: ApiClient, session: str) -> list[str]:
    listed = await api.json("GET", f"/sessions/{session}/files", params={"path": ""})
    return sorted(entry["name"] for entry in listed)


async def test_in_plan_mode_it_only_reads_until_its_plan_is_approved(scripted: Scripted, api: ApiClient) -> None:
    session = await api.new_session(title="named", options={"enable_plan_mode": True})
    write = call("shell_exec", command="touch made")
    scripted.answer(
        calls(write, call("file_list", path=".")),
        calls(call("exit_plan_mode", plan="1. Dig")),
        calls(call("exit_plan_mode", plan="1. Dig\n2. Plant")),
        calls(write),
    )
    first = await begin(api, session, "plant a tree", "plan.proposed")
    assert not {"shell_exec", "file_write", "enter_plan_mode"} & set(tools_of(scripted.model.requests[0]))
    assert {"file_list", "exit_plan_mode"} <= set(tools_of(scripted.model.requests[0]))
    events = await api.stored_events(session)
    assert succeeded(events) == [False, True]
    assert "made" not in await files_of(api, session)
    path = f"/sessions/{session}/plans"
    rejected = {"decision": "reject", "feedback": "and plant it"}
    await api.json("POST", f"{path}/{first['plan_id']}", json=rejected)
    await api.json("POST", f"{path}/{first['plan_id']}", json={"decision": "approve"}, expect=409)
    second = (await api.until(session, "plan.proposed", after=first["seq"]))[-1]
    assert second["plan"] == "1. Dig\n2. Plant"
    assert "and plant it" in said_in(scripted.last())
    await api.json("POST", f"{path}/{second['plan_id']}", json={"decision": "approve"})
    events = await api.until(session, "run.finished", after=second["seq"])
    assert events[-1]["status"] == "completed"
    assert "made" in await files_of(api, session)
    assert "mode" in [opened["cause"] for opened in of_type(events, "context.opened")]


async def test_it_may_enter_plan_mode_by_itself(scripted: Scripted, api: ApiClient) -> None:
    session = await api.new_session(title="named")
    scripted.answer(calls(call("enter_plan_mode")), calls(call("exit_plan_mode", plan="1. Dig")))
    proposed = await begin(api, session, "plan first", "plan.proposed")
    assert "shell_exec" in tools_of(scripted.model.requests[0])
    assert "shell_exec" not in tools_of(scripted.last())
    await api.json("POST", f"/sessions/{session}/stop", expect=202)
    events = await api.until(session, "run.finished", after=proposed["seq"])
    assert events[-1]["status"] == "stopped"


async def test_the_steps_of_its_work_are_told_whole_each_time(scripted: Scripted, api: ApiClient) -> None:
    session = await api.new_session(title="named")
    steps = [{"title": "Dig", "status": "done", "result": "two metres"}, {"title": "Plant", "status": "in_progress"}]
    scripted.answer(calls(call("plan_update", steps=[{"title": "Dig"}])), calls(call("plan_update", steps=steps)))
    events = await api.ask(session, "plant a tree")
    assert [len(event["steps"]) for event in of_type(events, "plan.updated")] == [1, 2]
    plan = (await api.json("GET", f"/sessions/{session}/state"))["plan"]
    assert [(step["status"], step["result"]) for step in plan["steps"]] == [("done", "two metres"), ("in_progress", "")]


async def test_it_keeps_a_list_of_what_it_has_to_do_by_the_rules_of_one(scripted: Scripted, api: ApiClient) -> None:
    session = await api.new_session(title="named", options={"enable_approval": True})
    digging = {"content": "Dig", "status": "in_progress", "activeForm": "Digging"}
    scripted.answer(
        calls(call("todo_write", todos=[digging]), call("todo_add", content="Plant", status="in_progress")),
        calls(call("todo_add", content="Plant"), call("todo_complete", number=1), call("todo_list")),
    )
    events = await api.ask(session, "plant a tree")
    assert (events[-1]["status"], of_type(events, "approval.requested")) == ("completed", [])
    assert succeeded(events) == [True, False, True, True, True]
    read = await results(api, session, events)
    assert read[1].startswith("Nothing was changed: only one todo may be in progress, and 1 and 2 would be.")
    assert read[-1] == "The todos are:\n1. [completed] Dig\n2. [pending] Plant"
    assert [len(event["todos"]) for event in of_type(events, "todos.updated")] == [1, 2, 2]
    dug = {"content": "Dig", "status": "completed", "active_form": "Digging"}
    plant = {"content": "Plant", "status": "pending", "active_form": ""}
    assert (await api.json("GET", f"/sessions/{session}/state"))["todos"] == [dug, plant]
    assert of_type(events, "todos.updated")[-1]["todos"] == [dug, plant]
    other = await api.new_session(title="named")
    assert (await api.json("GET", f"/sessions/{other}/state"))["todos"] == []


async def test_the_parts_of_its_work_are_tasks_that_wait_for_each_other_and_stand_in_its_workspace(
    scripted: Scripted, api: ApiClient
) -> None:
    session = await api.new_session(title="named", options={"enable_approval": False})
    scripted.answer(
        calls(call("task_create", subject="Dig", activeForm="Digging"), call("task_create", subject="Plant 树")),
        calls(
            call("shell_exec", command="true"),
            call("task_update", taskId="2", addBlockedBy=["1"], owner="gardener"),
            call("task_update", taskId="2", status="in_progress"),
            call("task_update", taskId="1", addBlockedBy=["2"]),
        ),
        calls(call("task_update", taskId="1", status="completed"), call("shell_exec", command="cat .tasks/*.json")),
        calls(call("shell_exec", command="echo '{}' > .tasks/task_1.json"), call("task_list")),
    )
    events = await api.ask(session, "plant a tree")
    assert events[-1]["status"] == "completed"
    assert succeeded(events) == [True, True, True, True, False, False, True, True, True, True]
    read = await results(api, session, events)
    assert read[4].startswith("Nothing was changed: task 2 is blocked by 1")
    assert "1 -> 2 -> 1" in read[5]
    assert read[6] == "Updated task 1. No longer blocked: 2."
    for words in ('"subject": "Dig"', '"status": "completed"', '"subject": "Plant 树"', '"owner": "gardener"'):
        assert words in read[7]
    tasks = "The tasks are:\n1. [completed] Dig\n2. [pending] Plant 树 (gardener)"
    assert read[9] == tasks, "a file is never read back"
    dug, plant = (await api.json("GET", f"/sessions/{session}/state"))["tasks"]
    assert (dug["status"], dug["active_form"], dug["blocks"]) == ("completed", "Digging", ["2"])
    assert (plant["owner"], plant["blocked_by"]) == ("gardener", ["1"])
    assert of_type(events, "tasks.updated")[-1]["tasks"] == [dug, plant]


async def test_the_tasks_stand_beside_a_summary_and_are_gone_on_with(scripted: Scripted, api: ApiClient) -> None:
    session = await api.new_session(title="named")
    scripted.answer(calls(call("task_create", subject="Dig"), call("task_create", subject="Plant")))
    await api.ask(session, "plant a tree")
    scripted.answer(
        Answer(status=413, message="Payload Too Large"),
        Answer(texts=("They want a tree.",)),
        calls(call("task_update", taskId="1", status="completed")),
    )
    assert (await api.ask(session, "go on"))[-1]["status"] == "completed"
    read = said_in(scripted.last())
    for words in ("They want a tree.", "1. [pending] Dig", "2. [pending] Plant", "Updated task 1."):
        assert words in read


async def test_the_steps_stand_beside_a_summary_as_they_were_told_last(scripted: Scripted, api: ApiClient) -> None:
    session = await api.new_session(title="named")
    steps = [{"title": "Dig", "status": "done", "result": "two metres"}, {"title": "Plant", "status": "in_progress"}]
    scripted.answer(calls(call("plan_update", steps=steps)))
    await api.ask(session, "plant a tree")
    scripted.answer(Answer(status=413, message="Payload Too Large"), Answer(texts=("They want a tree.",)))
    assert (await api.ask(session, "go on"))[-1]["status"] == "completed"
    read = said_in(scripted.last())
    for words in ("They want a tree.", "[done] Dig: two metres", "[in_progress] Plant"):
        assert words in read


async def test_what_it_has_to_do_stands_beside_a_summary_by_its_numbers(scripted: Scripted, api: ApiClient) -> None:
    session = await api.new_session(title="named")
    todos = [{"content": "Buy a spade", "status": "completed"}, {"content": "Dig"}]
    scripted.answer(calls(call("todo_write", todos=todos)))
    await api.ask(session, "plant a tree")
    scripted.answer(
        Answer(status=413, message="Payload Too Large"),
        Answer(texts=("They want a tree.",)),
        calls(call("todo_complete", number=2)),
    )
    events = await api.ask(session, "go on")
    assert (events[-1]["status"], succeeded(events)) == ("completed", [True])
    read = said_in(scripted.last())
    for words in ("They want a tree.", "1. [completed] Buy a spade", "2. [pending] Dig", "Completed: Dig."):
        assert words in read


async def test_calls_that_change_something_wait_for_approval_and_each_is_decided_once(
    scripted: Scripted, api: ApiClient
) -> None:
    session = await api.new_session(title="named", options={"enable_approval": True})
    scripted.answer(
        calls(
            call("shell_exec", command="touch first"),
            call("file_list", path="."),
            call("shell_exec", command="touch second"),
        )
    )
    asked = await begin(api, session, "write both", "approval.requested")
    assert [one["arguments"]["command"] for one in asked["calls"]] == ["touch first", "touch second"]
    assert (await api.json("GET", f"/sessions/{session}"))["status"] == "waiting"
    assert len(of_type(await api.stored_events(session), "tool.finished")) == 1, "what only reads runs meanwhile"
    first, second = (one["call_id"] for one in asked["calls"])
    path = f"/sessions/{session}/approvals/{asked['approval_id']}"
    denied = {"decision": "deny", "call_ids": [first], "feedback": "not that one"}
    await api.json("POST", path, json=denied)
    again = await api.json("POST", path, json=denied | {"decision": "approve"}, expect=409)
    assert again["code"] == "approval_decided"
    await api.json("POST", path, json={"decision": "approve", "call_ids": [second]})
    events = await api.until(session, "run.finished", after=asked["seq"])
    assert events[-1]["status"] == "completed"
    assert await files_of(api, session) == ["second"]
    read = said_in(scripted.last())
    assert "User denied this tool call" in read
    assert "not that one" in read


async def test_after_approve_all_nothing_is_asked_in_the_session_any_more(scripted: Scripted, api: ApiClient) -> None:
    session = await api.new_session(title="named", options={"enable_approval": True})
    scripted.answer(calls(call("shell_exec", command="touch first")))
    asked = await begin(api, session, "write", "approval.requested")
    path = f"/sessions/{session}/approvals/{asked['approval_id']}"
    await api.json("POST", path, json={"decision": "approve_all"})
    await api.until(session, "run.finished", after=asked["seq"])
    scripted.answer(calls(call("shell_exec", command="touch second")))
    events = await api.ask(session, "write on")
    assert (events[-1]["status"], of_type(events, "approval.requested")) == ("completed", [])
    assert await files_of(api, session) == ["first", "second"]


async def test_what_a_session_allows_is_not_asked_and_the_rest_is(scripted: Scripted, api: ApiClient) -> None:
    rules = {"enable_approval": True, "allowed_tools": ["file_*"], "asked_tools": ["file_delete"]}
    session = await api.new_session(title="named", options=rules)
    scripted.answer(
        calls(call("file_write", path="a.txt", content="a")),
        calls(call("file_delete", path="a.txt"), call("shell_exec", command="touch b.txt")),
    )
    asked = await begin(api, session, "write", "approval.requested")
    assert [one["name"] for one in asked["calls"]] == ["file_delete", "shell_exec"]
    assert succeeded(await api.stored_events(session)) == [True]
    sent = await api.send(session, "leave it", interrupt=True)
    events = await api.until(session, "run.finished", after=sent["seq"])
    assert events[-1]["status"] == "completed"
    assert await files_of(api, session) == ["a.txt"]
    assert "leave it" in said_in(scripted.last())


async def test_what_a_session_denies_is_not_run_also_where_it_is_allowed(scripted: Scripted, api: ApiClient) -> None:
    rules = {"enable_approval": True, "allowed_tools": ["file_*"], "denied_tools": ["file_delete"]}
    session = await api.new_session(title="named", options=rules)
    scripted.answer(calls(call("file_write", path="a.txt", content="a"), call("file_delete", path="a.txt")))
    events = await api.ask(session, "write")
    assert (events[-1]["status"], succeeded(events)) == ("completed", [True, False])
    assert await files_of(api, session) == ["a.txt"]


async def test_a_question_waits_for_its_answer_which_is_read_and_given_once(scripted: Scripted, api: ApiClient) -> None:
    session = await api.new_session(title="named")
    question = {"id": "tone", "question": "Which tone?", "options": ["Formal", "Friendly"], "allow_text": False}
    scripted.answer(calls(call("ask_user", questions=[question])))
    asked = await begin(api, session, "write a greeting", "question.asked")
    joined = await api.json("POST", f"/sessions/{session}/runs", json={"text": "soon, please"})
    assert (joined["status"], joined["waits_for"][0]["question_id"]) == ("waiting", asked["question_id"])
    path = f"/sessions/{session}/questions/{asked['question_id']}"
    wrong = await api.json("POST", path, json={"answers": {"tone": "Rude"}}, expect=422)
    assert wrong["errors"][0]["field"]
    await api.json("POST", path, json={"answers": {"tone": "Friendly"}})
    await api.json("POST", path, json={"answers": {"tone": "Formal"}}, expect=409)
    events = await api.until(session, "run.finished", after=asked["seq"])
    assert events[-1]["status"] == "completed"
    read = said_in(scripted.last())
    assert read.index("Friendly", read.index("Formal")) < read.index("soon, please")


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a message led to: the result of its run, its events, how the context was opened last, the first request."""

    result: Json
    events: list[Json]
    opened: Json
    request: Json


async def told(scripted: Scripted, api: ApiClient, session: str) -> Told:
    """A message that the model answers with a call that writes."""
    before, asked = len(await api.stored_events(session)), len(scripted.model.requests)
    scripted.answer(calls(call("shell_exec", command="touch made")))
    result = await api.json("POST", f"/sessions/{session}/runs", json={"text": "write"})
    stored = await api.stored_events(session)
    opened = of_type(stored, "context.opened")[-1]
    return Told(result=result, events=stored[before:], opened=opened, request=scripted.model.requests[asked])


# What is chosen at the opening of a session, what takes it back, and how it shows.
CHOICES: dict[str, tuple[Json, Json, Callable[[Told], bool]]] = {
    "model": ({"model": PRICED}, {"model": None}, lambda told: told.request["model"] == PRICED),
    "preset": ({"preset": "coding"}, {"preset": None}, lambda told: told.opened["preset"] == "coding"),
    "thinking": (
        {"options": {"enable_thinking": True, "thinking_effort": "high"}},
        {"options": {"enable_thinking": None, "thinking_effort": None}},
        lambda told: told.opened["thinking"] == "high" and '"high"' in said_in(told.request),
    ),
    "tracing": (
        {"options": {"enable_tracing": True}},
        {"options": {"enable_tracing": None}},
        lambda told: len(of_type(told.events, "llm.request", "llm.response")) == 4,
    ),
    "plan mode": (
        {"options": {"enable_plan_mode": True}},
        {"options": {"enable_plan_mode": False}},
        lambda told: "shell_exec" not in tools_of(told.request),
    ),
    "teams": (
        {"options": {"enable_teams": True}},
        {"options": {"enable_teams": None}},
        lambda told: "spawn_teammate" in tools_of(told.request),
    ),
    "approval": (
        {"options": {"enable_approval": True}},
        {"options": {"enable_approval": None}},
        lambda told: told.result["status"] == "waiting",
    ),
    "turn limit": (
        {"options": {"max_turns": 1}},
        {"options": {"max_turns": None}},
        lambda told: told.result["reason"] == "max_turns",
    ),
}


@pytest.mark.parametrize("choice", CHOICES)
async def test_every_option_of_a_session_is_read_and_taken_back(
    scripted: Scripted, api: ApiClient, choice: str
) -> None:
    chosen, taken_back, is_seen = CHOICES[choice]
    session = await api.new_session(title="named", **chosen)
    first = await told(scripted, api, session)
    assert is_seen(first)
    if first.result["status"] == "waiting":
        await api.json("POST", f"/sessions/{session}/stop", expect=202)
        await api.until(session, "run.finished", after=first.events[-1]["seq"])
        scripted.model.script.clear()
    await api.json("PATCH", f"/sessions/{session}", json=taken_back)
    second = await told(scripted, api, session)
    assert not is_seen(second)
    assert (second.result["status"], second.result["reason"]) == ("completed", None)
    assert await files_of(api, session) == ["made"]


async def test_an_option_that_there_is_not_is_refused(scripted: Scripted, api: ApiClient) -> None:
    session = await api.new_session(title="named")
    wrong = await api.json("PATCH", f"/sessions/{session}", json={"options": {"enable_magic": True}}, expect=422)
    assert wrong["errors"][0]["field"] == "body.options.enable_magic"


async def test_a_preset_is_prompt_tools_and_options_and_a_plain_chat_starts_no_computer(
    scripted: Scripted, api: ApiClient
) -> None:
    offered = {preset["id"]: preset for preset in await api.json("GET", "/presets")}
    assert {"general", "coding", "research", "writing", "chat", "poet"} <= set(offered)
    session = await api.new_session(title="named", preset="poet")
    scripted.answer(calls(call("file_write", path="a.txt", content="a rose"), call("shell_exec", command="ls")))
    events = await api.ask(session, "write")
    assert "You answer in verse." in said_in(scripted.model.requests[0])
    assert "shell_exec" not in tools_of(scripted.model.requests[0])
    assert succeeded(events) == [True, False]
    await api.json("PATCH", f"/sessions/{session}", json={"preset": "chat"})
    events = await api.ask(session, "and now")
    assert "preset" in [opened["cause"] for opened in of_type(events, "context.opened")]
    plain = await api.new_session(title="named", preset="chat")
    scripted.answer(calls(call("shell_exec", command="ls")))
    events = await api.ask(plain, "hello")
    assert (events[-1]["status"], of_type(events, "sandbox.updated")) == ("completed", [])
    assert (await results(api, plain, events))[0].startswith(("Nothing was run", "There is no tool"))
    assert (await api.json("GET", f"/sessions/{plain}/state"))["sandbox"]["status"] == "none"


async def test_settings_of_the_person_hold_below_what_a_session_chose(scripted: Scripted, api: ApiClient) -> None:
    settings = {one["category"] for one in await api.json("GET", "/settings")}
    assert {"models", "approvals"} <= settings
    path = "/settings/models/default_model"
    await api.json("PUT", path, json={"value": PRICED})
    try:
        wrong = await api.json("PUT", path, json={"value": "nonesuch"}, expect=422)
        assert wrong["errors"][0]["field"] == "body.value"
        for chosen, asked in (({}, PRICED), ({"model": LARGE}, LARGE)):
            await api.ask(await api.new_session(title="named", **chosen), "hello")
            assert scripted.last()["model"] == asked
    finally:
        await api.json("DELETE", path, expect=200)
