"""MCP servers that are programs in real sandboxes: offered, called, ended with the run."""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractAsyncContextManager

import pytest

from support.api_client import ApiClient
from support.endpoint import await_true, processes_with
from support.mcp_program import program_config
from support.model_server import Answer
from support.scripted_stack import (
    Scripted,
    added_mcp_server,
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
SAID = Answer(texts=("Done.",))
SECRET = "k3y-of-the-program-88"
SLEEP = "7264.5"
PROGRAM = "import base64, zlib; exec("


def added(api: ApiClient) -> AbstractAsyncContextManager[None]:
    return added_mcp_server(api, **program_config(PROGRAM_KEY=SECRET, SLEEP_S=SLEEP))


async def test_its_tools_act_in_the_computer_of_the_session_and_it_ends_with_the_run(
    scripted: Scripted, api: ApiClient
) -> None:
    session = await api.new_session(title="named")
    scripted.answer(
        calls(call("mcp__box__add", a=2, b=3), call("mcp__box__where"), call("mcp__box__fail")),
        calls(call("mcp__box__die")),
        calls(call("mcp__box__add", a=20, b=1)),
        SAID,
        calls(call("shell_exec", command="pgrep -fc '[i]mport base64, zlib'")),
        SAID,
    )
    async with added(api):
        events = await api.ask(session, "use the box")
        added_up, where, failed, died, again = await results(api, session, events)
        await api.ask(session, "is it still there?")
    assert succeeded(events) == [True, True, False, False, True]
    assert (added_up, again) == ("5", "21")
    assert "no luck today" in failed
    assert "exit code 3: out of coffee" in died
    assert "no key" not in where
    assert SECRET not in "".join(map(said_in, scripted.model.requests)) + str(await api.stored_events(session))
    assert {"mcp__box__add", "mcp__box__wait"} <= set(tools_of(scripted.model.requests[0]))
    (updated,) = of_type(events, "mcp.updated")
    assert (updated["server"], updated["status"]) == ("box", "ready")
    assert events[-1]["status"] == "completed"
    await asyncio.to_thread(await_true, lambda: not processes_with(PROGRAM))


@pytest.mark.thorough
async def test_it_is_tried_in_the_computer_of_a_session_that_is_named_and_ends_with_that(
    scripted: Scripted, api: ApiClient
) -> None:
    session = await api.new_session(title="named")
    async with added(api):
        tried = await api.json("POST", "/mcp/box/test", params={"session_id": session})
        assert (tried["status"], tried["code"]) == ("ready", None), tried
        assert "mcp__box__add" in tried["tools"]
    assert (await api.http.put("/mcp/broken", json={"command": "no-such-program"})).status_code == 200
    try:
        tried = await api.json("POST", "/mcp/broken/test", params={"session_id": session})
    finally:
        await api.http.delete("/mcp/broken")
    assert (tried["status"], tried["code"]) == ("failed", "mcp_program_ended")
    assert "no-such-program: No such file or directory" in tried["error"]
    assert scripted.model.requests == []
    await asyncio.to_thread(await_true, lambda: not processes_with(PROGRAM))


async def test_a_stop_ends_it_with_all_it_started(scripted: Scripted, api: ApiClient) -> None:
    session = await api.new_session(title="named")
    scripted.answer(calls(call("mcp__box__wait")))
    async with added(api):
        called = await begin(api, session, "wait", "tool.called")
        await asyncio.to_thread(await_true, lambda: processes_with(f"sleep {SLEEP}") != [])
        began = time.monotonic()
        await api.json("POST", f"/sessions/{session}/stop", expect=202)
        events = await api.until(session, "run.finished", after=called["seq"])
        assert time.monotonic() - began < 5
    assert events[-1]["status"] == "stopped"
    await asyncio.to_thread(await_true, lambda: not processes_with(PROGRAM) and not processes_with(f"sleep {SLEEP}"))


@pytest.mark.thorough
async def test_a_preset_without_such_tools_starts_no_computer_for_it(scripted: Scripted, api: ApiClient) -> None:
    session = await api.new_session(title="named", preset="chat")
    scripted.answer(SAID)
    async with added(api):
        events = await api.ask(session, "hello")
    assert not of_type(events, "mcp.updated", "sandbox.updated")
    assert not [name for name in tools_of(scripted.last()) if name.startswith("mcp__")]


@pytest.mark.thorough
async def test_one_that_can_not_be_started_costs_a_notice_and_not_the_run(scripted: Scripted, api: ApiClient) -> None:
    session = await api.new_session(title="named")
    scripted.answer(SAID)
    answer = await api.http.put("/mcp/broken", json={"command": "no-such-program"})
    assert answer.status_code == 200, answer.text
    try:
        events = await api.ask(session, "hello")
    finally:
        await api.http.delete("/mcp/broken")
    (notice,) = of_type(events, "notice")
    assert notice["code"] == "mcp_failed"
    assert "no-such-program: No such file or directory" in notice["text"]
    assert events[-1]["status"] == "completed"
