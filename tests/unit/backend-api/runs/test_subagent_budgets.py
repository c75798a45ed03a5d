"""What an agent of a kind may use for itself: told near its end, and at the end answered with what there is."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from backend_api.agent.capabilities.subagent_budget import SUBAGENT_BUDGET
from backend_api.agent.capability import FinalTurn, Setup
from backend_api.agent.conversation import Conversation, OwnUse
from backend_api.agent.events import ContextNote, Notice, SubagentStarted, ToolCalled, ToolFinished, Usage
from backend_api.agent.model import FinishPart, NoteTurn, TextPart, ToolTurn, UsagePart
from backend_api.agent.subagent_kinds import BUILT_IN, SubagentKind, find_kind
from backend_api.agents.application.kinds_of_users import KindsOfUsers
from support.acting import Acting, DiesAfter, Tools, call, hand_on, looking
from support.memory.store import MemoryStore
from support.memory.subagent_kinds import MemorySubagentKinds
from support.stage import USER, Stage, worker_for, working

STOP, CALLS = FinishPart("stop"), FinishPart("tool_calls")
BAKER = SubagentKind(name="baker", description="bakes", prompt="Bake.")
BEGUN = datetime(2026, 1, 1, tzinfo=UTC)


def looks_on(task: str, number: int) -> list[Any]:
    """It would never end by itself."""
    used = UsagePart(Usage(input=100, output=100))
    return [used, TextPart(f"{task}: so far {number}."), call("look", what=f"{task} {number}"), CALLS]


async def play(kind: SubagentKind, model: Acting, stage: Stage | None = None) -> tuple[Stage, Any]:
    stage = stage or Stage()
    own = MemorySubagentKinds(stage.store)
    await own.put(USER, kind)
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, model, Tools(looking()), kinds=KindsOfUsers(BUILT_IN, own))):
        assert (await stage.until_finished(await stage.say(session, "go"))).status == "completed"
    return stage, session


def answers(stage: Stage, session: Any) -> list[str]:
    return [one.preview for one in stage.payloads(session, ToolFinished) if one.agent_id is None]


def calls_of(stage: Stage, session: Any, agent_id: str) -> int:
    return sum(one.agent_id == agent_id for one in stage.payloads(session, ToolCalled))


async def test_at_the_end_of_its_calls_it_answers_with_what_it_has_and_says_what_ended_it() -> None:
    model = Acting(hand_on("it", kind="baker"), looks_on)
    stage, session = await play(replace(BAKER, max_calls=5), model)
    told, last = model.of("it")[-2:]
    assert [bool(told.tools), bool(last.tools)] == [True, False]
    notes = [turn.text for turn in told.turns if isinstance(turn, NoteTurn)]
    assert "write down now what you found" in notes[-1]
    assert "5 calls of tools" in model.of("it")[0].system
    (answer,) = answers(stage, session)
    assert answer.startswith("it: so far 5.")
    assert "ended by its budget of 5 calls of tools" in answer
    (started,) = stage.payloads(session, SubagentStarted)
    assert calls_of(stage, session, started.subagent_id) == 5
    (notice,) = stage.payloads(session, Notice)
    assert (notice.code, notice.params, notice.agent_id) == ("agent_budget_calls", {"limit": 5}, started.subagent_id)
    assert [one.success for one in stage.payloads(session, ToolFinished)][-1]


async def test_an_answer_with_more_calls_than_are_left_starts_no_more_than_those() -> None:
    def looks_often(task: str, number: int) -> list[Any]:
        return [
            TextPart(f"{task}: so far {number}."),
            *(call("look", what=f"{number} {one}") for one in range(50)),
            CALLS,
        ]

    model = Acting(hand_on("it", kind="baker"), looks_often)
    stage, session = await play(replace(BAKER, max_calls=7), model)
    (started,) = stage.payloads(session, SubagentStarted)
    done = [one for one in stage.payloads(session, ToolFinished) if one.agent_id == started.subagent_id]
    assert [one.success for one in done].count(True) == 7
    assert len(done) == 50
    assert all("budget of 7 calls of tools is used up" in one.preview for one in done if not one.success)
    assert len(model.of("it")) == 2, "it answers next"


async def test_it_is_told_once_that_the_end_is_near() -> None:
    model = Acting(hand_on("it", kind="baker"), looks_on)
    stage, session = await play(replace(BAKER, max_calls=20), model)
    told = [one.text for one in stage.payloads(session, ContextNote) if one.kind == "budget"]
    assert ["Most of your budget" in text for text in told] == [True, False]
    assert len(model.of("it")) == 21


async def test_several_side_by_side_have_each_its_own() -> None:
    model = Acting(hand_on("one", "two", "three", kind="baker"), looks_on)
    stage, session = await play(replace(BAKER, max_calls=4), model)
    started = stage.payloads(session, SubagentStarted)
    assert [calls_of(stage, session, one.subagent_id) for one in started] == [4, 4, 4]


async def test_tokens_are_those_that_were_new_to_the_agent_itself() -> None:
    model = Acting(hand_on("one", "two", kind="baker"), looks_on)
    stage, session = await play(replace(BAKER, max_tokens=1_000), model)
    for answer in answers(stage, session):
        assert "ended by its budget of 1,000 tokens" in answer
    # What it read again counts once, so that only what it wrote, 100 a turn, is new after the first.
    assert len(model.of("one")) == len(model.of("two")) >= 6


async def test_minutes_are_those_that_a_worker_had_the_run_since_the_agent_began() -> None:
    now = BEGUN
    kind = replace(BAKER, max_minutes=10)
    setup = Setup(now=lambda: now, kind="baker", kinds=(kind,))
    conversation = Conversation(turns=[], seen_seq=1, next_turn=2, is_answered=False, last_at=BEGUN)
    conversation = replace(conversation, worked=timedelta(hours=5), own=OwnUse(worked=timedelta(minutes=7)))
    assert SUBAGENT_BUDGET.notes is not None
    assert SUBAGENT_BUDGET.brake is not None
    assert not SUBAGENT_BUDGET.notes(setup, conversation)
    now = BEGUN + timedelta(minutes=1)
    (note,) = SUBAGENT_BUDGET.notes(setup, conversation)
    assert "(10 minutes)" in note.text
    assert await SUBAGENT_BUDGET.brake(setup, conversation) is None
    now = BEGUN + timedelta(minutes=3)
    last = await SUBAGENT_BUDGET.brake(setup, conversation)
    assert isinstance(last, FinalTurn)
    assert "budget of 10 minutes" in (last.ending.reason or "")


@pytest.mark.parametrize("cut_at", [8, 12, 16])
async def test_another_worker_goes_on_with_what_is_left_of_it_though_the_kind_was_changed(cut_at: int) -> None:
    store = MemoryStore()
    ledger = DiesAfter(store, cut_at)
    stage, own = Stage(store, ledger=ledger), MemorySubagentKinds(store)
    await own.put(USER, replace(BAKER, max_calls=6))
    model = Acting(hand_on("it", kind="baker"), looks_on)
    session = await stage.open_session(title="named")
    kinds = KindsOfUsers(BUILT_IN, own)
    async with working(worker_for(stage, model, Tools(looking()), kinds=kinds)):
        run = await stage.say(session, "go")
        await asyncio.wait_for(ledger.has_died.wait(), 10)
        await own.put(USER, BAKER)
        stage.lapse(run)
        async with working(worker_for(stage, model, Tools(looking()), kinds=kinds, name="worker_2")):
            assert (await stage.until_finished(run)).status == "completed"
    (started,) = stage.payloads(session, SubagentStarted)
    assert calls_of(stage, session, started.subagent_id) == 6
    assert "ended by its budget" in answers(stage, session)[-1]


async def test_one_that_says_nothing_at_its_end_is_told_as_that_and_why() -> None:
    def silent(task: str, number: int) -> list[Any]:
        return looks_on(task, number) if number < 2 else [STOP]

    model = Acting(hand_on("it", kind="baker"), silent)
    stage, session = await play(replace(BAKER, max_calls=2), model)
    (answer,) = answers(stage, session)
    assert "ended without an answer" in answer
    assert "ended by its budget" in answer


async def test_a_research_agent_has_one_and_the_main_agent_has_none() -> None:
    research = find_kind(BUILT_IN, "research")
    assert research is not None
    assert None not in (research.max_calls, research.max_tokens, research.max_minutes)
    model = Acting(hand_on("it", kind="research"), lambda _task, _number: [TextPart("Found."), STOP])
    await play(BAKER, model)
    assert "Your budget" in model.of("it")[0].system
    assert "Your budget" not in model.of(None)[0].system
    (result,) = [turn.output for turn in model.of(None)[-1].turns if isinstance(turn, ToolTurn)]
    assert result == "Found."
