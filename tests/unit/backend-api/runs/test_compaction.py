"""A conversation that fills its model's window goes on from a summary of itself, and nothing is lost by that."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from backend_api.agent.capabilities.current_date import CURRENT_DATE
from backend_api.agent.capability import Setup
from backend_api.agent.catalogue import ResolvedModel
from backend_api.agent.events import ContextCompacted, ContextOpened, Notice, ToolFinished, Usage, UsageUpdated
from backend_api.agent.model import (
    AssistantTurn,
    FinishPart,
    ModelAuthError,
    ModelContextError,
    ModelError,
    ModelInfo,
    ModelRequest,
    ModelRequestError,
    ModelUnavailableError,
    NoteTurn,
    TextPart,
    ToolCallPart,
    ToolRequest,
    ToolTurn,
    UsagePart,
    UserTurn,
)
from backend_api.agent.thread import Thread
from backend_api.agent.tool import Done, Tool, ToolCall
from backend_api.agent.tools.compact import COMPACT
from backend_api.agent.tools.local import MainAgentTools
from backend_api.agent.tools.plan_mode import plan_mode_tools
from backend_api.agent.tools.plan_update import PLAN_UPDATE
from backend_api.kit.ids import SessionId, UserId
from support.scripted import SCRIPTED, HandlerBox, OnOutput, Script, ScriptedModel
from support.stage import Stage, worker_for, working
from support.tables import having

STOP, CALLS = FinishPart("stop"), FinishPart("tool_calls")
SMALL = replace(SCRIPTED, context_window=1_000)


def used(tokens: int) -> UsagePart:
    return UsagePart(Usage(input=tokens, output=10))


def look(tokens: int, what: str = "it") -> Script:
    return [used(tokens), ToolCallPart(ToolRequest(call_id="c", name="look", arguments={"what": what})), CALLS]


SUMMARY: Script = [used(720), TextPart("They want it looked at; done twice."), STOP]
DONE: Script = [used(300), TextPart("Done."), STOP]


def tools() -> HandlerBox:
    box, number = HandlerBox(), 0

    async def run(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        nonlocal number
        number += 1
        return Done(success=True, output=f"seen {number}")

    box.add("look", run)
    return box


def is_summary(request: ModelRequest) -> bool:
    last = request.turns[-1]
    return isinstance(last, NoteTurn) and "Write that summary now" in last.text


async def told(model: ScriptedModel, *messages: str, info: ModelInfo = SMALL, **worker: Any) -> tuple[Stage, SessionId]:
    stage = Stage()
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, model, tools(), info=info, **{"table": having(CURRENT_DATE), **worker})):
        for message in messages:
            await stage.until_finished(await stage.say(session, message))
    return stage, session


async def test_above_the_threshold_it_goes_on_from_a_summary_with_its_last_step_whole() -> None:
    model = ScriptedModel(look(300), look(690, "that"), SUMMARY, DONE)
    stage, session = await told(model, "look at it")
    assert [is_summary(request) for request in model.requests] == [False, False, True, False]
    before, asked, after = model.requests[1:]
    assert list(asked.turns[: len(before.turns)]) == list(before.turns), "so that what was cached of it counts"
    assert (asked.system, asked.tools) == (before.system, before.tools)
    summary, said, step, result, day = after.turns
    assert isinstance(summary, NoteTurn)
    assert isinstance(day, NoteTurn)
    assert day.text.startswith("Today is "), "what it was told of it is gone with what was summed up"
    assert "They want it looked at" in summary.text
    assert said == UserTurn(text="look at it")
    assert isinstance(step, AssistantTurn)
    assert [call.arguments for call in step.calls] == [{"what": "that"}]
    assert isinstance(result, ToolTurn)
    assert result.output == "seen 2"
    (compacted,) = stage.payloads(session, ContextCompacted)
    assert (compacted.kind, compacted.before >= 700, compacted.after < compacted.before) == ("auto", True, True)
    assert [one.cause for one in stage.payloads(session, ContextOpened)] == ["started", "history"]
    assert len(stage.payloads(session, ToolFinished)) == 2, "the log keeps all of it"


async def test_the_whole_history_is_written_before_the_summary_is_asked_for() -> None:
    stage, done = Stage(), list[str]()

    async def write(session_id: SessionId, user_id: UserId) -> str:
        done.append("written")
        return ".transcripts/it.jsonl"

    async def asked() -> None:
        done.append("asked")

    worker = worker_for(stage, ScriptedModel(look(300), look(690), [asked, *SUMMARY], DONE), tools(), info=SMALL)
    worker.services = replace(worker.services, write_transcript=write)
    session = await stage.open_session(title="named")
    async with working(worker):
        await stage.until_finished(await stage.say(session, "look"))
    assert done == ["written", "asked"]
    (compacted,) = stage.payloads(session, ContextCompacted)
    assert compacted.transcript == ".transcripts/it.jsonl"


async def test_a_provider_that_counts_fewer_tokens_than_we_do_leaves_none_of_them_uncounted() -> None:
    few: Script = [UsagePart(Usage(input=3, output=2)), TextPart("Seen. " * 200), STOP]
    stage = Stage()
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, ScriptedModel(few, few, SUMMARY), tools(), info=SMALL)):
        for message in ("look", "look again"):
            await stage.until_finished(await stage.say(session, message))
        await stage.until_finished(await stage.compact(session, None))
    (compacted,) = stage.payloads(session, ContextCompacted)
    assert 0 < compacted.after < compacted.before


async def test_what_it_cost_is_counted_and_nothing_of_it_is_new() -> None:
    stage, session = await told(ScriptedModel(look(300), look(690), SUMMARY, DONE), "look")
    usage = stage.payloads(session, UsageUpdated)[-1].usage
    assert usage.input == 300 + 690 + 720 + 300
    assert usage.new == 310 + (690 - 310 + 10) + 310


async def test_another_worker_reads_the_same() -> None:
    model = ScriptedModel(look(300), look(690), SUMMARY, DONE, [used(320), TextPart("Again."), STOP])
    stage, session = await told(model, "look", "and on")
    fresh = Thread()
    row = stage.store.sessions[session]
    for event in row.events:
        fresh.apply(event, row.outputs.get(event.seq or 0))
    turns = fresh.conversation("none").turns
    last = model.requests[-1].turns
    assert turns[: len(last)] == list(last)


@pytest.mark.parametrize(
    "failing",
    [
        [used(720), STOP],
        [used(720), ToolCallPart(ToolRequest(call_id="c", name="look", arguments={})), CALLS],
        [used(720), TextPart("I look."), ToolCallPart(ToolRequest(call_id="c", name="look", arguments={})), STOP],
        [used(720), TextPart("Half"), FinishPart("length")],
        [ModelUnavailableError("Down.")],
    ],
)
async def test_a_summary_that_fails_changes_nothing_and_is_not_tried_again_in_the_run(failing: Script) -> None:
    model = ScriptedModel(look(300), look(690), failing, look(695), DONE)
    stage, session = await told(model, "look")
    assert [is_summary(request) for request in model.requests] == [False, False, True, False, False]
    assert not stage.payloads(session, ContextCompacted)
    assert [notice.code for notice in stage.payloads(session, Notice)] == ["compaction_failed"]
    assert list(model.requests[3].turns[: len(model.requests[1].turns)]) == list(model.requests[1].turns)
    assert stage.said(session) == "Done."


async def test_what_a_provider_finds_too_long_is_summed_up_once_and_goes_on() -> None:
    too_long = ModelContextError("Too long.")
    model = ScriptedModel(look(300), [too_long], SUMMARY, DONE)
    stage, session = await told(model, "look")
    assert stage.said(session) == "Done."
    model = ScriptedModel(look(300), [too_long], SUMMARY, [too_long], DONE)
    stage, session = await told(model, "look")
    assert len(model.requests) == 4
    (compacted,) = stage.payloads(session, ContextCompacted)
    assert compacted.before > 0 < compacted.after


async def test_where_even_the_summary_is_too_long_long_texts_are_cut_for_it() -> None:
    too_long = ModelContextError("Too long.")
    model = ScriptedModel([too_long], [too_long], SUMMARY, DONE)
    stage, session = await told(model, "words " * 2_000, info=replace(SMALL, context_window=200_000))
    assert stage.said(session) == "Done."
    first, second = model.requests[1:3]
    assert len(str(first.turns)) > 12_000 > len(str(second.turns))


async def test_the_model_of_that_role_is_asked_and_its_cost_is_its_own() -> None:
    other = ScriptedModel(SUMMARY)
    info = ModelInfo(id="brief", label="Brief", provider="test")
    model = ScriptedModel(look(300), look(690), DONE)
    stage, session = await told(model, "look", roles={"compact": ResolvedModel(info=info, chat=other)})
    assert (len(other.requests), len(model.requests)) == (1, 3)
    assert other.requests[0].model == "brief"
    assert set(stage.payloads(session, UsageUpdated)[-1].usage.by_model) == {"brief", "scripted"}


@pytest.mark.parametrize(
    "fault", [ModelAuthError("No key."), ModelUnavailableError("Down."), ModelContextError("Long.")]
)
async def test_where_the_model_of_that_role_fails_the_agents_own_is_asked_once_and_that_is_told(
    fault: ModelError,
) -> None:
    failing = ScriptedModel(*[[fault]] * (2 if isinstance(fault, ModelContextError) else 1))
    other = ResolvedModel(info=ModelInfo(id="brief", label="Brief", provider="test"), chat=failing)
    model = ScriptedModel(look(300), look(690), SUMMARY, DONE)
    stage, session = await told(model, "look", roles={"compact": other})
    assert [is_summary(request) for request in model.requests] == [False, False, True, False]
    assert [one.summary for one in stage.payloads(session, ContextCompacted)] == ["They want it looked at; done twice."]
    (notice,) = stage.payloads(session, Notice)
    assert (notice.code, notice.params) == ("summary_fallback", {"model": "Scripted"})
    assert notice.text == f"{fault.detail} Scripted sums up the conversation instead."
    assert set(stage.payloads(session, UsageUpdated)[-1].usage.by_model) == {"scripted"}, "nothing was used of it"


@pytest.mark.parametrize(
    "fails",
    [[ModelRequestError("Bad.")], [used(720), STOP], [used(720), TextPart("Half"), FinishPart("length")]],
)
async def test_where_what_it_is_sent_or_says_is_why_the_agents_own_is_not_asked(fails: Script) -> None:
    other = ResolvedModel(info=ModelInfo(id="brief", label="Brief", provider="test"), chat=ScriptedModel(fails))
    model = ScriptedModel(look(300), look(690), DONE)
    stage, session = await told(model, "look", roles={"compact": other})
    assert not any(is_summary(request) for request in model.requests)
    assert [notice.code for notice in stage.payloads(session, Notice)] == ["compaction_failed"]


async def test_where_both_fail_that_of_the_role_is_told() -> None:
    down = ScriptedModel([ModelAuthError("No key.")])
    other = ResolvedModel(info=ModelInfo(id="brief", label="Brief", provider="test"), chat=down)
    model = ScriptedModel(look(300), look(690), [ModelUnavailableError("Down.")], DONE)
    stage, session = await told(model, "look", roles={"compact": other})
    assert [is_summary(request) for request in model.requests] == [False, False, True, False]
    (notice,) = stage.payloads(session, Notice)
    assert notice.text == "The conversation could not be summed up: No key."


async def test_a_stop_in_the_middle_changes_nothing() -> None:
    stage = Stage()

    async def stop() -> None:
        await stage.stop(session)
        await asyncio.Event().wait()

    session = await stage.open_session(title="named")
    model = ScriptedModel(look(300), look(690), [used(720), stop], DONE)
    async with working(worker_for(stage, model, tools(), info=SMALL)):
        end = await stage.until_finished(await stage.say(session, "look"))
    assert end.status == "stopped"
    assert end.usage.input == 300 + 690 + 720, "what it cost by then is paid for"
    assert not stage.payloads(session, ContextCompacted)


async def test_a_person_asks_for_it_between_two_messages_with_a_focus() -> None:
    stage, model = Stage(), ScriptedModel(look(300), DONE, SUMMARY, [used(100), TextPart("Yes."), STOP])
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, model, tools(), info=SMALL)):
        await stage.until_finished(await stage.say(session, "look at it"))
        end = await stage.until_finished(await stage.compact(session, "the colours"))
        assert (end.status, len(model.requests)) == ("completed", 3), "the model is not asked to go on"
        await stage.until_finished(await stage.say(session, "and?"))
    assert "the colours" in str(model.requests[2].turns[-1])
    (compacted,) = stage.payloads(session, ContextCompacted)
    assert (compacted.kind, compacted.focus) == ("manual", "the colours")
    summary, said, asked, *_ = model.requests[3].turns
    assert isinstance(summary, NoteTurn)
    assert (said, asked) == (UserTurn(text="look at it"), UserTurn(text="and?"))
    assert stage.said(session) == "Done.Yes."


@pytest.mark.parametrize("summing_up", [SUMMARY, [ModelUnavailableError("Down.")]], ids=["a summary", "none"])
async def test_what_is_said_meanwhile_is_worked_on_to_its_end(summing_up: Script) -> None:
    stage, session = Stage(), SessionId("")

    async def say() -> None:
        assert await stage.say(session, "look at it") == run

    model = ScriptedModel(DONE, [say, *summing_up], look(100), look(110, "that"), [TextPart("Seen."), STOP])
    async with working(worker_for(stage, model, tools(), info=SMALL)):
        session = await stage.open_session(title="named")
        await stage.until_finished(await stage.say(session, "hi"))
        run = await stage.compact(session, None)
        end = await stage.until_finished(run)
    assert end.status == "completed"
    assert stage.said(session) == "Done.Seen."
    assert [is_summary(request) for request in model.requests] == [False, True, False, False, False]
    assert isinstance(model.requests[-1].turns[-1], ToolTurn), "the results of its calls are read"


async def test_one_that_fails_between_two_messages_ends_its_run_and_says_so() -> None:
    stage, model = Stage(), ScriptedModel(DONE, [ModelUnavailableError("Down.")], DONE)
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, model, tools(), info=SMALL)):
        await stage.until_finished(await stage.say(session, "hi"))
        end = await stage.until_finished(await stage.compact(session, None))
        assert end.status == "completed"
        await stage.until_finished(await stage.say(session, "still there?"))
    assert [notice.code for notice in stage.payloads(session, Notice)] == ["compaction_failed"]
    assert [is_summary(request) for request in model.requests] == [False, True, False]


async def test_asked_for_while_it_works_it_comes_before_the_next_answer() -> None:
    stage = Stage()

    async def ask() -> None:
        assert await stage.compact(session, None) == run

    session = await stage.open_session(title="named")
    model = ScriptedModel([ask, *look(100)], SUMMARY, DONE)
    async with working(worker_for(stage, model, tools(), info=SMALL)):
        run = await stage.say(session, "look")
        end = await stage.until_finished(run)
    assert end.status == "completed"
    assert [is_summary(request) for request in model.requests] == [False, True, False]
    assert stage.said(session) == "Done."


async def test_what_is_asked_for_while_one_is_written_comes_next_with_its_own_focus() -> None:
    stage, box = Stage(), tools()
    session = SessionId("")

    async def want(*focuses: str | None) -> None:
        for focus in focuses:
            await stage.compact(session, focus)

    first = [lambda: want("the colours"), *SUMMARY]
    second = [lambda: want(None, "names", "numbers", "names"), *SUMMARY]
    model = ScriptedModel([lambda: want("the files"), *look(100)], first, second, SUMMARY, DONE)
    async with working(worker_for(stage, model, box, info=SMALL)):
        session = await stage.open_session(title="named")
        await stage.until_finished(await stage.say(session, "look"))
    focuses = [turn.text.rpartition("\n6. ")[2] for turn in asked_for_summaries(model)]
    assert ["the files" in focuses[0], "the colours" in focuses[1], "names\nnumbers" in focuses[2]] == [True] * 3
    told = [(one.kind, one.focus) for one in stage.payloads(session, ContextCompacted)]
    assert told == [("manual", "the files"), ("manual", "the colours"), ("manual", "names\nnumbers")]
    assert stage.said(session) == "Done."


async def test_what_is_asked_for_while_the_conversation_fills_up_comes_after_that_summary() -> None:
    stage, box = Stage(), tools()
    session = SessionId("")
    during = [lambda: stage.compact(session, "the colours"), *SUMMARY]
    model = ScriptedModel(look(720), during, SUMMARY, DONE)
    async with working(worker_for(stage, model, box, info=SMALL)):
        session = await stage.open_session(title="named")
        await stage.until_finished(await stage.say(session, "look"))
    told = [(one.kind, one.focus) for one in stage.payloads(session, ContextCompacted)]
    assert told == [("auto", None), ("manual", "the colours")]


def asked_for_summaries(model: ScriptedModel) -> list[NoteTurn]:
    lasts = [request.turns[-1] for request in model.requests if is_summary(request)]
    return [last for last in lasts if isinstance(last, NoteTurn)]


async def test_the_agent_asks_for_it_itself() -> None:
    stage, model = (
        Stage(),
        ScriptedModel(
            [used(100), ToolCallPart(ToolRequest(call_id="c", name="compact", arguments={"focus": "files"})), CALLS],
            SUMMARY,
            DONE,
        ),
    )
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, model, MainAgentTools([COMPACT]), info=SMALL)):
        await stage.until_finished(await stage.say(session, "sum up"))
    assert [is_summary(request) for request in model.requests] == [False, True, False]
    assert "files" in str(model.requests[1].turns[-1])


async def test_a_worker_that_takes_over_in_the_middle_asks_anew_and_it_happens_once() -> None:
    stage, hangs = Stage(), asyncio.Event()

    async def hang() -> None:
        hangs.set()
        await asyncio.Event().wait()

    session = await stage.open_session(title="named")
    model = ScriptedModel(look(300), look(690), [hang], SUMMARY, DONE)
    async with working(worker_for(stage, model, tools(), info=SMALL, name="first")):
        run = await stage.say(session, "look")
        await hangs.wait()
    async with working(worker_for(stage, model, tools(), info=SMALL, name="second")):
        end = await stage.until_finished(run)
    assert end.status == "completed"
    assert len(stage.payloads(session, ContextCompacted)) == 1
    assert len(stage.payloads(session, ToolFinished)) == 2


class PlanBox(HandlerBox):
    """One that looks, one that tells of steps, and those of plan mode."""

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        own = MainAgentTools([*plan_mode_tools(), PLAN_UPDATE])
        return [*await tools().tools(setup), *await own.tools(setup)]


STEPS = [
    {"title": "Dig", "status": "done", "result": "two metres"},
    {"title": "Plant", "status": "in_progress", "result": ""},
]


async def test_its_steps_stand_in_the_summary_as_they_were_told_whatever_the_model_says_of_them() -> None:
    told_steps = ToolCallPart(ToolRequest(call_id="c", name="plan_update", arguments={"steps": STEPS}))
    model = ScriptedModel([used(300), told_steps, CALLS], look(690), SUMMARY, DONE)
    stage = Stage()
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, model, PlanBox(), info=SMALL)):
        await stage.until_finished(await stage.say(session, "plant a tree"))
    summary = model.requests[3].turns[0]
    assert isinstance(summary, NoteTurn)
    assert "- [done] Dig: two metres\n- [in_progress] Plant" in summary.text
    (compacted,) = stage.payloads(session, ContextCompacted)
    assert "Plant" in compacted.summary, "so that every worker reads the same"


async def test_plan_mode_lasts_beyond_a_summary() -> None:
    model = ScriptedModel(look(300), look(690), SUMMARY, DONE)
    stage = Stage()
    session = await stage.open_session(title="named", enable_plan_mode=True)
    async with working(worker_for(stage, model, PlanBox(), info=SMALL)):
        await stage.until_finished(await stage.say(session, "plant a tree"))
    before, after = model.requests[0], model.requests[-1]
    assert "Plan mode" in after.system
    assert (after.system, after.tools) == (before.system, before.tools)
    assert "look" not in [tool.name for tool in after.tools]
    assert {opened.mode for opened in stage.payloads(session, ContextOpened)} == {"plan"}
