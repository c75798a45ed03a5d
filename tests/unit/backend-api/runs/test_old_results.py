"""Old results of tools are sent as one line each, in steps between which what is sent is only added to."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from backend_api.agent.capabilities.old_results import KEPT
from backend_api.agent.conversation import MARKER
from backend_api.agent.events import ContextCompacted, ContextOpened, ToolFinished
from backend_api.agent.model import (
    FinishPart,
    ModelRequest,
    TextPart,
    ToolCallPart,
    ToolRequest,
    ToolTurn,
)
from backend_api.agent.tool import Done, ToolCall
from backend_api.kit.ids import SessionId
from support.scripted import HandlerBox, OnOutput, Script, ScriptedModel
from support.stage import Stage, worker_for, working

STOP, CALLS = FinishPart("stop"), FinishPart("tool_calls")
MIN_TOKENS = 1_000
LOOKED = MARKER.format(tool="look")


def looking(*sizes: int) -> Script:
    """One turn that calls the tool once for a result of each of these sizes, in characters."""
    calls = [ToolCallPart(ToolRequest(call_id="c", name="look", arguments={"size": size})) for size in sizes]
    return [TextPart("I look."), *calls, CALLS]


def tools() -> HandlerBox:
    made, number = HandlerBox(), 0

    async def look(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        nonlocal number
        number += 1
        return Done(success=True, output=f"{number}:".ljust(int(arguments["size"]), "x"))

    made.add("look", look, read_only=True)
    return made


async def told(model: ScriptedModel, *, workers: int = 1) -> tuple[Stage, SessionId]:
    """A conversation of one message to each of so many workers, the later ones knowing only the log."""
    stage = Stage()
    session = await stage.open_session(title="named")
    box = tools()
    for number in range(workers):
        worker = worker_for(stage, model, box, name=f"w{number}", micro_compact_min_tokens=MIN_TOKENS, max_turns=200)
        async with working(worker):
            await stage.until_finished(await stage.say(session, "go"))
    return stage, session


def outputs_from(request: ModelRequest, begin: int) -> list[str]:
    return [turn.output for turn in request.turns[begin:] if isinstance(turn, ToolTurn)]


def outputs(request: ModelRequest) -> list[str]:
    return outputs_from(request, 0)


async def test_results_are_replaced_once_that_frees_enough_and_the_log_keeps_them() -> None:
    model = ScriptedModel(*[looking(1_600)] * 8, [TextPart("Done."), STOP])
    stage, session = await told(model)
    replaced = [outputs(request).count(LOOKED) for request in model.requests]
    # 400 tokens each: the first three that are not the last three are 1,200.
    assert replaced == [0, 0, 0, 0, 0, 0, 3, 3, 3]
    opened = stage.payloads(session, ContextOpened)
    assert [(one.cause, one.replaced) for one in opened] == [("started", 0), ("history", 3)]
    events = stage.events(session)
    results = [one.seq for one in events if isinstance(one.payload, ToolFinished)]
    (compacted,) = stage.payloads(session, ContextCompacted)
    assert (compacted.kind, compacted.through_seq, compacted.summary) == ("micro", results[2], "")
    assert compacted.before - compacted.after == 3 * 400
    whole = [one.payload.preview for one in events if isinstance(one.payload, ToolFinished)]
    assert [text[:2] for text in whole] == [f"{number}:" for number in range(1, 9)]
    stays = [outputs_from(request, request.lasting)[0][:2] for request in model.requests[1:]]
    assert stays == ["1:"] * 5 + ["4:"] * 3, "the next step changes nothing of what stands before it"


async def test_a_result_is_replaced_that_has_over_100_characters() -> None:
    model = ScriptedModel(looking(100, 101, 6_000), looking(*[2_000] * 3), [TextPart("Done."), STOP])
    await told(model)
    assert [output == LOOKED for output in outputs(model.requests[-1])] == [False, True, True, False, False, False]


async def test_short_results_and_those_not_yet_seen_stay() -> None:
    model = ScriptedModel(looking(50, 6_000, 6_000), looking(*[2_000] * 5), [TextPart("Done."), STOP])
    await told(model)
    last = outputs(model.requests[-1])
    assert last[0].startswith("1:"), "shorter than its marker is worth"
    assert last[1:3] == [LOOKED, LOOKED]
    assert [len(output) for output in last[3:]] == [2_000] * 5, "nobody has read these"


async def test_a_new_opening_for_another_reason_replaces_what_it_can() -> None:
    stage, model = Stage(), ScriptedModel(*[looking(400)] * 5, [TextPart("Done."), STOP])
    session = await stage.open_session(title="named")
    box = tools()
    for more in ("", "dance"):
        if more:
            box.add(more, box_handler)
        async with working(worker_for(stage, model, box, micro_compact_min_tokens=MIN_TOKENS)):
            await stage.until_finished(await stage.say(session, "go"))
    assert [(one.cause, one.replaced) for one in stage.payloads(session, ContextOpened)] == [
        ("started", 0),
        ("tools", 5 - KEPT),
    ]


async def box_handler(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
    return Done(success=True, output="danced")


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.sampled_from([20, 99, 101, 700, 4_000]), min_size=1, max_size=5), min_size=1, max_size=14))
def test_between_openings_what_is_sent_is_only_added_to_and_a_marker_stays_one(turns: list[list[int]]) -> None:
    asyncio.run(check(turns))


async def check(turns: list[list[int]]) -> None:
    model = ScriptedModel(*(looking(*sizes) for sizes in turns), [TextPart("Done."), STOP])
    stage, session = await told(model, workers=2)
    openings = len(stage.payloads(session, ContextOpened))
    steps = 0
    for before, after in zip(model.requests, model.requests[1:], strict=False):
        if list(after.turns[: len(before.turns)]) != list(before.turns):
            steps += 1
        kept = zip(outputs(before), outputs(after), strict=False)
        assert all(now == LOOKED for was, now in kept if was == LOOKED)
        assert LOOKED not in outputs(after)[-KEPT:]
        assert list(after.turns[: before.lasting]) == list(before.turns[: before.lasting])
    assert steps <= openings - 1
