"""Tools of the gateway that fail by a fault of their own, over HTTP, in each wire format."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from backend_api.agent.tool import Done
from support.gateway import Gateway
from support.gateway_worker import at_work
from support.model_seals import Form
from support.model_server import ModelServer
from support.scripted import HandlerBox
from support.scripted_stack import FORMS, SAID, call, calls, of_type

pytestmark = pytest.mark.thorough

SECRET = "detail of the inside"


def faulty() -> HandlerBox:
    box = HandlerBox()

    async def throw(*_: Any) -> Done:
        raise ZeroDivisionError(SECRET)

    async def time_out(*_: Any) -> Done:
        raise TimeoutError(SECRET)

    async def hang(*_: Any) -> Done:
        await asyncio.Event().wait()
        raise AssertionError

    def printing(output: str) -> Any:
        async def print_it(*_: Any) -> Done:
            return Done(success=True, output=output)

        return print_it

    box.add("throw", throw)
    box.add("time_out", time_out)
    box.add("hang", hang, deadline_ms=50)
    box.add("much", printing("x" * 100_000_000))
    box.add("binary", printing("\x00\x01\x7f\ufffe" * 10_000))
    box.add("half", printing("\udcff\ud800 half" * 5_000))
    box.add("nothing", printing(""))
    return box


# What is no ordinary text is told in its own way in each format; the rest is text by then.
@pytest.mark.parametrize(
    ("tool", "success", "words", "form"),
    [
        ("throw", False, "The tool failed by a fault of its own.", "chat"),
        ("time_out", False, "The tool failed by a fault of its own.", "chat"),
        ("hang", False, "did not finish within 0.05 s", "responses"),
        ("much", True, "xxx", "messages"),
        *(("binary", True, "", form) for form in FORMS),
        *(("half", True, "half", form) for form in FORMS),
        *(("nothing", True, "", form) for form in FORMS),
    ],
)
async def test_one_is_a_short_result_the_run_goes_on_and_the_session_is_usable(
    gateway: Gateway, form: Form, tool: str, success: bool, words: str
) -> None:
    anna = await gateway.user("anna")
    made = await gateway.client.post("/api/sessions", json={"title": "named"}, headers=anna)
    url = f"/api/sessions/{made.json()['id']}"
    async with ModelServer(SAID) as server, at_work(gateway, server, form, faulty()):
        server.answer(calls(call(tool)))
        for text in ("go", "and now?"):
            end = await gateway.client.post(f"{url}/runs", json={"text": text}, headers=anna, timeout=60)
            assert (end.status_code, end.json()["status"]) == (200, "completed"), end.text
            assert end.json()["messages"][-1]["text"] == "All is well."
        assert server.refusals == []
        assert max(len(str(request)) for request in server.requests) < 300_000
    events = (await gateway.client.get(f"{url}/events?format=json&limit=500", headers=anna)).json()["items"]
    (finished,) = of_type(events, "tool.finished")
    assert finished["success"] == success
    assert words in finished["preview"]
    assert len(finished["preview"]) <= 2_000
    assert SECRET not in str(events)
