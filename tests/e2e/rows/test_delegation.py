"""Agents that work for the main one and what they share, in real sandboxes."""

from __future__ import annotations

import asyncio
import time

import pytest

from support.api_client import ApiClient
from support.endpoint import await_true, processes_with
from support.figures import TIMES, assert_median
from support.model_server import Answer
from support.scripted_stack import Scripted, begin, call, calls, of_type

pytestmark = pytest.mark.asyncio(loop_scope="session")
SAID = Answer(texts=("Done.",))


def hand_on(kind: str, prompt: str = "Look for it.") -> Answer:
    return calls(call("task", description="look", prompt=prompt, agent_type=kind))


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
