"""Whatever a tool or a model does, there is a short result or a clear event, and the session stays usable."""

from __future__ import annotations

import json

import pytest

from support.api_client import ApiClient, Json
from support.model_server import Answer, Call
from support.scripted_stack import (
    HELPERS,
    SUMMARIES,
    Scripted,
    call,
    calls,
    of_type,
    results,
    said_in,
    succeeded,
    tools_of,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")
LONGEST = 200_000
"""Characters; more than any result the model may read."""
TOO_LONG = {
    "chat": Answer(status=400, message="This model's maximum context length is 200000 tokens."),
    "responses": Answer(status=400, message="Your input exceeds the context window of this model."),
    "messages": Answer(status=400, message="prompt is too long: 210000 tokens > 200000 maximum"),
}


async def told(
    scripted: Scripted, api: ApiClient, *answers: Answer, status: str = "completed"
) -> tuple[str, list[Json]]:
    """What a message led to that was answered so; how the run ended, and the session answers another message."""
    made = await api.new_session(title="named")
    scripted.answer(*answers)
    events = await api.ask(made, "go")
    assert events[-1]["status"] == status, events[-1]
    await usable(scripted, api, made)
    return made, events


async def usable(scripted: Scripted, api: ApiClient, session: str) -> None:
    scripted.model.script.clear()
    again = await api.ask(session, "and now?")
    assert again[-1]["status"] == "completed", again[-1]
    assert of_type(again, "message.completed")[-1]["text"] == "All is well."


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("head -c 100000000 /dev/zero | tr '\\0' x; echo the end", "the end"),
        ("head -c 300000 /dev/urandom; echo; echo the end", "the end"),
        ("printf 'half \\xe4\\xbd'; printf '\\xf0\\x9f'; echo; echo the end", "the end"),
        ("printf '\\0\\1\\33[31m\\x7f'; echo; echo the end", "the end"),
        ("true", ""),
        ("exit 7", "7"),
    ],
    ids=["100 MB", "binary", "half a character", "control characters", "nothing", "an exit code"],
)
async def test_whatever_a_command_prints_is_a_bounded_result(
    scripted: Scripted, api: ApiClient, command: str, words: str
) -> None:
    session, events = await told(scripted, api, calls(call("shell_exec", command=command)))
    (finished,) = of_type(events, "tool.finished")
    assert len(finished["preview"]) <= 2_000
    (whole,) = await results(api, session, events)
    assert words in whole
    assert len(whole) < 5_000_000
    assert max(len(said_in(request)) for request in scripted.model.requests) < LONGEST
    whole.encode()


async def test_a_command_that_hangs_is_ended_at_its_limit(scripted: Scripted, api: ApiClient) -> None:
    hangs = call("shell_exec", command="echo begun; sleep 600", timeout_s=1)
    session, events = await told(scripted, api, calls(hangs), calls(call("shell_exec", command="echo usable")))
    first, second = await results(api, session, events)
    assert "begun" in first
    assert "usable" in second
    assert succeeded(events) == [False, True]


async def test_calls_that_can_not_be_run_are_told_as_their_results(scripted: Scripted, api: ApiClient) -> None:
    wrong = [
        (Call(name="shell_exec", arguments='{"comm'), "the arguments are not a JSON object, or were cut"),
        (Call(name="shell_exec", arguments="[1]"), "the arguments are not a JSON object"),
        (Call(name="shell_exec", arguments='{"command": NaN}'), "the arguments are not a JSON object"),
        (call("shell_exec", command=7), "command"),
        (call("shell_exec"), "command"),
        (call("file_read", path="../../etc/passwd"), "outside"),
        (call("ask_user", questions=[]), "questions"),
        (call("teleport"), "There is no tool named 'teleport'"),
        (Call(name="shell_exec" * 9), "There is no tool named"),
        (Call(name="böse"), "There is no tool named"),
    ]
    session, events = await told(scripted, api, calls(*(made for made, _ in wrong)))
    said = await results(api, session, events)
    assert not any(event["success"] for event in of_type(events, "tool.finished"))
    for (made, words), result in zip(wrong, said, strict=True):
        assert words in result, (made, result)
        assert len(result) <= 2_000, made
    assert all(len(event["name"]) <= 64 for event in of_type(events, "tool.called"))


