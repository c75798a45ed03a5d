"""MCP servers of others as they are published: as programs in a real sandbox, and by streamable HTTP."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from datetime import datetime

import pytest
import pytest_asyncio

from support.api_client import ApiClient, Json
from support.endpoint import await_true, processes_with
from support.model_server import Answer
from support.published_mcp import (
    EVERYTHING,
    Everything,
    everything_config,
    everything_server,
    install_in,
    time_config,
)
from support.scripted_stack import (
    Form,
    Scripted,
    added_mcp_server,
    call,
    calls,
    of_type,
    results,
    scripted_stack,
    succeeded,
    tools_of,
)

# What is put into the computer are thousands of files, which takes its time on a busy machine.
pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]
SAID = Answer(texts=("Done.",))
LONG = "mcp__box__trigger-long-running-operation"
ALL_OF_EVERYTHING = {"mcp__box__echo", "mcp__box__get-sum", "mcp__box__get-tiny-image", LONG}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def everything(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Everything]:
    async with everything_server(tmp_path_factory.mktemp("everything")) as server:
        yield server


@pytest_asyncio.fixture(scope="module", loop_scope="session", params=["chat"])
async def running(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, everything: Everything
) -> AsyncGenerator[Scripted]:
    """A stack whose users may name the server on loopback."""
    form: Form = request.param
    allowed = {"MCP_ALLOWED_HOSTS": f"127.0.0.1:{everything.port}"}
    async with scripted_stack(tmp_path_factory.mktemp("published"), form, **allowed) as one:
        yield one


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def equipped(running: Scripted) -> AsyncGenerator[str]:
    """A session whose computer has Node and both servers in its workspace."""
    async with ApiClient(running.stack.base_url) as api:
        session = await api.new_session(title="named")
        running.answer(calls(call("shell_exec", command="pwd")), SAID)
        await api.ask(session, "start")
        (workspace,) = running.stack.data_dir.glob(f"**/workspaces/{session}")
        await asyncio.to_thread(install_in, workspace)
        yield session


async def no_process_left(*texts: str) -> None:
    await asyncio.to_thread(await_true, lambda: not [pid for text in texts for pid in processes_with(text)])


def live_output(events: list[Json]) -> str:
    return "".join(event["text"] for event in of_type(events, "tool.output"))


async def uses_everything(scripted: Scripted, api: ApiClient, session: str) -> None:
    """Its tools are offered and called; what it refuses and how far a long call is, is told."""
    scripted.answer(
        calls(call("mcp__box__get-sum", a=19, b=23), call("mcp__box__get-tiny-image")),
        calls(call("mcp__box__get-sum", a="many"), call("mcp__box__get-resource-reference", resourceType="None")),
        calls(call(LONG, duration=1, steps=4)),
        SAID,
    )
    events = await api.ask(session, "use the box")
    added_up, drawn, wrong, unknown, long = await results(api, session, events)
    # They are told by one line, with the names of the first ones.
    assert set(tools_of(scripted.model.requests[0])) & ALL_OF_EVERYTHING
    assert {"load_tools", "use_tool"} <= set(tools_of(scripted.model.requests[0]))
    updated = of_type(events, "mcp.updated")[0]  # it lists more where a client has roots, and says so to all
    assert (updated["server"], updated["status"]) == ("box", "ready")
    assert succeeded(events) == [True, True, False, False, True]
    assert added_up == "The sum of 19 and 23 is 42."
    assert of_type(events, "tool.finished")[1]["body"] is not None, drawn
    assert "expected number" in wrong
    assert "resourceType" in unknown
    assert long == "Long running operation completed. Duration: 1 seconds, Steps: 4."
    assert live_output(events) == "1/4\n2/4\n3/4\n4/4\n"
    assert events[-1]["status"] == "completed"


async def stops_everything(scripted: Scripted, api: ApiClient, session: str) -> None:
    """In the middle of a call whose progress was seen."""
    scripted.answer(calls(call(LONG, duration=3000, steps=10_000)))
    accepted = await api.send(session, "work for long")
    await api.until(session, "tool.output", after=accepted["seq"] - 1)
    began = time.monotonic()
    await api.json("POST", f"/sessions/{session}/stop", expect=202)
    events = await api.until(session, "run.finished", after=accepted["seq"])
    assert time.monotonic() - began < 5
    assert events[-1]["status"] == "stopped"


async def test_everything_by_streamable_http(scripted: Scripted, api: ApiClient, everything: Everything) -> None:
    session = await api.new_session(title="named")

    def ended() -> int:
        return everything.said().count("Received session termination request")

    async with added_mcp_server(api, url=everything.url):
        await uses_everything(scripted, api, session)
        await asyncio.to_thread(await_true, lambda: ended() == 1)
        await stops_everything(scripted, api, session)
        await asyncio.to_thread(await_true, lambda: ended() == 2)
        scripted.answer(calls(call("mcp__box__echo", message="still there?")), SAID)
        assert await results(api, session, await api.ask(session, "again")) == ["Echo: still there?"]


async def test_everything_by_its_standard_input_in_a_sandbox(scripted: Scripted, api: ApiClient, equipped: str) -> None:
    async with added_mcp_server(api, **everything_config()):
        await uses_everything(scripted, api, equipped)
        await no_process_left(f"{EVERYTHING} stdio")
        await stops_everything(scripted, api, equipped)
        await no_process_left(f"{EVERYTHING} stdio")


async def test_the_time_server_in_a_sandbox(scripted: Scripted, api: ApiClient, equipped: str) -> None:
    scripted.answer(
        calls(
            call("mcp__box__get_current_time", timezone="Asia/Shanghai"),
            call("mcp__box__convert_time", source_timezone="Asia/Shanghai", time="08:00", target_timezone="Asia/Tokyo"),
            call("mcp__box__get_current_time", timezone="Nowhere/Town"),
            call("mcp__box__convert_time", source_timezone="UTC", time="25:99", target_timezone="UTC"),
        ),
        SAID,
    )
    async with added_mcp_server(api, **time_config()):
        events = await api.ask(equipped, "what time is it?")
        now, there, nowhere, never = await results(api, equipped, events)
    assert {"mcp__box__get_current_time", "mcp__box__convert_time"} <= set(tools_of(scripted.model.requests[0]))
    assert succeeded(events) == [True, True, False, False]
    assert '"timezone": "Asia/Shanghai"' in now
    assert datetime.now().astimezone().strftime("%Y") in now
    assert '"time_difference": "+1.0h"' in there
    assert "Nowhere/Town" in nowhere
    assert "Invalid time format" in never
    assert events[-1]["status"] == "completed"
    await no_process_left("mcp_server_time")
