"""Tools that a deployment brings (`TOOLS_DIR`): offered, called, approved and denied like the product's."""

from __future__ import annotations

import pytest

from support.api_client import ApiClient, Json
from support.scripted_stack import Scripted, call, calls, of_type, said_in, tools_of

pytestmark = pytest.mark.asyncio(loop_scope="session")


def result(events: list[Json], name: str) -> Json:
    (called,) = [event for event in of_type(events, "tool.called") if event["name"] == name]
    return next(event for event in of_type(events, "tool.finished") if event["call_id"] == called["call_id"])


async def test_it_is_listed_offered_and_called(scripted: Scripted, api: ApiClient) -> None:
    listed = {tool["name"]: tool for tool in await api.json("GET", "/tools")}
    assert (listed["order_status"]["read_only"], listed["order_cancel"]["read_only"]) == (True, False)
    session = await api.new_session(title="named")
    scripted.answer(calls(call("order_status", number=7)))
    events = await api.ask(session, "where is my order?")
    assert {"order_status", "order_cancel"} <= set(tools_of(scripted.model.requests[0]))
    assert "Order 7 is shipped." in said_in(scripted.last())
    (called,) = of_type(events, "tool.called")
    assert (called["phrase"], called["needs_computer"]) == ("Order 7", False)


async def test_wrong_arguments_are_told_and_nothing_is_run(scripted: Scripted, api: ApiClient) -> None:
    scripted.answer(calls(call("order_status", number="many")))
    await api.ask(await api.new_session(title="named"), "where is my order?")
    assert "Nothing was run: the arguments do not fit order_status.\\n- number:" in said_in(scripted.last())


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (1, "failed by a fault of its own"),
        (2, "did not finish within 0.1 s"),
        (3, "failed by a fault of its own"),
    ],
    ids=["throws", "hangs", "answers no result"],
)
async def test_one_that_fails_ends_no_run(scripted: Scripted, api: ApiClient, number: int, reason: str) -> None:
    scripted.answer(calls(call("order_cancel", number=number)))
    events = await api.ask(await api.new_session(title="named"), "cancel my order")
    assert (events[-1]["type"], events[-1]["status"]) == ("run.finished", "completed")
    assert not result(events, "order_cancel")["success"]
    assert reason in said_in(scripted.last())
    assert "hunter2" not in said_in(scripted.last())


async def test_what_says_nothing_of_its_effect_is_no_part_of_plan_mode(scripted: Scripted, api: ApiClient) -> None:
    session = await api.new_session(title="named", options={"enable_plan_mode": True})
    scripted.answer(calls(call("order_cancel", number=1)))
    events = await api.ask(session, "plan it")
    tools = set(tools_of(scripted.model.requests[0]))
    assert ("order_status" in tools, "order_cancel" in tools) == (True, False)
    assert not result(events, "order_cancel")["success"]


async def test_a_session_denies_it_by_its_name(scripted: Scripted, api: ApiClient) -> None:
    session = await api.new_session(title="named", options={"denied_tools": ["order_*"]})
    scripted.answer(calls(call("order_status", number=1)))
    events = await api.ask(session, "where is my order?")
    assert not result(events, "order_status")["success"]
    assert "shipped" not in said_in(scripted.last())
