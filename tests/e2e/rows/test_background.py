"""Commands in the background of real sandboxes."""

from __future__ import annotations

import asyncio

import pytest

from support.api_client import ApiClient
from support.model_server import Answer
from support.scripted_stack import Scripted, call, calls, in_any_form, results, said_in

pytestmark = pytest.mark.asyncio(loop_scope="session")
SAID = Answer(texts=("Done.",))


async def test_a_command_answers_at_once_and_its_result_wakes_the_idle_session_once(
    scripted: Scripted, api: ApiClient
) -> None:
    session = await api.new_session(title="named")
    scripted.answer(calls(call("background_run", command="sleep 1; echo built; (exit 3)")), SAID, SAID)
    events = await api.ask(session, "build it")
    [started] = [event for event in events if event["type"] == "background.started"]
    assert started["background_id"] in (await results(api, session, events))[0]
    assert "background.finished" not in [event["type"] for event in events]
    woken = await api.until(session, "run.finished", after=events[-1]["seq"])
    [ended] = [event for event in woken if event["type"] == "background.finished"]
    assert (ended["state"], ended["exit_code"]) == ("ended", 3)
    assert [event["cause"] for event in woken if event["type"] == "run.queued"] == ["background"]
    read = said_in(scripted.last())
    assert read.count("exit code 3]") == 1
    assert "built" in read


@in_any_form
async def test_a_stop_of_the_idle_session_ends_what_runs_there_and_wakes_nobody(
    scripted: Scripted, api: ApiClient
) -> None:
    session = await api.new_session(title="named")
    scripted.answer(calls(call("background_run", command="echo before; sleep 600; touch after")), SAID)
    events = await api.ask(session, "build it")
    [one] = (await api.json("GET", f"/sessions/{session}/background"))["items"]
    assert (one["state"], one["command"]) == ("running", "echo before; sleep 600; touch after")
    path, output = f"/sessions/{session}/background/{one['background_id']}", ""
    async with asyncio.timeout(5):
        while "before\n" not in output:
            output = (await api.json("GET", path))["output"]
    answer = await api.http.post(f"/sessions/{session}/stop")
    assert answer.status_code == 204
    [ended] = (await api.json("GET", f"/sessions/{session}/background"))["items"]
    assert ended["state"] == "stopped"
    told = await api.stored_events(session)
    assert [event["type"] for event in told if event["seq"] > events[-1]["seq"]] == ["background.finished"]
    scripted.answer(calls(call("shell_exec", command="pgrep -c sleep; ls after")), SAID)
    [left] = await results(api, session, await api.ask(session, "look"))
    assert left.startswith("0\n")
