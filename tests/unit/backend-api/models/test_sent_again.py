"""A conversation is sent whole with each call: what was sent before is made once, and is what it would be made anew."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from backend_api.agent.capability import Capabilities
from backend_api.agent.conversation import Conversation, results_at
from backend_api.agent.events import ContentReference, ContextOpened
from backend_api.agent.model import (
    AssistantTurn,
    FinishPart,
    ModelRequest,
    NoteTurn,
    RenderedTurns,
    TextPart,
    Thinking,
    ToolRequest,
    ToolTurn,
    Turn,
    UserTurn,
)
from backend_api.agent.pictures import Picture
from backend_api.models.anthropic import input as anthropic_input
from backend_api.models.openai import chat_messages, responses_input
from backend_api.runs.capabilities import capabilities
from support.scripted import ANY, HandlerBox, ScriptedModel
from support.stage import Stage, worker_for, working

Written = Callable[[ModelRequest], list[bytes]]


def messages(request: ModelRequest) -> list[bytes]:
    form = anthropic_input.Form(request.model)
    return anthropic_input.messages_of(anthropic_input.spoken_in(request, form), request, form)


ALL: dict[str, Written] = {
    "chat": chat_messages.messages_of,
    "responses": responses_input.items_of,
    "messages": messages,
}


def turns(*, steps: int) -> list[Turn]:
    made: list[Turn] = [UserTurn(text="Go on.")]
    for number in range(steps):
        call = ToolRequest(call_id=f"call_{number}", name="look", arguments={"at": number})
        made.append(AssistantTurn(text=f"Step {number}.", calls=(call,)))
        made.append(ToolTurn(call_id=call.call_id, name="look", output="seen " * 40, success=number % 2 == 0))
    return made


def asked(said: list[Turn], model: str = "m") -> ModelRequest:
    return ModelRequest(model=model, system="s", turns=said, tools=[], max_output_tokens=10)


def blocks(request: ModelRequest) -> list[bytes]:
    spoken = anthropic_input.spoken_in(request, anthropic_input.Form(request.model))
    return [json for _, said in spoken for _, json in said]


KEPT: dict[str, Written] = {"responses": responses_input.items_of, "messages": blocks}


@pytest.mark.parametrize("name", KEPT)
def test_what_was_sent_before_is_not_made_again(name: str) -> None:
    said = turns(steps=50)
    first = KEPT[name](asked(said))
    again = KEPT[name](asked([*said, UserTurn(text="And now?")]))
    assert len(first) == len(said)
    assert all(one is other for one, other in zip(first, again, strict=False))


def said_so_far() -> Iterator[list[Turn]]:
    """A conversation as it grows: with words in a row, pictures, answers of nothing, and a result that is left out."""
    picture = Picture(seq=9, media_type="image/png", size=3)
    call = ToolRequest(call_id="c", name="look", arguments={})
    look, seen = AssistantTurn(text="", calls=(call,)), ToolTurn(call_id="c", name="look", output="seen", success=True)
    said: list[Turn] = [NoteTurn(text="It is Monday.")]
    for more in (
        [UserTurn(text="Go on.")],
        [AssistantTurn(text=" ")],
        [NoteTurn(text="Now."), AssistantTurn(text="I look."), UserTurn(text="Where?")],
        [look, seen, look, seen],
        [UserTurn(text="Take a picture."), look, replace(seen, pictures=(picture,)), seen],
        [AssistantTurn(text="Here it is."), UserTurn(text="Good.")],
    ):
        said = [*said, *more]
        yield said
    yield [turn if turn is not seen else replace(seen, output="left out") for turn in said]
    yield said[5:]
    yield []


def test_what_is_joined_is_what_would_be_made_anew_however_the_conversation_goes_on() -> None:
    rendered = RenderedTurns()
    for said in said_so_far():
        for model in ("m", "m", "deepseek-v4"):
            request = replace(asked(said, model), rendered=rendered)
            anew = chat_messages.messages_of(asked(said, model))
            assert b",".join(chat_messages.messages_of(request)) == b",".join(anew)


def test_what_was_joined_before_is_not_looked_at_turn_by_turn() -> None:
    rendered, said = RenderedTurns(), turns(steps=50)
    (first,) = chat_messages.messages_of(replace(asked(said), rendered=rendered))
    again = chat_messages.messages_of(replace(asked([*said, UserTurn(text="And now?")]), rendered=rendered))
    assert again[0] is first
    assert len(again) == 2
    assert not any(turn._made for turn in said), "what is joined is not kept with each turn as well"


def test_two_models_in_turn_have_each_what_was_joined_for_it_and_no_third_one_beside_them() -> None:
    rendered, said = RenderedTurns(), turns(steps=50)

    def joined(model: str) -> bytes:
        return chat_messages.messages_of(replace(asked(said, model), rendered=rendered))[0]

    main, fallback = joined("m"), joined("deepseek-v4")
    assert (joined("m") is main, joined("deepseek-v4") is fallback) == (True, True)
    said.append(UserTurn(text="And now?"))
    assert (joined("m") is main, joined("deepseek-v4") is fallback) == (True, True)
    third = joined("other")
    assert (joined("deepseek-v4") is fallback, joined("other") is third) == (True, True)
    assert joined("m") is not main


@pytest.mark.parametrize("name", KEPT)
def test_what_was_joined_is_dropped_once_an_api_is_asked_that_joins_nothing(name: str) -> None:
    rendered, said = RenderedTurns(), turns(steps=3)
    chat_messages.messages_of(replace(asked(said), rendered=rendered))
    assert rendered.known(("chat", "m"), said)[0] == len(said)
    KEPT[name](replace(asked(said), rendered=rendered))
    assert rendered.known(("chat", "m"), said) == (0, ())


async def test_the_next_message_begins_with_what_was_joined_for_the_last() -> None:
    answers = [[TextPart(text), FinishPart("stop")] for text in ("One.", "Two.")]
    stage, model = Stage(), ScriptedModel(*answers)
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, model)):
        for text in ("hello", "go on"):
            await stage.until_finished(await stage.say(session, text))
    first, second = model.requests
    assert second.rendered is first.rendered


def test_each_wire_format_and_model_has_its_own_words_whoever_was_asked_before() -> None:
    said = turns(steps=3)
    for _ in range(2):
        for model in ("m", "deepseek-v4", "m"):
            for written in ALL.values():
                assert written(asked(said, model)) == written(asked(turns(steps=3), model))
    assert b"reasoning_content" in b"".join(chat_messages.messages_of(asked(said, "deepseek-v4")))
    assert b"reasoning_content" not in b"".join(chat_messages.messages_of(asked(said, "m")))


def test_a_result_that_is_left_out_is_made_into_its_line_once() -> None:
    all_of_them = Capabilities(capabilities(HandlerBox()), ANY)
    said = turns(steps=9)
    body = ContentReference(size=1, digest="d")
    opened = ContextOpened(epoch=1, cause="history", model="m", system=body, tools=body, replaced=6)
    results = results_at(said, 0, ())
    known = Conversation(turns=said, seen_seq=1, next_turn=2, is_answered=False, results=results).reopened(opened)
    first, second = all_of_them.project(known), all_of_them.project(known)
    assert "[Previous: used look]" in json.dumps(json.loads(b"[%b]" % b",".join(ALL["chat"](asked(first.turns)))))
    assert all(one is other for one, other in zip(first.turns, second.turns, strict=True))


def test_an_opening_makes_no_turn_anew_that_has_no_thinking_to_lose() -> None:
    body = ContentReference(size=1, digest="d")
    opened = ContextOpened(epoch=2, cause="history", model="m", system=body, tools=body)
    said = [*turns(steps=3), AssistantTurn(text="Thought.", thinking=(Thinking(text="Hm.", signature="s"),))]
    kept = Conversation(turns=said, seen_seq=1, next_turn=5, is_answered=False).reopened(opened).turns
    assert all(one is other for one, other in zip(said[:-1], kept[:-1], strict=True))
    assert kept[-1] == AssistantTurn(text="Thought.")
