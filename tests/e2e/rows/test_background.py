"""Commands in the background of real sandboxes."""

from __future__ import annotations

import pytest

from support.api_client import ApiClient
from support.model_server import Answer
from support.scripted_stack import Scripted, call, calls, results, said_in

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
