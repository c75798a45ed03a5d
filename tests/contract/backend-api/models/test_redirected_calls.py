"""A message that interrupts while the model is in the middle of a call's arguments, in each wire format."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from backend_api.agent.events import MessageCompleted, ToolCalled
from backend_api.agent.tool import Done
from support.adapters import FORMS, adapter_of
from support.model_answers import frames_of
from support.model_seals import Form
from support.model_server import Answer, Call, ModelServer
from support.scripted import HandlerBox
from support.stage import Stage, worker_for, working

ARGUMENTS = '{"path": "a.md", "content": "a long text"}'


def in_the_middle(form: Form) -> Answer:
    """Says something, and hangs when the first half of a call's arguments is out."""
    fields: dict[str, Any] = {"texts": ("I write it down.",), "calls": [Call(name="write", arguments=ARGUMENTS)]}
    first_half = json.dumps(ARGUMENTS[: len(ARGUMENTS) // 2])[1:-1].encode()
    frames = frames_of(form, Answer(**fields), ())
    at = next(number for number, frame in enumerate(frames) if first_half[:12] in frame)
    return Answer(**fields, hang_after=at + 1)


@pytest.mark.parametrize("form", FORMS)
async def test_the_call_is_cancelled_what_was_said_stays_and_the_run_goes_on(form: Form) -> None:
    stage, tools, written = Stage(), HandlerBox(), list[Any]()

    async def write(*call: Any) -> Done:
        written.append(call)
        return Done(success=True, output="written")

    tools.add("write", write)
    async with ModelServer() as server:
        chat = adapter_of(form, server.url)
        server.answer(in_the_middle(form), Answer(texts=("Not", " then.")))
        session = await stage.open_session(title="named")
        try:
            async with working(worker_for(stage, chat, tools)), asyncio.timeout(20):
                run = await stage.say(session, "write a report")
                await server.silent.wait()
                assert await stage.say(session, "no, don't", interrupt=True) == run
                await server.closed_early.wait()
                end = await stage.until_finished(run)
        finally:
            await chat.aclose()
    assert (end.status, server.refusals, written) == ("completed", [], [])
    assert not stage.payloads(session, ToolCalled), "half a call is none"
    said = [(one.text, one.partial) for one in stage.payloads(session, MessageCompleted)]
    assert said == [("I write it down.", True), ("Not then.", False)]
    sent = json.dumps(server.requests[1])
    places = [sent.index(words) for words in ("write a report", "I write it down.", "no, don't")]
    assert places == sorted(places)
    assert "a long text" not in sent
