"""The desktop of a real sandbox, seen and used by a model, and by a person who takes control."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from support.api_client import ApiClient
from support.model_server import Answer, Call
from support.scripted_stack import (
    USES_COMPUTER,
    Scripted,
    begin,
    call,
    calls,
    in_any_form,
    of_type,
    results,
    said_in,
    scripted_stack,
    succeeded,
    tools_of,
)

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]
SAID = Answer(texts=("Done.",))


CHECK = {"id": "cu_sc_1", "code": "malicious_instructions", "message": "The page asks for a payment."}


def batch(*actions: dict[str, Any], **more: Any) -> Call:
    """A call of OpenAI's computer tool."""
    return Call(name="", computer={"actions": list(actions), **more})


def member(name: str, **given: object) -> Call:
    return Call(name=name, arguments=json.dumps(given), toolset="computer")


@pytest_asyncio.fixture(loop_scope="session")
async def with_desktop(tmp_path: Path) -> AsyncGenerator[Scripted]:
    async with scripted_stack(tmp_path, "messages", has_desktop=True) as one:
        yield one


async def test_a_model_sees_and_uses_the_desktop_and_waits_while_a_person_has_control(
    with_desktop: Scripted,
) -> None:
    scripted = with_desktop
    async with ApiClient(scripted.stack.base_url) as api:
        session = await api.new_session(title="named", options={"max_turns": 9})
        scripted.answer(
            calls(call("desktop_screenshot")),
            calls(call("desktop_mouse", action="click", x=640, y=60, button="left")),
            calls(call("desktop_keyboard", action="type", text="about:version\n")),
            SAID,
        )
        events = await api.ask(session, "look at the desktop")
        assert succeeded(events) == [True, True, True], await results(api, session, events)
        shown = [event["display"] for event in of_type(events, "tool.finished")]
        assert [view["type"] for view in shown] == ["desktop"] * 3
        assert (shown[1]["pointer_x"], shown[1]["pointer_y"], shown[1]["image"]) == (640, 60, None)
        seq = of_type(events, "tool.finished")[0]["seq"]
        picture = await api.http.get(f"/sessions/{session}/events/{seq}/body")
        assert picture.headers["content-type"] == "image/jpeg"
        assert picture.content.startswith(b"\xff\xd8\xff")
        assert said_in(scripted.last()).count('"type": "image"') == 3

        ticket = (await api.http.post(f"/sessions/{session}/vnc/ticket", json={"mode": "control"})).json()
        address = f"{scripted.stack.base_url.replace('http', 'ws', 1)}{ticket['url']}"
        async with connect(address, subprotocols=[Subprotocol("binary")], proxy=None) as person:
            assert await person.recv() == b"RFB 003.008\n"
            scripted.answer(
                calls(call("desktop_keyboard", action="press", keys="ctrl+w"), call("desktop_screenshot")), SAID
            )
            asked = asyncio.create_task(api.ask(session, "close it"))
            while "ctrl+w" not in str(await api.stored_events(session)):
                await asyncio.sleep(0.2)
            # As long as it takes to look several times whether the person still drives.
            await asyncio.sleep(1)
            assert not asked.done()
        # The person has left: the call was meant for the screen as it was before.
        events = await asked
        assert succeeded(events) == [False, True]
        assert "Nothing was run" in of_type(events, "tool.finished")[0]["preview"]

        scripted.answer(calls(call("desktop_mouse", action="move", x=5, y=5)), SAID)
        assert succeeded(await api.ask(session, "now")) == [True]


@pytest_asyncio.fixture(loop_scope="session")
async def with_computer_calls(tmp_path: Path) -> AsyncGenerator[Scripted]:
    async with scripted_stack(tmp_path, "responses", has_desktop=True) as one:
        yield one