async def test_a_tool_that_is_not_offered_is_not_run(scripted: Scripted, api: ApiClient) -> None:
    task = call("task", description="look", prompt="look at it", agent_type="explore")
    written = calls(call("shell_exec", command="touch made"))
    made, events = await told(scripted, api, calls(task), written, Answer(texts=("Looked.",)))
    (below, *_) = [request for request in scripted.model.requests if request["model"] == HELPERS]
    assert "shell_exec" not in tools_of(below)
    assert succeeded(events) == [True, False]
    assert not of_type(await api.stored_events(made), "sandbox.updated")


async def test_one_call_that_comes_twice_runs_once(scripted: Scripted, api: ApiClient) -> None:
    _, events = await told(scripted, api, Answer(texts=(), calls=[call("utc_now"), call("utc_now")]))
    assert [event["success"] for event in of_type(events, "tool.finished")] == [True]


@pytest.mark.parametrize(
    "nothing", [Answer(texts=()), Answer(texts=(" \n",)), Answer(texts=(), thinking=("hm",))], ids=["", "blank", "hm"]
)
async def test_who_says_nothing_is_asked_again_and_then_it_is_told(
    scripted: Scripted, api: ApiClient, nothing: Answer
) -> None:
    _, events = await told(scripted, api, nothing)
    assert of_type(events, "message.completed")[-1]["text"].endswith("All is well.")
    _, events = await told(scripted, api, *[nothing] * 4)
    assert [event["code"] for event in of_type(events, "notice")] == ["silent"]


async def test_an_end_without_a_reason_keeps_what_was_said_and_runs_no_call(scripted: Scripted, api: ApiClient) -> None:
    called = Answer(texts=("I look.",), calls=[call("utc_now")], finish="")
    status = "completed" if scripted.form == "responses" else "failed"
    _, events = await told(scripted, api, called, status=status)
    texts = [event["text"] for event in of_type(events, "message.completed")]
    assert succeeded(events) == []
    if scripted.form == "responses":
        # There an answer that is not whole and does not say why was cut: it goes on.
        assert texts == ["I look.All is well."]
    else:
        assert texts == ["I look."]
        assert "without a finish reason" in events[-1]["reason"]


@pytest.mark.parametrize("status", [413, 400])
async def test_what_a_provider_finds_too_long_is_summed_up_once_and_goes_on(
    scripted: Scripted, api: ApiClient, status: int
) -> None:
    refusal = Answer(status=413, message="Payload Too Large") if status == 413 else TOO_LONG[scripted.form]
    session = await api.new_session(title="named")
    await api.ask(session, "remember the word amber")
    asked = len(scripted.model.requests)
    scripted.answer(calls(call("shell_exec", command="echo found it")), refusal, Answer(texts=("The word is amber.",)))
    events = await api.ask(session, "look for it")
    assert events[-1]["status"] == "completed"
    assert len(of_type(events, "context.compacted")) == 1
    assert [request["model"] for request in scripted.model.requests[asked:]] == [
        scripted.default,
        scripted.default,
        SUMMARIES,
        scripted.default,
    ]
    read = said_in(scripted.last())
    assert all(words in read for words in ("The word is amber.", "look for it", "found it"))
    await usable(scripted, api, session)


async def test_one_that_is_too_long_also_then_ends_with_a_clear_error(scripted: Scripted, api: ApiClient) -> None:
    refusal = Answer(status=413, message="Payload Too Large")
    session = await api.new_session(title="named")
    await api.ask(session, "hello")
    scripted.answer(refusal, Answer(texts=("A greeting.",)), refusal)
    events = await api.ask(session, "go on")
    end, (error,) = events[-1], of_type(events, "error")
    assert (end["status"], error["code"]) == ("failed", "model_context")
    assert "too long for the model" in end["reason"]
    assert len(of_type(events, "context.compacted")) == 1
    assert json.dumps(events).count("Payload Too Large") >= 1
    await usable(scripted, api, session)


async def test_one_whose_summary_fails_ends_with_a_clear_error(scripted: Scripted, api: ApiClient) -> None:
    refusal = Answer(status=413, message="Payload Too Large")
    session = await api.new_session(title="named")
    await api.ask(session, "hello")
    scripted.answer(refusal, *[Answer(status=400, message="no")] * 2)
    events = await api.ask(session, "go on")
    assert [event["code"] for event in of_type(events, "notice")] == ["compaction_failed"]
    assert [event["code"] for event in of_type(events, "error")] == ["model_context"]
    await usable(scripted, api, session)
