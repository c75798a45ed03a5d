"""The desktop of a real sandbox, seen and used by a model, and by a person who takes control."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from support.api_client import ApiClient
from support.model_server import Answer
from support.scripted_stack import (
    Scripted,
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

pytestmark = pytest.mark.asyncio(loop_scope="session")
SAID = Answer(texts=("Done.",))


@pytest_asyncio.fixture(loop_scope="session")
async def with_desktop(tmp_path: Path) -> AsyncGenerator[Scripted]:
    async with scripted_stack(tmp_path, "messages", has_desktop=True) as one:
        yield one


async def test_a_model_sees_and_uses_the_desktop_and_only_looks_while_a_person_has_control(
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
            events = await api.ask(session, "close it")
        assert succeeded(events) == [False, True]
        assert "taken control" in of_type(events, "tool.finished")[0]["preview"]

        scripted.answer(calls(call("desktop_mouse", action="move", x=5, y=5)), SAID)
        assert succeeded(await api.ask(session, "now")) == [True]


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
