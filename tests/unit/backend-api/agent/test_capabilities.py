"""Each capability alone, and what the table makes of them together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from backend_api.agent.capabilities.budget import budget
from backend_api.agent.capabilities.current_date import CURRENT_DATE
from backend_api.agent.capabilities.turn_limit import TURN_LIMIT
from backend_api.agent.capabilities.verification import VERIFICATION
from backend_api.agent.capability import DEFER, Capabilities, Capability, FinalTurn, Setup
from backend_api.agent.conversation import Conversation
from backend_api.agent.ending import Ending
from backend_api.agent.events import (
    ContentReference,
    ContextNote,
    ContextOpened,
    MessageCompleted,
    Notice,
    Usage,
)
from backend_api.agent.model import (
    AssistantTurn,
    FinishPart,
    NoteTurn,
    TextPart,
    Thinking,
    ToolCallPart,
    ToolRequest,
    ToolTurn,
    UserTurn,
)
from backend_api.agent.options import Options
from backend_api.agent.tool import Done, ToolCall, ToolSpec
from backend_api.runs.capabilities import capabilities
from support.scripted import HandlerBox, OnOutput, ScriptedModel
from support.stage import Stage, worker_for, working

THINK = ToolSpec(name="think", description="", parameters={}, phrase="", effect="reads")


def setup(*tools: ToolSpec, at: datetime | None = None, max_turns: int | None = None) -> Setup:
    now = at or datetime(2026, 1, 1, tzinfo=UTC)
    return Setup(tools=tools, now=lambda: now, options=Options(max_turns=max_turns))


def conversation(turn: int = 1, **usage: Any) -> Conversation:
    return Conversation(turns=[], seen_seq=1, next_turn=turn, is_answered=False, usage=Usage(**usage))


async def test_a_budget_counts_what_was_new_to_the_conversation() -> None:
    limit = budget(max_tokens=100)
    assert await limit.brake(setup(), conversation(2, input=1_000, output=500, new=99)) is None
    over = await limit.brake(setup(), conversation(2, new=100))
    assert isinstance(over, Ending)
    assert (over.status, over.code) == ("failed", "token_budget")
    assert "MAX_TOKEN_BUDGET" in (over.reason or "")


async def test_a_budget_of_money_counts_what_is_known_of_it() -> None:
    limit = budget(max_tokens=100, max_cost=0.5)
    assert await limit.brake(setup(), conversation(2, known_cost=0.49)) is None
    over = await limit.brake(setup(), conversation(2, known_cost=0.5))
    assert isinstance(over, Ending)
    assert (over.code, over.reason) == (
        "cost_budget",
        "The run cost 0.50 of 0.50 US dollars (MAX_RUN_COST). Send a message to go on.",
    )


async def test_a_budget_of_time_counts_until_now() -> None:
    limit, begun = budget(max_tokens=100, max_minutes=10), datetime(2026, 1, 1, tzinfo=UTC)
    worked = replace(conversation(2), worked=timedelta(minutes=8), last_at=begun)
    assert await limit.brake(setup(at=begun + timedelta(seconds=119)), worked) is None
    over = await limit.brake(setup(at=begun + timedelta(minutes=2)), worked)
    assert isinstance(over, Ending)
    assert over.code == "time_budget"
    assert "MAX_RUN_MINUTES" in (over.reason or "")


async def test_the_last_three_turns_are_announced_and_then_it_concludes() -> None:
    def told(turn: int, others: int = 0, **changes: Any) -> list[str]:
        known = replace(conversation(turn), turns_of_others=others)
        return [note.text for note in TURN_LIMIT.notes(replace(setup(max_turns=10), **changes), known)]

    assert [len(told(turn)) for turn in (1, 7, 8, 9, 10, 11)] == [0, 0, 1, 1, 1, 0]
    assert told(8)[0].startswith("3 turns are left")
    assert told(10)[0].startswith("This is the last turn")
    assert told(4, others=4) == told(8)
    assert told(7, kind="explore") == told(8), "the last one is the main agent's"
    assert await TURN_LIMIT.brake(setup(max_turns=10), conversation(10)) is None
    conclude = await TURN_LIMIT.brake(setup(max_turns=10), conversation(11))
    assert isinstance(conclude, FinalTurn)
    assert (conclude.ending.status, conclude.ending.reason) == ("completed", "max_turns")
    below = await TURN_LIMIT.brake(replace(setup(max_turns=10), kind="explore"), conversation(10))
    assert isinstance(below, Ending)
    assert await TURN_LIMIT.brake(setup(), conversation(1_000)) is None


LONG = "x" * 40_000
CALLS = (ToolRequest(call_id="c", name="write", arguments={"content": LONG}),)
OPENED = ContextOpened(
    epoch=1,
    cause="started",
    model="m",
    system=ContentReference(digest="d", size=40_000),
    tools=ContentReference(digest="d", size=2),
    vision=True,
)
OPENED_SMALL = replace(OPENED, system=OPENED.tools)


@pytest.mark.parametrize(
    ("tools", "read"),
    [
        ((), {"turns": [UserTurn(text=LONG)]}),
        ((), {"turns": [UserTurn(text="", attachments=(LONG,))]}),
        ((), {"turns": [NoteTurn(text=LONG)]}),
        ((), {"turns": [ToolTurn(call_id="c", name="t", output=LONG, success=True)]}),
        ((), {"turns": [AssistantTurn(text="", calls=CALLS)]}),
        ((), {"turns": [AssistantTurn(text="", thinking=(Thinking(text="hm", signature=LONG),))]}),
        ((), {"turns": [UserTurn(text="\u4f60" * 14_000)]}),
        ((), {"opened": OPENED}),
        ((), {"opened": replace(OPENED, system=OPENED.tools), "pictures": range(7)}),
        ((replace(THINK, description=LONG),), {}),
    ],
)
async def test_an_answer_beside_others_waits_where_all_that_it_reads_could_be_too_much(
    tools: tuple[ToolSpec, ...], read: dict[str, Any]
) -> None:
    alone = replace(conversation(2), **read)
    beside = replace(alone, others_at_work=1)
    tight, wide = (budget(max_tokens=tokens, max_output_tokens=100) for tokens in (20_000, 24_000))
    assert await tight.brake(setup(*tools), alone) is None
    assert await tight.brake(setup(*tools), beside) is DEFER
    assert await wide.brake(setup(*tools), beside) is None
    assert await tight.brake(setup(), replace(conversation(2), others_at_work=1)) is None


async def test_a_budget_of_which_much_is_left_has_nothing_counted() -> None:
    async def count(_: Iterable[str]) -> int:
        raise AssertionError("counted")

    beside = replace(conversation(2), turns=[UserTurn(text=LONG)], others_at_work=1)
    limit = budget(max_tokens=2 * (len(LONG) + 100), max_output_tokens=100)
    assert await limit.brake(replace(setup(), count_tokens=count), replace(beside, opened=OPENED_SMALL)) is None


def test_the_day_is_a_note() -> None:
    (note,) = CURRENT_DATE.notes(setup(at=datetime(2026, 3, 5, 23, 59, tzinfo=UTC)), conversation())
    assert "Thursday, 05 March 2026" in note.text


def test_it_is_told_to_verify_only_where_it_can_think_aloud() -> None:
    assert not VERIFICATION.sections(setup())
    assert "`think`" in "".join(VERIFICATION.sections(setup(THINK)))


def test_the_prompt_is_the_sections_in_the_order_of_the_table_and_the_same_on_any_day() -> None:
    days = [setup(THINK, at=datetime(2026, 3, day, tzinfo=UTC)) for day in (5, 6)]
    first, second = (Capabilities(capabilities(), day).system_prompt() for day in days)
    assert first == second
    sections = [part for one in capabilities() if one.sections is not None for part in one.sections(days[0])]
    places = [first.index(section) for section in sections]
    assert len(places) > 1
    assert places == sorted(set(places))


def ending(reason: str) -> Callable[[Setup, Conversation], Awaitable[Ending]]:
    async def brake(_setup: Setup, _conversation: Conversation) -> Ending:
        return Ending(status="failed", reason=reason)

    return brake


async def test_the_first_that_brakes_or_goes_on_decides_and_every_note_is_told() -> None:
    one, other = (ContextNote(kind="day", text=text) for text in ("one", "other"))
    table = [
        Capability(name="one", notes=lambda _setup, _conversation: [one]),
        Capability(name="other", notes=lambda _setup, _conversation: [other]),
        Capability(name="first", brake=ending("first")),
        Capability(name="second", brake=ending("second")),
    ]
    together = Capabilities(table, setup())
    assert together.notes(conversation(2)) == [one, other]
    bound = await together.brake(conversation(2))
    assert isinstance(bound, Ending)
    assert bound.reason == "first"


async def test_answers_are_continued_three_times_in_a_run_however_many_turns_it_takes() -> None:
    stage, box = Stage(), HandlerBox()
    box.add("look", look)
    cut = [TextPart("x"), FinishPart("length")]
    call = ToolCallPart(ToolRequest(call_id="c", name="look", arguments={}))
    model = ScriptedModel(cut, [call, FinishPart("tool_calls")], cut)
    async with working(worker_for(stage, model, box)):
        session = await stage.open_session(title="named")
        finished = await stage.until_finished(await stage.say(session, "count"))
    assert finished.status == "completed"
    assert [len(said.continuations) for said in stage.payloads(session, MessageCompleted)] == [1, 2]
    assert len(model.requests) == 5
    assert [notice.code for notice in stage.payloads(session, Notice)] == ["length"]


async def look(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
    return Done(success=True, output="seen")


def test_no_two_capabilities_of_the_table_have_one_name() -> None:
    names = [one.name for one in capabilities()]
    assert len(set(names)) == len(names)
