"""A call that was cut is paid for, too: what the run cost is unknown then, and at least what is known."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from backend_api.agent.capabilities.continuation import CONTINUATION
from backend_api.agent.events import RunFinished, Usage
from backend_api.agent.model import (
    FinishPart,
    ModelAuthError,
    ModelInfo,
    ModelStreamCutError,
    TextPart,
    UsagePart,
)
from backend_api.agent.prices import Prices
from support.acting import call, looking
from support.scripted import SCRIPTED, ScriptedModel
from support.stage import Stage, worker_for, working
from support.tables import having

STOP, CALLS, LENGTH = FinishPart("stop"), FinishPart("tool_calls"), FinishPart("length")
USED = UsagePart(Usage(input=1_000, output=1_000))
LOOK = [USED, call("look", what="it"), CALLS]
DONE = [USED, TextPart("Done."), STOP]
PRICED = replace(SCRIPTED, prices=Prices(input=100, cache_read=100, cache_write=100, output=150))
"""A quarter of a dollar a call."""


FREE = replace(SCRIPTED, prices=Prices(input=0, cache_read=0, cache_write=0, output=0))


async def play(*scripts: list[Any], does: str = "", info: ModelInfo = PRICED) -> RunFinished:
    """A run whose last script is cut by what a person `does`."""
    stage, is_asked = Stage(), asyncio.Event()

    async def hold() -> None:
        is_asked.set()
        await asyncio.Event().wait()

    last = [*scripts[-1], hold] if does else scripts[-1]
    model = ScriptedModel(*scripts[:-1], last, DONE)
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, model, looking(), info=info, table=having(CONTINUATION))):
        run = await stage.say(session, "go")
        if does:
            await asyncio.wait_for(is_asked.wait(), 30)
            await (stage.stop(session) if does == "stop" else stage.say(session, "no, this", interrupt=True))
        return await stage.until_finished(run)


async def test_calls_that_ended_are_summed() -> None:
    end = await play(LOOK, DONE)
    assert (end.usage.cost, end.usage.known_cost, end.usage.input) == (0.5, 0.5, 2_000)


@pytest.mark.parametrize(
    ("does", "tokens", "known"), [("stop", 2_000, 0.25), ("message", 3_000, 0.5)], ids=["stop", "message"]
)
async def test_one_that_a_person_cut_is_not_left_out(does: str, tokens: int, known: float) -> None:
    end = await play(LOOK, [USED, TextPart("Well")], does=does)
    assert (end.usage.cost, end.usage.known_cost, end.usage.input) == (None, known, tokens)


async def test_one_that_is_cut_before_its_provider_told_anything_is_not_left_out() -> None:
    end = await play(LOOK, [], does="stop")
    assert (end.usage.cost, end.usage.known_cost, end.usage.input) == (None, 0.25, 1_000)


async def test_one_that_broke_in_the_middle_is_not_left_out_nor_what_it_went_on_from() -> None:
    end = await play([USED, TextPart("So"), LENGTH], [TextPart("and"), ModelStreamCutError("Cut.")])
    assert (end.status, end.usage.cost, end.usage.known_cost, end.usage.input) == ("failed", None, 0.25, 1_000)


async def test_one_that_was_refused_costs_nothing() -> None:
    end = await play(LOOK, [ModelAuthError("No.")])
    assert (end.status, end.usage.cost) == ("failed", 0.25)


@pytest.mark.parametrize("does", ["stop", "message"])
async def test_one_of_a_free_model_costs_nothing_also_where_it_was_cut(does: str) -> None:
    end = await play(LOOK, [USED, TextPart("Well")], does=does, info=FREE)
    assert (end.usage.cost, end.usage.known_cost) == (0, 0)
