"""Whatever a model answers, in each wire format: a clear event, and a conversation that goes on."""

from __future__ import annotations

from itertools import cycle
from typing import Any

import pytest

from backend_api.agent.events import ErrorEvent, Notice, RunFinished, ToolCalled, ToolFinished
from backend_api.agent.tool import Done
from backend_api.kit.ids import SessionId
from support.adapters import FORMS, adapter_of
from support.model_server import Answer, Call, ModelServer
from support.scripted import HandlerBox
from support.stage import Stage, worker_for, working

SAID = Answer(texts=("Well.",))


async def answered(form: str, *answers: Answer) -> tuple[Stage, SessionId]:
    """A message that is answered so, and one more."""

    async def look(*_: Any) -> Done:
        return Done(success=True, output="seen")

    tools, stage = HandlerBox(), Stage()
    tools.add("look", look)
    async with ModelServer(SAID) as server:
        chat = adapter_of(form, server.url)
        session = await stage.open_session(title="named")
        async with working(worker_for(stage, chat, tools)):
            server.answer(*answers)
            await stage.until_finished(await stage.say(session, "go"))
            server.script.clear()
            end = await stage.until_finished(await stage.say(session, "and now?"))
        await chat.aclose()
        assert (server.refusals, end.status) == ([], "completed")
    return stage, session


def called(*calls: Call) -> Answer:
    return Answer(texts=(), calls=calls)


BROKEN_ARGUMENTS = [('{"what": ', '{"what": '), ("[1]", "[1]"), ("there", "there"), ('{"n": NaN}', "NaN")]


@pytest.mark.parametrize(
    ("form", "arguments", "received"),
    [(form, *case) for form, case in zip(cycle(FORMS), BROKEN_ARGUMENTS, strict=False)],
)
async def test_arguments_that_are_no_json_object_are_told_as_the_result(
    form: str, arguments: str, received: str
) -> None:
    stage, session = await answered(form, called(Call(name="look", arguments=arguments)))
    (result,) = stage.payloads(session, ToolFinished)
    assert not result.success
    assert "the arguments are not a JSON object, or were cut" in result.preview
    assert received in result.preview


NO_TOOLS = ["look" * 30, "böse", "functions.look"]


@pytest.mark.parametrize(("form", "name"), [(form, case) for form, case in zip(cycle(FORMS), NO_TOOLS, strict=False)])
async def test_a_name_of_no_tool_is_told_as_the_result_and_recorded_as_one_that_can_be_sent(
    form: str, name: str
) -> None:
    stage, session = await answered(form, called(Call(name=name)))
    (result,), (recorded,) = stage.payloads(session, ToolFinished), stage.payloads(session, ToolCalled)
    assert not result.success
    assert "look" in result.preview
    assert len(recorded.name) <= 64
    assert recorded.name.isascii()


@pytest.mark.parametrize("form", FORMS)
async def test_one_call_that_comes_twice_runs_once_and_other_arguments_are_another_call(form: str) -> None:
    again = [Call(name="look"), Call(name="look"), Call(name="look", arguments='{"n": 1}')]
    stage, session = await answered(form, called(*again))
    results = stage.payloads(session, ToolFinished)
    assert [result.success for result in results] == [True] * len(results)
    assert [call.arguments for call in stage.payloads(session, ToolCalled)] == [{}, {"n": 1}]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("nothing", [Answer(texts=()), Answer(texts=("\n",)), Answer(texts=(), thinking=("hm",))])
async def test_who_says_nothing_is_asked_again_and_then_it_is_told(form: str, nothing: Answer) -> None:
    stage, session = await answered(form, nothing)
    assert stage.said(session).strip() == "Well.Well."
    assert not stage.payloads(session, Notice)
    stage, session = await answered(form, *[nothing] * 4)
    (notice,) = stage.payloads(session, Notice)
    assert notice.code == "silent"
    assert [end.status for end in stage.payloads(session, RunFinished)] == ["completed", "completed"]


@pytest.mark.parametrize("form", ["chat", "messages"])
async def test_who_calls_no_tool_though_it_says_so_is_asked_once_more_and_then_it_is_told(form: str) -> None:
    uncalled = Answer(texts=("I look.",), finish="tool_calls")
    stage, session = await answered(form, uncalled, called(Call(name="look")))
    assert [result.success for result in stage.payloads(session, ToolFinished)] == [True]
    assert not stage.payloads(session, Notice)
    stage, session = await answered(form, uncalled, uncalled)
    (notice,) = stage.payloads(session, Notice)
    assert notice.code == "no_call"
    assert stage.said(session) == "I look." * 2 + "Well."


@pytest.mark.parametrize("form", FORMS)
async def test_an_answer_that_is_cut_again_and_again_is_told_as_such(form: str) -> None:
    stage, session = await answered(form, *[Answer(texts=("So ",), finish="length")] * 4)
    (notice,) = stage.payloads(session, Notice)
    assert notice.code == "length"
    assert stage.said(session) == "So " * 4 + "Well."


@pytest.mark.parametrize("form", FORMS)
async def test_an_end_without_a_reason_keeps_what_was_said_and_is_no_success(form: str) -> None:
    stage, session = await answered(form, Answer(texts=("So.",), calls=[Call(name="look")], finish=""))
    end = stage.payloads(session, RunFinished)[0]
    assert stage.said(session).startswith("So.")
    assert not stage.payloads(session, ToolCalled)
    # Of responses one that is not whole and does not say why was cut: it goes on.
    assert end.status == ("completed" if form == "responses" else "failed")
    assert form == "responses" or "without a finish reason" in (end.reason or "")


@pytest.mark.parametrize("form", FORMS)
async def test_a_refusal_ends_the_run_with_its_reason(form: str) -> None:
    stage, session = await answered(form, Answer(texts=("No.",), finish="refusal"))
    end = stage.payloads(session, RunFinished)[0]
    assert (end.status, end.reason) == ("failed", "The model refused to answer this request.")


@pytest.mark.parametrize("form", FORMS)
async def test_a_fault_in_the_middle_is_an_error_and_keeps_what_was_said(form: str) -> None:
    fault = {"type": "server_error", "code": "server_error", "message": "out of order"}
    stage, session = await answered(form, Answer(texts=("Half",), fault=fault))
    (error,) = stage.payloads(session, ErrorEvent)
    assert "out of order" in error.text
    assert error.code == "model_unavailable"
    assert stage.said(session) == "HalfWell."
