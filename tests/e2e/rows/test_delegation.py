"""Agents that work for the main one and what they share, in real sandboxes."""

from __future__ import annotations

import asyncio
import time

import pytest

from support.api_client import ApiClient
from support.endpoint import await_true, processes_with
from support.figures import TIMES, assert_median
from support.model_server import Answer
from support.scripted_stack import Scripted, begin, call, calls, of_type, results, said_in, tools_of

pytestmark = pytest.mark.asyncio(loop_scope="session")
SAID = Answer(texts=("Done.",))


def hand_on(kind: str, prompt: str = "Look for it.") -> Answer:
    return calls(call("task", description="look", prompt=prompt, agent_type=kind))


async def test_a_sub_agent_has_a_task_its_own_tools_and_conversation_and_its_last_words_are_the_result(
    scripted: Scripted, api: ApiClient
) -> None:
    session = await api.new_session(title="named")
    write = call("shell_exec", command="touch by_a_reader")
    found = Answer(texts=("It is in the attic.",))
    scripted.answer(hand_on("explore"), calls(write, call("file_list", path=".")), found, SAID)
    events = await api.ask(session, "where is the lamp?")
    (started,), (ended,) = of_type(events, "subagent.started"), of_type(events, "subagent.finished")
    assert (started["kind"], ended["summary"], ended["tool_count"]) == ("explore", "It is in the attic.", 2)
    inner = [event for event in of_type(events, "tool.called") if event.get("agent_id") == started["subagent_id"]]
    assert [event["name"] for event in inner] == ["shell_exec", "file_list"]
    main, child, _, last = scripted.model.requests
    assert "Look for it." in said_in(child)
    assert "where is the lamp?" not in said_in(child)
    assert "shell_exec" in tools_of(main)
    assert not {"shell_exec", "file_write", "task", "ask_user", "background_run"} & set(tools_of(child))
    assert "It is in the attic." in said_in(last)
    assert "by_a_reader" not in said_in(last)
    listed = await api.json("GET", f"/sessions/{session}/files", params={"path": ""})
    assert [entry["name"] for entry in listed] == []
    # Four answers, each of the usage that the server tells.
    usage = events[-1]["usage"]
    assert (usage["input"], usage["output"]) == (4 * 10, 4 * 2)
    assert (ended["usage"]["input"], ended["usage"]["output"]) == (2 * 10, 2 * 2)


async def test_an_unknown_kind_of_agent_is_told_with_those_there_are(scripted: Scripted, api: ApiClient) -> None:
    session = await api.new_session(title="named")
    scripted.answer(hand_on("wizard"), SAID)
    events = await api.ask(session, "conjure")
    (told,) = await results(api, session, events)
    assert "explore" in told
    assert "miller" in told
    assert not of_type(events, "subagent.started")
    assert events[-1]["status"] == "completed"


async def test_sub_agents_run_commands_at_once_each_in_a_shell_of_its_own(scripted: Scripted, api: ApiClient) -> None:
    meet = (
        "touch met_$$; cd /tmp; "
        "for _ in $(seq 300); do [ $(ls $OLDPWD/met_* | wc -l) = 2 ] && { echo together $$; break; }; sleep 0.1; done"
    )
    session = await api.new_session(title="named")
    both = [call("task", description="look", prompt="Look.", agent_type="general") for _ in range(2)]
    runs = [calls(call("shell_exec", command=meet, timeout_s=60)) for _ in range(2)]
    scripted.answer(calls(*both), *runs, SAID, SAID, calls(call("shell_exec", command="ls -d met_*")), SAID)
    events = await api.ask(session, "go")
    commands = {one["call_id"] for one in of_type(events, "tool.called") if one["name"] == "shell_exec"}
    *met, of_main = [event["preview"] for event in of_type(events, "tool.finished") if event["call_id"] in commands]
    assert [one.split()[0] for one in met] == ["together", "together"]
    assert len({*met}) == 2
    assert len(of_main.split()) == 2, "it is where the others began, and not where they went"


async def stopped_in_a_child(scripted: Scripted, api: ApiClient) -> float:
    """How many seconds the stop of a command takes that a sub-agent runs; nothing of it is left."""
    session = await api.new_session(title="named")
    running = call("shell_exec", command="sleep 7262 & setsid sleep 7262 & sleep 7262", timeout_s=600)
    scripted.answer(hand_on("general"), calls(running))
    called = await begin(api, session, "go", "subagent.started")
    await asyncio.to_thread(await_true, lambda: len(processes_with("sleep 7262")) >= 3)
    began = time.perf_counter()
    await api.json("POST", f"/sessions/{session}/stop", expect=202)
    events = await api.until(session, "run.finished", after=called["seq"])
    took = time.perf_counter() - began
    assert events[-1]["status"] == "stopped"
    await asyncio.to_thread(await_true, lambda: not processes_with("sleep 7262"))
    return took


async def test_a_stop_reaches_what_the_shell_of_a_sub_agent_started(scripted: Scripted, api: ApiClient) -> None:
    await stopped_in_a_child(scripted, api)


@pytest.mark.quiet
async def test_that_stop_takes_less_than_half_a_second(scripted: Scripted, api: ApiClient) -> None:
    assert_median([await stopped_in_a_child(scripted, api) for _ in range(TIMES)], below_s=0.5)


async def test_all_agents_of_a_session_have_the_same_tasks_and_each_its_own_todos(
    scripted: Scripted, api: ApiClient
) -> None:
    session = await api.new_session(title="named")
    todos = [{"content": "Dig", "status": "in_progress"}, {"content": "Plant"}]
    scripted.answer(
        calls(
            call("task_create", subject="Dig"),
            call("task_create", subject="Plant"),
            call("task_update", taskId="2", addBlockedBy=["1"]),
            call("task_update", taskId="1", addBlockedBy=["2"]),
            call("task_update", taskId="2", status="in_progress"),
            call("todo_write", todos=todos),
        ),
        hand_on("general"),
        calls(call("task_update", taskId="1", status="completed", owner="child"), call("todo_list")),
        SAID,
        calls(call("task_update", taskId="2", status="in_progress"), call("task_get", taskId="1"), call("todo_list")),
        SAID,
    )
    events = await api.ask(session, "make a garden")
    told = await results(api, session, events)
    # A circle, and what is blocked.
    assert [text for text in told if "can't block" in text], told
    ended = {event["call_id"]: event["success"] for event in of_type(events, "tool.finished")}
    made = [ended[event["call_id"]] for event in of_type(events, "tool.called")]
    assert made == [True, True, True, False, False, True, True, True, True, True, True, True]
    state = await api.json("GET", f"/sessions/{session}/state")
    assert [(one["subject"], one["status"]) for one in state["tasks"]] == [
        ("Dig", "completed"),
        ("Plant", "in_progress"),
    ]
    assert [one["content"] for one in state["todos"]] == ["Dig", "Plant"]


async def test_code_keeps_what_it_had_from_call_to_call_and_shows_pictures(scripted: Scripted, api: ApiClient) -> None:
    session = await api.new_session(title="named")
    plot = "import matplotlib.pyplot as plt\nplt.plot([1, n]); plt.show()"
    scripted.answer(calls(call("code_run", code="n = 41")), calls(call("code_run", code=f"n += 1\n{plot}\nn")), SAID)
    events = await api.ask(session, "draw it")
    _, second = await results(api, session, events)
    assert "42" in second or "PNG" in second
    (_, shown) = of_type(events, "tool.finished")
    assert shown["success"], shown
    assert "image/png" in str(shown), shown
