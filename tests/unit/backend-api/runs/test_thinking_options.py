"""Thinking as an option: merged when the model is next asked, told to it, recorded, and kept to."""

from __future__ import annotations

from dataclasses import replace

from backend_api.agent.answer import MAX_OPAQUE_CHARACTERS, MOST_THOUGHTS
from backend_api.agent.events import ContextOpened, MessageCompleted, ThinkingCompleted, ThinkingDelta
from backend_api.agent.model import AssistantTurn, FinishPart, TextPart, ThinkingPart
from backend_api.agent.options import Options
from backend_api.models.demo.model import DEMO_MODEL, DemoModel
from support.scripted import SCRIPTED, ScriptedModel
from support.stage import USER, Stage, worker_for, working

THOUGHT = [ThinkingPart("hm", signature="s"), TextPart("Said."), FinishPart("stop")]


async def test_each_opening_says_how_much_is_thought_and_drops_what_was_thought_before() -> None:
    stage, model = Stage(), ScriptedModel(THOUGHT)
    async with working(worker_for(stage, model)):
        session = await stage.open_session(enable_thinking=True, thinking_effort="max")
        await stage.until_finished(await stage.say(session, "one"))
        await stage.until_finished(await stage.say(session, "two"))
        await stage.sessions.update(session, USER, {"options": {"enable_thinking": None}})
        await stage.until_finished(await stage.say(session, "three"))
    opened = stage.payloads(session, ContextOpened)
    assert [(one.thinking, one.cause) for one in opened] == [("max", "started"), (None, "thinking")]
    assert [request.thinking for request in model.requests] == ["max", "max", None]
    assert [one.effort for one in stage.payloads(session, ThinkingCompleted)] == ["max", "max", None]
    thought = [
        [bool(turn.thinking) for turn in request.turns if isinstance(turn, AssistantTurn)] for request in model.requests
    ]
    assert thought == [[], [True], [False, False]]


async def test_off_is_neither_shown_nor_kept_even_where_the_model_thinks_all_the_same() -> None:
    stage, model = Stage(), ScriptedModel(THOUGHT)
    async with working(worker_for(stage, model)):
        session = await stage.open_session(enable_thinking=False)
        await stage.until_finished(await stage.say(session, "go"))
    assert model.requests[0].thinking == "off"
    assert stage.said(session) == "Said."
    assert not stage.payloads(session, ThinkingCompleted)
    assert not [delta for _, delta in stage.stream.deltas if isinstance(delta, ThinkingDelta)]


async def test_of_thoughts_without_end_the_first_are_kept_and_none_that_is_longer_than_it_may_be() -> None:
    piece = [ThinkingPart("hm", signature="s"), TextPart("a")]
    long = ThinkingPart("hm", signature="s" * (MAX_OPAQUE_CHARACTERS + 1))
    model = ScriptedModel([long, TextPart("a"), *piece * MOST_THOUGHTS, FinishPart("stop")])
    stage = Stage()
    async with working(worker_for(stage, model)):
        session = await stage.open_session(enable_thinking=True)
        await stage.until_finished(await stage.say(session, "go"))
    first, *others = stage.payloads(session, ThinkingCompleted)
    assert stage.said(session) == "a" * (MOST_THOUGHTS + 1)
    assert (first.text, first.signature) == ("hm", None)
    assert [one.signature for one in others] == ["s"] * (MOST_THOUGHTS - 1)


async def test_the_servers_choice_holds_where_the_session_made_none_and_the_model_can() -> None:
    server = Options(max_turns=5, enable_thinking=True)
    for info, wanted in ((SCRIPTED, "high"), (replace(SCRIPTED, thinking="never"), None)):
        stage, model = Stage(), ScriptedModel(THOUGHT)
        async with working(worker_for(stage, model, defaults=server, info=info)):
            session = await stage.open_session()
            await stage.until_finished(await stage.say(session, "go"))
        assert model.requests[0].thinking == wanted
        assert stage.payloads(session, ContextOpened)[0].thinking == wanted


async def test_the_demo_model_thinks_when_asked_and_says_that_it_is_a_script() -> None:
    for wanted in (True, False, None):
        stage = Stage()
        async with working(worker_for(stage, DemoModel(delay_s=0), info=DEMO_MODEL)):
            session = await stage.open_session(**({} if wanted is None else {"enable_thinking": wanted}))
            await stage.until_finished(await stage.say(session, "stream 3"))
        thoughts = stage.payloads(session, ThinkingCompleted)
        assert bool(thoughts) == bool(wanted)
        assert all("script" in thought.text for thought in thoughts)
        assert stage.payloads(session, MessageCompleted)[0].text.endswith("word3")
