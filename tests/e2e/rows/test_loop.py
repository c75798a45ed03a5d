"""A loop that lasts: what it does until the model is done or a bound is hit, in a real sandbox."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from support.api_client import ApiClient
from support.model_answers import frames_of
from support.model_server import Answer
from support.scripted_stack import (
    LARGE,
    Scripted,
    begin,
    call,
    calls,
    in_any_form,
    of_type,
    results,
    said_in,
    tools_of,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")
NOISE = "for n in $(seq 200); do echo line {n} $n; done"


def noisy(number: int) -> Answer:
    """A command whose output is long."""
    return calls(call("shell_exec", command=NOISE.format(n=number)))


@in_any_form
async def test_several_calls_of_a_turn_run_and_those_that_write_in_their_order(
    scripted: Scripted, api: ApiClient
) -> None:
    session = await api.new_session(title="named")
    scripted.answer(
        calls(
            call("shell_exec", command="echo one >> a.txt"),
            call("utc_now"),
            call("shell_exec", command="echo two >> a.txt; cat a.txt"),
        )
    )
    events = await api.ask(session, "write")
    assert events[-1]["status"] == "completed"
    kinds = [event["type"] for event in of_type(events, "tool.called", "tool.finished")]
    assert kinds == ["tool.called"] * 3 + ["tool.finished"] * 3, "announced before any runs"
    told = await results(api, session, events)
    assert "one\ntwo" in told[2]


async def test_a_run_that_used_up_its_tokens_ends_with_the_reason_and_the_next_begins_anew(
    scripted: Scripted, api: ApiClient
) -> None:
    session = await api.new_session(title="named", model=LARGE)
    scripted.answer(calls(call("utc_now"), usage=(150_000, 0, 10)), calls(call("utc_now"), usage=(210_000, 150_000, 9)))
    events = await api.ask(session, "go on for ever")
    end = events[-1]
    assert (end["status"], end["retryable"]) == ("failed", True)
    assert "MAX_TOKEN_BUDGET" in end["reason"]
    assert [error["code"] for error in of_type(events, "error")] == ["token_budget"]
    assert len(scripted.model.requests) == 2
    assert (await api.ask(session, "go on"))[-1]["status"] == "completed"


@in_any_form
async def test_what_is_new_counts_once_however_often_the_history_is_read(scripted: Scripted, api: ApiClient) -> None:
    session = await api.new_session(title="named", model=LARGE)
    scripted.answer(*[calls(call("think", thought=f"{n}"), usage=(150_000 + n, 0, 1)) for n in range(4)])
    assert (await api.ask(session, "read it again and again"))[-1]["status"] == "completed"


async def test_an_answer_that_is_cut_goes_on_as_one_message_three_times_at_most(
    scripted: Scripted, api: ApiClient
) -> None:
    session = await api.new_session(title="named")
    scripted.answer(Answer(texts=("One",), finish="length"), Answer(texts=(", two",), finish="length"))
    scripted.answer(Answer(texts=(", three.",)))
    events = await api.ask(session, "count")
    assert [event["text"] for event in of_type(events, "message.completed")] == ["One, two, three."]
    scripted.answer(*[Answer(texts=("So ",), finish="length")] * 4)
    events = await api.ask(session, "count on")
    assert [event["text"] for event in of_type(events, "message.completed")] == ["So " * 4]
    assert [event["code"] for event in of_type(events, "notice")] == ["length"]


async def test_a_call_that_is_cut_inside_its_arguments_is_not_run_and_made_smaller(
    scripted: Scripted, api: ApiClient
) -> None:
    session = await api.new_session(title="named")
    scripted.answer(
        Answer(texts=("I write.",), calls=[call("shell_exec", command="touch cut")], finish="length"),
        calls(call("shell_exec", command="ls")),
    )
    events = await api.ask(session, "write")
    assert events[-1]["status"] == "completed"
    assert [event["arguments"] for event in of_type(events, "tool.called")] == [{"command": "ls"}]
    assert "cut" not in (await results(api, session, events))[0]


async def test_in_its_last_turns_it_is_told_so_and_says_at_last_without_tools_how_far_it_came(
    scripted: Scripted, api: ApiClient
) -> None:
    session = await api.new_session(title="named", options={"max_turns": 4})
    scripted.answer(*[calls(call("think", thought=f"{n}")) for n in range(4)], Answer(texts=("So far.",)))
    events = await api.ask(session, "go on for ever")
    end = events[-1]
    assert (end["status"], end["reason"]) == ("completed", "max_turns")
    notes = [note["text"] for note in of_type(events, "context.note") if note["kind"] == "turns"]
    assert [note.split(" ")[0] for note in notes] == ["3", "2", "This", "No"]
    assert [bool(tools_of(request)) for request in scripted.model.requests] == [True] * 4 + [False]
    assert of_type(events, "message.completed")[-1]["text"] == "So far."
    assert (await api.ask(session, "go on"))[-1]["status"] == "completed"


async def test_old_results_are_read_as_one_line_and_kept_in_the_history(scripted: Scripted, api: ApiClient) -> None:
    session = await api.new_session(title="named")
    scripted.answer(*[noisy(number) for number in range(6)])
    events = await api.ask(session, "make noise")
    assert events[-1]["status"] == "completed"
    read = said_in(scripted.last())
    assert "[Previous: used shell_exec]" in read
    assert "line 0 200" not in read
    assert all(f"line {number} 200" in read for number in (3, 4, 5)), "the last three stay"
    assert "line 0 200" in (await results(api, session, events))[0]
    assert "history" in [opened["cause"] for opened in of_type(events, "context.opened")]
    compacted = of_type(events, "context.compacted")
    assert {one["kind"] for one in compacted} == {"micro"}
    assert all(one["before"] > one["after"] for one in compacted)


async def test_a_conversation_that_fills_the_window_goes_on_from_a_summary_and_loses_nothing_of_its_turn(
    scripted: Scripted, api: ApiClient
) -> None:
    session = await api.new_session(title="named")
    scripted.answer(
        calls(call("utc_now")),
        calls(call("shell_exec", command="echo the result"), usage=(150_000, 0, 10)),
        Answer(texts=("They want a tree.",)),
    )
    events = await api.ask(session, "plant a tree")
    assert events[-1]["status"] == "completed"
    (compacted,) = of_type(events, "context.compacted")
    assert (compacted["kind"], compacted["before"] > compacted["after"]) == ("auto", True)
    before, asked, after = scripted.model.requests[1:]
    assert tools_of(asked) == tools_of(before), "so that what was cached of it counts"
    read = said_in(after)
    for words in ("They want a tree.", "plant a tree", "echo the result", "the result"):
        assert words in read
    assert "utc_now" not in [event.get("name") for event in after["messages" if "messages" in after else "input"]]
    path = compacted["transcript"]
    written = await api.http.get(f"/sessions/{session}/files/download", params={"path": path})
    assert [json.loads(line)["type"] for line in written.text.splitlines()][:2] == ["message.user", "run.queued"]
    assert (await api.ask(session, "and now"))[-1]["status"] == "completed"


@in_any_form
async def test_it_is_summed_up_on_demand_with_a_focus_by_person_and_by_agent(
    scripted: Scripted, api: ApiClient
) -> None:
    session = await api.new_session(title="named")
    await api.ask(session, "hello")
    scripted.answer(Answer(texts=("A greeting.",)))
    await api.json("POST", f"/sessions/{session}/compact", json={"focus": "the greeting"}, expect=202)
    (compacted,) = of_type(events := await api.until(session, "context.compacted"), "context.compacted")
    assert compacted["focus"] == "the greeting"
    assert "the greeting" in said_in(scripted.last())
    await api.until(session, "run.finished", after=events[-1]["seq"])
    scripted.answer(calls(call("compact", focus="the tone")), Answer(texts=("A tone.",)))
    events = await api.ask(session, "sum up")
    assert [event["focus"] for event in of_type(events, "context.compacted")] == ["the tone"]
    assert "the tone" in said_in(scripted.model.requests[-2])
    assert "A tone." in said_in(scripted.last())


@in_any_form
async def test_it_may_think_without_effect_and_is_asked_to_check_its_work_with_it(
    scripted: Scripted, api: ApiClient
) -> None:
    session = await api.new_session(title="named")
    scripted.answer(calls(call("think", thought="done: all; open: nothing")))
    events = await api.ask(session, "think")
    assert await results(api, session, events) == ["Noted."]
    assert "check your work against what was asked" in said_in(scripted.model.requests[0])


@pytest.mark.parametrize("where", ["text", "arguments"])
async def test_who_writes_in_the_middle_of_an_answer_is_read_at_once_with_all_that_was_said(
    scripted: Scripted, api: ApiClient, where: str
) -> None:
    session = await api.new_session(title="named")
    said: dict[str, Any] = {"texts": ("I write", " it down."), "calls": [call("shell_exec", command="touch half")]}
    frames = frames_of(scripted.form, Answer(**said), ())
    marks = {"text": b"it down.", "arguments": json.dumps('{"command"')[1:-1].encode()}
    at = next(number for number, frame in enumerate(frames) if marks[where] in frame)
    scripted.answer(Answer(**said, hang_after=at + 1), Answer(texts=("Not then.",)))
    begun = await api.send(session, "write a report")
    shown = await api.until(session, "message.delta", after=begun["seq"])
    async with asyncio.timeout(20):
        await scripted.model.silent.wait()
    scripted.model.silent.clear()
    await api.json("POST", f"/sessions/{session}/messages", json={"text": "no, don't", "interrupt": True}, expect=202)
    events = await api.until(session, "run.finished", after=begun["seq"])
    assert events[-1]["status"] == "completed"
    assert not of_type(events, "tool.called"), "half a call is none"
    first, last = of_type(events, "message.completed")
    assert first["text"].startswith(shown[-1]["text"])
    assert (first["partial"], last["text"]) == (True, "Not then.")
    read = said_in(scripted.last())
    places = [read.index(words) for words in ("write a report", "I write it down.", "no, don't")]
    assert places == sorted(places)


async def test_who_writes_in_the_middle_of_a_command_ends_it_and_its_call_is_told_as_cut(
    scripted: Scripted, api: ApiClient
) -> None:
    session = await api.new_session(title="named")
    scripted.answer(calls(call("shell_exec", command="touch begun; sleep 50; touch ended")))
    called = await begin(api, session, "wait", "tool.called")
    async with asyncio.timeout(30):
        while (await api.http.get(f"/sessions/{session}/files/download?path=begun")).status_code != 200:
            await asyncio.sleep(0.05)
    await api.json("POST", f"/sessions/{session}/messages", json={"text": "enough", "interrupt": True}, expect=202)
    events = await api.until(session, "run.finished", after=called["seq"])
    assert events[-1]["status"] == "completed"
    (cut,) = of_type(events, "tool.finished")
    assert (cut["success"], cut["cancelled"]) == (False, True)
    assert "enough" in said_in(scripted.last())


@in_any_form
async def test_the_same_calls_again_and_again_are_pointed_out_and_then_end_the_run(
    scripted: Scripted, api: ApiClient
) -> None:
    session = await api.new_session(title="named")
    scripted.answer(*[calls(call("shell_exec", command="echo same"))] * 8)
    events = await api.ask(session, "go round")
    end = events[-1]
    assert (end["status"], len(of_type(events, "tool.called"))) == ("failed", 4)
    assert [error["code"] for error in of_type(events, "error")] == ["repetition"]
    assert [note["kind"] for note in of_type(events, "context.note")].count("repetition") == 1
    scripted.model.script.clear()
    assert (await api.ask(session, "try another way"))[-1]["status"] == "completed"
    steps = [call("file_list", path="."), call("think", thought="hm")]
    scripted.answer(*[calls(step) for step in steps * 6])
    events = await api.ask(session, "in a circle")
    assert [error["code"] for error in of_type(events, "error")] == ["repetition"]


@in_any_form
async def test_a_tool_that_waits_for_something_is_no_trap(scripted: Scripted, api: ApiClient) -> None:
    session = await api.new_session(title="named")
    waits = [calls(call("shell_wait", timeout_s=1))] * 5
    scripted.answer(calls(call("shell_exec", command="sleep 60", timeout_s=1, keep_running=True)), *waits)
    events = await api.ask(session, "wait for it")
    assert (events[-1]["status"], len(of_type(events, "tool.called"))) == ("completed", 6)
