"""How long a thought took, and what is kept of one that was cut."""

from __future__ import annotations

import asyncio
import time

from backend_api.agent.events import MessageCompleted, ThinkingCompleted
from backend_api.agent.model import FinishPart, ModelUnavailableError, TextPart, ThinkingPart, ThoughtSoFarPart
from support.scripted import ScriptedModel
from support.stage import Stage, worker_for, working

_PAUSE_S = 0.05


async def test_a_thought_lasts_from_its_first_piece_to_its_end() -> None:
    times: list[float] = []

    async def look() -> None:
        times.append(time.perf_counter())

    async def pause() -> None:
        await asyncio.sleep(_PAUSE_S)

    signed = [look, ThinkingPart("hm"), pause, ThinkingPart("m", signature="s"), look, pause, TextPart("So.")]
    unsigned = [look, ThinkingPart("and"), pause, TextPart("then."), look, pause, FinishPart("stop")]
    stage, model = Stage(), ScriptedModel([*signed, *unsigned])
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, model)):
        await stage.until_finished(await stage.say(session, "go"))
    first, second = stage.payloads(session, ThinkingCompleted)
    for thought, (begun, over) in ((first, times[:2]), (second, times[2:])):
        assert thought.duration_ms is not None
        assert _PAUSE_S * 1000 <= thought.duration_ms + 1 <= (over - begun) * 1000 + 2


async def test_one_that_was_cut_has_no_duration() -> None:
    stage = Stage()
    model = ScriptedModel([ThinkingPart("hm"), ModelUnavailableError("gone")])
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, model)):
        await stage.until_finished(await stage.say(session, "go"))
    (thought,) = stage.payloads(session, ThinkingCompleted)
    assert (thought.text, thought.duration_ms) == ("hm", None)


async def test_a_cut_answer_keeps_what_was_text_as_thinking_and_what_follows_it() -> None:
    stage = Stage()
    parts = [TextPart("Hm."), ThoughtSoFarPart(), TextPart("So"), TextPart("."), ModelUnavailableError("gone")]
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, ScriptedModel(parts))):
        await stage.until_finished(await stage.say(session, "go"))
    assert [one.text for one in stage.payloads(session, ThinkingCompleted)] == ["Hm."]
    (message,) = stage.payloads(session, MessageCompleted)
    assert (message.text, message.partial) == ("So.", True)