@pytest.mark.thorough
async def test_a_model_of_openai_uses_the_desktop_by_its_computer_tool_and_a_person_allows_what_is_held_back(
    with_computer_calls: Scripted,
) -> None:
    scripted = with_computer_calls
    click = {"type": "click", "button": "left", "x": 640, "y": 60}
    typed = [click, {"type": "type", "text": "about:version"}, {"type": "keypress", "keys": ["ENTER"]}]
    async with ApiClient(scripted.stack.base_url) as api:
        session = await api.new_session(title="named", model=USES_COMPUTER)
        scripted.answer(calls(batch({"type": "screenshot"})), calls(batch(*typed)), SAID)
        events = await api.ask(session, "look at the version")
        assert [event["name"] for event in of_type(events, "tool.called")] == [
            "desktop_screenshot",
            "desktop_mouse",
            "desktop_keyboard",
            "desktop_keyboard",
        ]
        assert succeeded(events) == [True] * 4, await results(api, session, events)
        items = scripted.last()["input"]
        assert [item["actions"] for item in items if item["type"] == "computer_call"] == [
            [{"type": "screenshot"}],
            typed,
        ]
        shown = [item["output"]["image_url"] for item in items if item["type"] == "computer_call_output"]
        assert len(set(shown)) == 2
        assert all(url.startswith("data:image/jpeg;base64,/9j/") for url in shown)

        held = calls(batch(click, pending_safety_checks=[CHECK]))
        for decision, acknowledged in (("approve", [CHECK]), ("deny", None)):
            scripted.answer(held, SAID)
            asked = await begin(api, session, "pay", "approval.requested")
            assert [call["safety_checks"] for call in asked["calls"]] == [
                [{"code": CHECK["code"], "message": CHECK["message"]}]
            ]
            path = f"/sessions/{session}/approvals/{asked['approval_id']}"
            assert (await api.http.post(path, json={"decision": decision})).status_code == 200
            await api.until(session, "run.finished", after=asked["seq"])
            finished = of_type(await api.stored_events(session), "tool.finished")
            assert finished[-1]["success"] == (decision == "approve")
            answer = [item for item in scripted.last()["input"] if item["type"].endswith("_output")][-1]
            assert answer.get("acknowledged_safety_checks") == acknowledged
        assert "User denied this tool call" in answer["output"]

        await api.json("PATCH", f"/sessions/{session}", json={"model": scripted.default})
        scripted.answer(SAID)
        await api.ask(session, "and you?")
        assert {"type": "computer"} not in scripted.last()["tools"]
        assert scripted.model.refusals == []


@pytest.mark.thorough
async def test_a_model_uses_the_desktop_by_the_tool_of_its_provider(with_desktop: Scripted) -> None:
    scripted = with_desktop
    async with ApiClient(scripted.stack.base_url) as api:
        session = await api.new_session(title="named", model=USES_COMPUTER)
        scripted.answer(
            calls(member("left_click", text="ctrl", coordinate=[640, 400]), member("zoom", region=[0, 0, 64, 40])),
            calls(member("fly", to="the moon")),
            SAID,
        )
        events = await api.ask(session, "click")
        assert [(event["name"], event["arguments"]) for event in of_type(events, "tool.called")][:2] == [
            ("desktop_mouse", {"action": "click", "keys": "ctrl", "x": 640, "y": 400}),
            ("desktop_screenshot", {"region": [0, 0, 64, 40]}),
        ]
        assert succeeded(events)[:2] == [True, True], await results(api, session, events)
        assert scripted.model.refusals == []
        tools = scripted.last()["tools"]
        assert [tool for tool in tools if tool.get("type") == "computer_toolset_20260801"] == [
            {"type": "computer_toolset_20260801", "configs": {"cursor_position": {"enabled": False}}}
        ]
        assert not {"desktop_screenshot", "desktop_mouse", "desktop_keyboard"} & {tool.get("name") for tool in tools}
        blocks = [block for message in scripted.last()["messages"] for block in message["content"]]
        used = [block for block in blocks if block["type"] == "tool_use"]
        assert [(block["name"], block.get("toolset_name"), block["input"]) for block in used[:2]] == [
            ("left_click", "computer", {"text": "ctrl", "coordinate": [640, 400]}),
            ("zoom", "computer", {"region": [0, 0, 64, 40]}),
        ]
        answered = [block["content"] for block in blocks if block["type"] == "tool_result"]
        assert [[part["type"] for part in content] for content in answered[:2]] == [["text", "image"]] * 2

        older = "computer_20251124"
        session = await api.new_session(title="named", model=older)
        given = {"coordinate": [640, 400], "action": "left_click"}
        scripted.answer(calls(call("computer", **given), call("computer", action="zoom", region=[0, 0, 64, 40])), SAID)
        events = await api.ask(session, "click")
        assert succeeded(events) == [True, True], await results(api, session, events)
        assert scripted.model.headers[-1]["anthropic-beta"] == "computer-use-2025-11-24"
        blocks = [block for message in scripted.last()["messages"] for block in message["content"]]
        assert next(block["input"] for block in blocks if block["type"] == "tool_use") == given
        assert scripted.model.refusals == []


@in_any_form
async def test_plan_mode_has_what_only_looks_and_a_computer_without_a_desktop_says_so(
    scripted: Scripted, api: ApiClient
) -> None:
    scripted.answer(calls(call("desktop_screenshot")), SAID)
    session = await api.new_session(title="named", options={"enable_plan_mode": True})
    events = await api.ask(session, "look")
    offered = {name for name in tools_of(scripted.model.requests[0]) if name.startswith("desktop_")}
    assert offered == {"desktop_screenshot", "desktop_windows"}
    assert succeeded(events) == [False]
    assert "no desktop" in (await results(api, session, events))[0]
