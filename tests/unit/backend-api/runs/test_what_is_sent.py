"""What a model was sent is only added to: the log says it again, byte for byte, on any worker."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from backend_api.agent.capabilities.continuation import CONTINUATION
from backend_api.agent.capabilities.current_date import CURRENT_DATE
from backend_api.agent.capabilities.preset import PRESET
from backend_api.agent.events import (
    ContextNote,
    ContextOpened,
    MessageCompleted,
    Notice,
    ThinkingCompleted,
    ToolCalled,
    ToolFinished,
)
from backend_api.agent.model import (
    AssistantTurn,
    FinishPart,
    ModelRequest,
    NoteTurn,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolRequest,
    ToolTurn,
    UserTurn,
)
from backend_api.agent.preset import Preset, Presets, PresetText
from backend_api.agent.thread import Thread
from backend_api.agent.tool import Done, ToolCall
from backend_api.kit.ids import SessionId
from support.scripted import HandlerBox, OnOutput, ScriptedModel
from support.stage import Stage, worker_for, working
from support.tables import having

STOP, CALLS, LENGTH = FinishPart("stop"), FinishPart("tool_calls"), FinishPart("length")


async def look(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
    return Done(success=True, output="seen " * 1_000)


def box() -> HandlerBox:
    tools = HandlerBox()
    tools.add("look", look)
    return tools


def spoken(number: int) -> str:
    return f"answer {number};"


def sent(request: ModelRequest) -> tuple[str, str, str]:
    return request.model, request.system, "".join(tool.offer for tool in request.tools)


def thread_of(stage: Stage, session: SessionId) -> Thread:
    """The log as a worker reads it that knows nothing."""
    row = stage.store.sessions[session]
    thread = Thread()
    for event in row.events:
        thread.apply(event, row.outputs.get(event.seq or 0))
    return thread


STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["answer", "call", "cut", "cut and call", "think", "message", "stop", "redirect", "fall silent"]
        ),
        st.sampled_from(["same worker", "another worker", "next day"]),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_the_log_says_again_what_each_answer_was_given_to(steps: list[tuple[str, str]]) -> None:
    asyncio.run(play(steps))


PRESETS = Presets(
    [
        Preset(id="whole", text=PresetText(label="Whole", description="")),
        Preset(id="talk", text=PresetText(label="Talk", description=""), prompt="Talk.", tools=frozenset()),
    ],
    default="whole",
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([None, "whole", "talk", "gone"]), st.booleans()), min_size=1, max_size=8))
def test_between_openings_what_was_sent_is_only_added_to_whatever_preset_is_chosen(
    steps: list[tuple[str | None, bool]],
) -> None:
    asyncio.run(play_presets(steps))


async def play_presets(steps: list[tuple[str | None, bool]]) -> None:
    stage = Stage()
    session = await stage.open_session(title="named")
    call = ToolCallPart(ToolRequest(call_id="x", name="look", arguments={}))
    model = ScriptedModel([STOP])
    chosen: list[str | None] = []
    for number, (preset, calls) in enumerate(steps):
        await stage.choose(session, preset)
        asked, said = len(model.requests), TextPart(spoken(number))
        model.go_on_with(*([[call, CALLS], [said, STOP]] if calls else [[said, STOP]]))
        name = f"worker_{number}"
        async with working(worker_for(stage, model, box(), name=name, presets=PRESETS, table=having(PRESET))):
            assert (await stage.until_finished(await stage.say(session, f"message {number}"))).status == "completed"
        chosen += [preset] * (len(model.requests) - asked)
    opened = stage.payloads(session, ContextOpened)
    wanted = [("whole" if one is None else one) for one in chosen]
    for (before, one), (after, other) in pairwise(zip(model.requests, wanted, strict=True)):
        if one == other:
            assert sent(before) == sent(after)
            assert list(after.turns[: len(before.turns)]) == list(before.turns)
    changes = sum(one != other for one, other in pairwise(wanted))
    assert [one.cause for one in opened] == ["started"] + ["preset"] * changes
    epochs = [one.missing_preset or one.preset for one in opened]
    assert epochs == [one for one, _ in groupby(wanted)]
    for request, preset in zip(model.requests, wanted, strict=True):
        assert [tool.name for tool in request.tools] == ([] if preset == "talk" else ["look"])
        assert ("Talk." in request.system) == (preset == "talk")


async def play(steps: list[tuple[str, str]]) -> None:
    stage = Stage()
    session = await stage.open_session(title="named")
    days = [datetime(2026, 1, 1, tzinfo=UTC)]
    model = ScriptedModel([STOP])
    table = having(CONTINUATION)
    workers = [worker_for(stage, model, box(), clock=lambda: days[-1], table=table)]
    for step, who in steps:
        if who == "next day":
            days.append(days[-1] + timedelta(days=1))
        if who == "another worker":
            name = f"worker_{len(workers) + 1}"
            workers.append(worker_for(stage, model, box(), name=name, clock=lambda: days[-1], table=table))
        model.go_on_with(*script(step, len(model.requests), stage, session))
        async with working(workers[-1]):
            await stage.until_finished(await stage.say(session, f"message {len(model.requests)}"))
    turns = thread_of(stage, session).conversation("none").turns
    texts = [turn.text if isinstance(turn, AssistantTurn) else "" for turn in turns]
    for number, request in enumerate(model.requests):
        said = [index for index, text in enumerate(texts) if spoken(number) in text]
        assert all(turns[:index] == list(request.turns) for index in said)
        assert sent(request) == sent(model.requests[0])
    assert sum(";" in text for text in texts) >= len(steps)
    assert len(stage.payloads(session, ContextOpened)) == 1


def script(step: str, number: int, stage: Stage, session: SessionId) -> list[list[Any]]:
    """What the model does when it is asked next, and then."""

    async def interject() -> None:
        await stage.say(session, "and this")

    async def stop() -> None:
        await stage.stop(session)
        await asyncio.Event().wait()

    async def redirect() -> None:
        await stage.say(session, "no, this", interrupt=True)
        await asyncio.Event().wait()

    said = [TextPart(spoken(number + index)) for index in range(3)]
    call = ToolCallPart(ToolRequest(call_id="x", name="look", arguments={}))
    match step:
        case "call":
            return [[said[0], call, call, CALLS], [said[1], STOP]]
        case "cut":
            return [[said[0], LENGTH], [ThinkingPart("hm", "signed"), said[1], LENGTH], [said[2], STOP]]
        case "cut and call":
            return [
                [ThinkingPart("hm", "signed"), LENGTH],
                [ThinkingPart("so", "too"), call, CALLS],
                [said[2], LENGTH],
                [call, CALLS],
                [TextPart(spoken(number + 4)), STOP],
            ]
        case "redirect":
            return [[ThinkingPart("hm", None), redirect, STOP], [said[1], STOP]]
        case "think":
            return [[ThinkingPart("hm", "signed"), said[0], ThinkingPart("so", "too"), call, CALLS], [said[1], STOP]]
        case "message":
            return [[said[0], interject, STOP], [said[1], STOP]]
        case "stop":
            return [[said[0], stop, STOP]]
        case "fall silent":
            return [[STOP], [said[1], STOP]]
        case _:
            return [[said[0], STOP]]


async def answered(stage: Stage, model: ScriptedModel, session: SessionId, text: str, **worker: Any) -> None:
    worker = {"table": having(CURRENT_DATE), **worker}
    async with working(worker_for(stage, model, worker.pop("box", None) or box(), **worker)):
        await stage.until_finished(await stage.say(session, text))


async def test_an_opening_is_recorded_once_with_all_that_is_sent_and_again_when_that_changes() -> None:
    stage = Stage()
    session = await stage.open_session(title="named")
    model = ScriptedModel([TextPart("One."), STOP], [TextPart("Two."), STOP], [TextPart("Three."), STOP])
    for text in ("one", "two"):
        await answered(stage, model, session, text)
    more = box()
    more.add("dance", look)
    await answered(stage, model, session, "three", box=more)
    opened = [event for event in stage.events(session) if isinstance(event.payload, ContextOpened)]
    assert [(one.payload.epoch, one.payload.cause) for one in opened if isinstance(one.payload, ContextOpened)] == [
        (1, "started"),
        (2, "tools"),
    ]
    body = (await stage.log.body(session, opened[1].seq or 0)).content.decode()
    request = model.requests[2]
    assert all(tool.offer in body for tool in request.tools)
    assert [tool.name for tool in request.tools] == ["look", "dance"]
    assert len(stage.payloads(session, ContextNote)) == 1


async def test_the_day_is_told_once_and_when_it_changes() -> None:
    stage = Stage()
    session = await stage.open_session(title="named")
    days = [datetime(2026, 3, 5, tzinfo=UTC), datetime(2026, 3, 5, 23, tzinfo=UTC), datetime(2026, 3, 6, tzinfo=UTC)]
    model = ScriptedModel([TextPart("Yes."), STOP])
    for day in days:
        await answered(stage, model, session, "hi", clock=lambda day=day: day)
    kinds = [type(turn).__name__[0] + getattr(turn, "text", "")[9:20] for turn in model.requests[-1].turns]
    assert kinds == ["U", "NThursday, 0", "A", "U", "A", "U", "NFriday, 06 "]
    assert len({request.system for request in model.requests}) == 1


async def test_thinking_is_not_sent_again_after_an_opening() -> None:
    stage = Stage()
    session = await stage.open_session(title="named")
    model = ScriptedModel([ThinkingPart("hm", "signed"), TextPart("One."), STOP], [TextPart("Two."), STOP])
    for _ in range(2):
        await answered(stage, model, session, "hi")
    more = box()
    more.add("dance", look)
    for _ in range(2):
        await answered(stage, model, session, "hi", box=more)
    thoughts = [[one.thinking for one in asked.turns if isinstance(one, AssistantTurn)] for asked in model.requests]
    assert [any(one) for one in thoughts] == [False, True, False, False]
    assert len(stage.payloads(session, ThinkingCompleted)) == 1


async def test_nothing_is_recorded_of_what_was_sent_before_anything_came_back() -> None:
    stage = Stage()
    session = await stage.open_session(title="named")

    async def stop() -> None:
        await stage.stop(session)
        await asyncio.Event().wait()

    model = ScriptedModel([stop, STOP], [TextPart("Two."), STOP])
    await answered(stage, model, session, "one")
    assert not stage.payloads(session, ContextOpened)
    await answered(stage, model, session, "two")
    assert [type(turn) for turn in model.requests[1].turns] == [UserTurn, UserTurn, NoteTurn]
    types = [event.payload.type for event in stage.events(session)]
    assert types[-5:-2] == ["context.opened", "context.note", "message.completed"]


async def test_what_was_sent_stays_when_thinking_used_up_an_answer_and_calls_alone_went_on() -> None:
    stage = Stage()
    session = await stage.open_session(title="named")
    call = ToolCallPart(ToolRequest(call_id="x", name="look", arguments={}))
    model = ScriptedModel(
        [ThinkingPart("long", "first"), LENGTH],
        [ThinkingPart("short", "second"), call, CALLS],
        [TextPart("Done."), STOP],
    )
    await answered(stage, model, session, "go")
    sent_before, sent_last = model.requests[1].turns, model.requests[2].turns
    assert sent_last[: len(sent_before)] == sent_before
    (asked,) = [turn for turn in sent_last if isinstance(turn, AssistantTurn)]
    assert [one.signature for one in asked.thinking] == ["second"]


async def test_answers_that_call_a_tool_after_each_continuation_are_continued_three_times_in_all() -> None:
    stage = Stage()
    session = await stage.open_session(title="named")
    call = ToolCallPart(ToolRequest(call_id="x", name="look", arguments={}))
    model = ScriptedModel(*([[STOP], [call, CALLS]] * 6), [TextPart("Done."), STOP])
    await answered(stage, model, session, "go")
    assert len(model.requests) == 7
    assert [notice.code for notice in stage.payloads(session, Notice)] == ["silent"]


async def test_a_call_that_was_cut_and_its_answer_are_read_again_as_they_were_sent() -> None:
    stage = Stage()
    session = await stage.open_session(title="named")
    call = ToolCallPart(ToolRequest(call_id="x", name="look", arguments={}))
    model = ScriptedModel(
        [ThinkingPart("hm", "signed"), TextPart("Half"), LENGTH], [call, CALLS], [TextPart("Done."), STOP]
    )
    await answered(stage, model, session, "go")
    assert [type(turn) for turn in model.requests[1].turns] == [UserTurn, NoteTurn, AssistantTurn, NoteTurn]
    first, second = model.requests[1].turns, model.requests[2].turns
    assert second[: len(first)] == first
    assert [type(turn) for turn in second[len(first) :]] == [AssistantTurn, ToolTurn]
    assert len(stage.payloads(session, MessageCompleted)) == 2
    assert len(stage.payloads(session, ToolCalled)) == len(stage.payloads(session, ToolFinished)) == 1
