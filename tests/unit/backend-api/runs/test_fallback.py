"""Another model is asked where the chosen one fails before its first word, and is sent nothing it may not read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from backend_api.agent.capabilities.compaction import compaction
from backend_api.agent.capabilities.pictures import PICTURES
from backend_api.agent.capabilities.plan_mode import PLAN_MODE
from backend_api.agent.catalogue import ResolvedModel
from backend_api.agent.events import (
    ContextCompacted,
    ContextOpened,
    LlmRequest,
    Notice,
    RunFinished,
    ToolFinished,
    Usage,
)
from backend_api.agent.model import (
    AssistantTurn,
    FinishPart,
    ModelAuthError,
    ModelContextError,
    ModelError,
    ModelInfo,
    ModelMissingError,
    ModelRateLimitError,
    ModelRequest,
    ModelRequestError,
    ModelStreamCutError,
    ModelUnavailableError,
    TextPart,
    ThinkingPart,
    ToolTurn,
    UsagePart,
)
from backend_api.agent.options import Options
from backend_api.agent.prices import Prices
from backend_api.agent.tool import Done, ToolCall
from backend_api.agent.tools.local import MainAgentTools
from backend_api.agent.tools.plan_mode import plan_mode_tools
from backend_api.kit.ids import SessionId
from backend_api.models.wire.calls import ModelCalls, RetryPolicy
from backend_api.runs.capabilities import COMPACT_THRESHOLD
from support.acting import Acting, Tools, call, hand_on, look_and_tell, looking
from support.photographs import png
from support.scripted import SCRIPTED, HandlerBox, OnOutput, ScriptedModel
from support.stage import Stage, worker_for, working
from support.tables import having

STOP, CALLS = FinishPart("stop"), FinishPart("tool_calls")
USED = UsagePart(Usage(input=1_000, output=1_000))
PRICES = Prices(input=2, cache_read=2, cache_write=2, output=8)
OTHER = ModelInfo(id="other", label="Other", provider="elsewhere", prices=PRICES)
BUSY = ModelUnavailableError("Busy.", may_retry=True)


def ready(model: Any, info: ModelInfo = OTHER) -> ResolvedModel:
    calls = ModelCalls(model, info.provider, RetryPolicy(max_retries=0), prices=info.prices)
    return ResolvedModel(info=info, chat=calls)


def box() -> HandlerBox:
    async def show(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        return Done(success=True, output="Shown.", body=png(), body_media_type="image/png")

    tools = HandlerBox()

    async def print_it(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        return Done(success=True, output="word " * 3_000)

    tools.add("show", show)
    tools.add("print", print_it)
    return tools


async def play(
    stage: Stage, first: Any, second: Any, session: SessionId | None = None, other: ModelInfo = OTHER, **worker: Any
) -> tuple[SessionId, RunFinished]:
    session = session or await stage.open_session(title="named")
    given = {"table": having(PICTURES), **worker}
    async with working(worker_for(stage, first, box(), roles={"fallback": ready(second, other)}, **given)):
        return session, await stage.until_finished(await stage.say(session, "go"))


def signatures(request: ModelRequest) -> list[str | None]:
    turns = [turn for turn in request.turns if isinstance(turn, AssistantTurn)]
    return [thought.signature for turn in turns for thought in turn.thinking]


@pytest.mark.parametrize(
    ("error", "times"),
    [
        (ModelAuthError("No."), 1),
        (ModelRateLimitError("Quota."), 1),
        (ModelMissingError("None such."), 1),
        (ModelStreamCutError("Cut.", may_retry=True), 4),
        (BUSY, 4),
    ],
)
async def test_it_is_asked_where_the_model_fails_after_its_retries(error: ModelError, times: int) -> None:
    stage, first, second = Stage(), ScriptedModel([error]), ScriptedModel([TextPart("Here."), USED, STOP])
    session, end = await play(stage, first, second)
    assert (end.status, stage.said(session), len(first.requests)) == ("completed", "Here.", times)
    (opened,) = stage.payloads(session, ContextOpened)
    (notice,) = stage.payloads(session, Notice)
    assert (opened.model, notice.code, notice.params) == ("other", "model_fallback", {"model": "Other"})
    assert notice.text == f"{error.detail} Other answers instead."
    assert (end.usage.cost, list(end.usage.by_model)) == (0.01, ["other"])


@pytest.mark.parametrize("error", [ModelRequestError("Bad."), ModelContextError("Too long.")])
async def test_it_is_not_asked_what_any_model_would_refuse(error: ModelError) -> None:
    second = ScriptedModel([TextPart("Here."), STOP])
    _, end = await play(Stage(), ScriptedModel([error]), second)
    assert (end.status, end.reason, second.requests) == ("failed", error.detail, [])


@pytest.mark.parametrize("part", [TextPart("So"), ThinkingPart("hm")])
async def test_it_is_not_asked_once_anything_came_shown_or_not(part: Any) -> None:
    second = ScriptedModel([TextPart("Here."), STOP])
    stage = Stage()
    session = await stage.open_session(title="named", enable_thinking=False)
    _, end = await play(stage, ScriptedModel([part, BUSY]), second, session)
    assert (end.status, second.requests) == ("failed", [])


async def test_calls_of_one_that_answers_instead_are_told_as_such_also_in_another_mode() -> None:
    stage = Stage()
    second = ScriptedModel([call("enter_plan_mode"), CALLS], [TextPart("Here."), STOP])
    session = await stage.open_session(title="named", enable_tracing=True)
    first, tools = ScriptedModel([ModelAuthError("No key.")]), MainAgentTools(plan_mode_tools())
    async with working(worker_for(stage, first, tools, roles={"fallback": ready(second)}, table=having(PLAN_MODE))):
        await stage.until_finished(await stage.say(session, "go"))
    assert [one.mode for one in stage.payloads(session, ContextOpened)] == ["normal", "plan"]
    told = [(one.model, one.role) for one in stage.payloads(session, LlmRequest)]
    assert told == [("scripted", "agent"), ("other", "fallback"), ("other", "fallback")]
    assert len(first.requests) == 1


async def test_where_it_fails_too_the_chosen_models_fault_is_told() -> None:
    stage = Stage()
    session, end = await play(stage, ScriptedModel([ModelAuthError("No key.")]), ScriptedModel([BUSY]))
    assert (end.status, end.reason) == ("failed", "No key.")
    assert stage.payloads(session, Notice) == []


async def test_it_stays_for_the_run_and_the_next_one_begins_with_the_chosen_model() -> None:
    stage, show = Stage(), call("show")
    first = ScriptedModel(
        [ThinkingPart("mine", "of first"), USED, show, CALLS], *[[BUSY]] * 4, [TextPart("Back."), STOP]
    )
    second = ScriptedModel([ThinkingPart("ours", "of second"), USED, show, CALLS], [TextPart("Here."), USED, STOP])
    thinking = Options(max_turns=50, enable_thinking=True)
    session, end = await play(stage, first, second, defaults=thinking)
    assert (len(first.requests), len(second.requests), end.status) == (5, 2, "completed")
    # Neither is sent what the other thought.
    assert [signatures(request) for request in second.requests] == [[], ["of second"]]
    assert (end.usage.cost, end.usage.known_cost) == (None, 0.02)

    await play(stage, first, second, session, defaults=thinking)
    assert (stage.said(session)[-5:], len(second.requests), signatures(first.requests[-1])) == ("Back.", 2, [])
    assert [opened.model for opened in stage.payloads(session, ContextOpened)] == ["scripted", "other", "scripted"]


async def test_it_sums_up_by_its_own_window_what_the_chosen_model_can_not() -> None:
    def shows(tokens: int) -> list[Any]:
        return [UsagePart(Usage(input=tokens, output=10)), call("show"), CALLS]

    stage, first = Stage(), ScriptedModel([ModelAuthError("No key.")])
    second = ScriptedModel(shows(300), shows(695), [TextPart("In short."), STOP], [TextPart("Done."), STOP])
    table = having(PICTURES, compaction(threshold=COMPACT_THRESHOLD))
    session, end = await play(stage, first, second, other=replace(OTHER, context_window=1_000), table=table)
    assert (end.status, stage.said(session), len(first.requests)) == ("completed", "Done.", 1)
    assert [one.summary for one in stage.payloads(session, ContextCompacted)] == ["In short."]


async def test_a_long_result_is_cut_to_what_is_left_of_its_window() -> None:
    stage, first = Stage(), ScriptedModel([ModelAuthError("No key.")])
    second = ScriptedModel([UsagePart(Usage(input=300, output=10)), call("print"), CALLS], [TextPart("Done."), STOP])
    session, _ = await play(stage, first, second, other=replace(OTHER, context_window=4_000))
    (result,) = [turn for turn in second.requests[-1].turns if isinstance(turn, ToolTurn)]
    assert "characters left out" in result.output
    assert stage.said(session) == "Done."


@pytest.mark.parametrize("sees", [True, False])
async def test_it_is_sent_pictures_only_if_it_sees(sees: bool) -> None:
    stage = Stage()
    first = ScriptedModel([USED, call("show"), CALLS], [ModelAuthError("No.")])
    second = ScriptedModel([TextPart("Here."), USED, STOP])
    seeing = replace(SCRIPTED, vision=True)
    session, end = await play(stage, first, second, other=replace(OTHER, vision=sees), info=seeing)
    assert (end.status, len(stage.payloads(session, ToolFinished))) == ("completed", 1)
    assert [len(request.pictures) for request in second.requests] == [int(sees)]
    assert [opened.vision for opened in stage.payloads(session, ContextOpened)] == [True, sees]


@pytest.mark.parametrize("fails", [True, False])
async def test_an_agent_below_has_a_model_of_its_own_and_the_fallback_after_it(fails: bool) -> None:
    stage = Stage()
    main = Acting(hand_on("it"), lambda *_: [ModelAuthError("Not its model.")])
    below = Acting(lambda _: [], (lambda *_: [ModelAuthError("No.")]) if fails else look_and_tell)
    last = Acting(lambda _: [], look_and_tell)
    roles = {"subagent": ready(below, replace(OTHER, id="small")), "fallback": ready(last)}
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, main, Tools(looking()), roles=roles)):
        end = await stage.until_finished(await stage.say(session, "go"))
    assert (end.status, len(main.of("it"))) == ("completed", 0)
    assert set(end.usage.by_model) == {"scripted", "other" if fails else "small"}
    assert len(last.requests) == (3 if fails else 0)
    assert [notice.agent_id is not None for notice in stage.payloads(session, Notice)] == [True] * fails
