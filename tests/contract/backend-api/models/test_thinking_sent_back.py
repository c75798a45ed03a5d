"""What a model thought goes back to it as it came, in its place, and to no other model."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from backend_api.agent.answer import MAX_OPAQUE_CHARACTERS
from backend_api.agent.events import ThinkingCompleted
from backend_api.agent.model import (
    AssistantTurn,
    FinishPart,
    ModelInfo,
    ModelRequest,
    TextPart,
    Thinking,
    ThinkingPart,
    ToolRequest,
    ToolTurn,
    UserTurn,
)
from backend_api.agent.options import Options
from backend_api.agent.tool import Done
from backend_api.models.anthropic.messages import AnthropicModel
from backend_api.models.openai.chat import OpenAiChatModel
from backend_api.models.openai.responses import OpenAiResponsesModel
from support.model_seals import Form, parts_of
from support.model_server import Answer, Call, ModelServer
from support.scripted import HandlerBox, ScriptedModel
from support.stage import Stage, worker_for, working

Json = dict[str, Any]
LOOK = Call(name="look")


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture(params=["chat", "responses", "messages"])
def form(request: pytest.FixtureRequest) -> Form:
    return request.param


@pytest.fixture
async def chat(form: Form, server: ModelServer) -> AsyncIterator[Any]:
    match form:
        case "chat":
            adapter = OpenAiChatModel(key="k", base_url=server.openai_url)
        case "responses":
            adapter = OpenAiResponsesModel(key="k", base_url=server.openai_url)
        case "messages":
            adapter = AnthropicModel(key="k", base_url=server.url)
    yield adapter
    await adapter.aclose()


async def talk(chat: Any, *models: str) -> Stage:
    """One message to each of the models, by a worker that knows nothing but the log."""

    async def look(*_: Any) -> Done:
        return Done(success=True, output="seen")

    tools, stage = HandlerBox(), Stage()
    tools.add("look", look)
    session = await stage.open_session(title="named")
    for number, model in enumerate(models):
        info = ModelInfo(id=model, label=model, provider="test")
        asked = Options(enable_thinking=True)
        async with working(worker_for(stage, chat, tools, name=f"worker_{number}", info=info, defaults=asked)):
            await stage.until_finished(await stage.say(session, "Look."))
    return stage


def thoughts(form: Form, body: Json) -> list[Any]:
    """What a request has of thinking."""
    match form:
        case "chat":
            return [one for message in body["messages"] for one in message.get("reasoning_details", ())]
        case "responses":
            return [item for item in body["input"] if item["type"] == "reasoning"]
        case "messages":
            return [block for _, block in parts_of(form, body) if "thinking" in block["type"]]


@pytest.mark.parametrize("redacted", [True, False])
async def test_it_goes_back_in_every_later_request_and_not_to_another_model(
    form: Form, chat: Any, server: ModelServer, redacted: bool
) -> None:
    hidden = Answer(redacted=redacted, thinking=() if redacted else ("hm", " so"), texts=("I look.",), calls=[LOOK])
    server.answer(hidden, Answer(texts=("Seen.",)), hidden, Answer(), Answer())
    model = "claude-opus-4-6" if form == "messages" else "one"
    await talk(chat, model, model, "claude-opus-4-7" if form == "messages" else "another")
    assert server.refusals == []
    counts = [len(thoughts(form, body)) for body in server.requests]
    assert counts == ([0, 0, 0, 0, 0] if form == "chat" and not redacted else [0, 1, 1, 2, 0])
    for earlier, later in zip(server.requests[1:4], server.requests[2:4], strict=False):
        assert thoughts(form, later)[: len(thoughts(form, earlier))] == thoughts(form, earlier)
        # All that was sent stands unchanged before what is new.
        sent = json.dumps(parts_of(form, earlier)).replace(', "cache_control": {"type": "ephemeral"}', "")
        again = json.dumps(parts_of(form, later)).replace(', "cache_control": {"type": "ephemeral"}', "")
        assert again.startswith(sent[:-1])


async def test_thinking_with_nothing_after_it_is_left_out(form: Form, chat: Any, server: ModelServer) -> None:
    """As where it was stopped while it thought again: providers refuse an answer that ends with thinking."""
    server.is_strict = False
    item = json.dumps({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"})
    first, last = (Thinking(text="hm", signature="s", opaque=item, offset=offset) for offset in (0, 3))
    for calls in ((), (ToolRequest(call_id="a", name="look", arguments={}),)):
        said = AssistantTurn(text="So.", thinking=(first, last), calls=calls)
        results = [ToolTurn(call_id=call.call_id, name="look", output="seen", success=True) for call in calls]
        turns = [UserTurn(text="Look."), said, *results, UserTurn(text="And now?")]
        asked = ModelRequest(model="m", system="", turns=turns, tools=[], max_output_tokens=100)
        async with aclosing(chat.stream(asked)) as parts:
            assert [part async for part in parts]
    counts = [len(thoughts(form, body)) for body in server.requests]
    assert counts == ([0, 0] if form == "chat" else [1, 2])


@pytest.mark.parametrize(
    ("model", "found"),
    [("deepseek-v4-pro", ["hm", ""]), ("kimi-k2.5", ["hm", " "]), ("qwen3", [None, None])],
)
async def test_each_call_has_its_reasoning_content_where_the_model_wants_it(
    server: ModelServer, model: str, found: list[str | None]
) -> None:
    called = Answer(texts=(), calls=[LOOK])
    server.answer(
        Answer(thinking=["h", "m"], texts=(), calls=[LOOK]), called, Answer(thinking=["so"], texts=("Seen.",))
    )
    adapter = OpenAiChatModel(key="k", base_url=server.openai_url)
    await talk(adapter, model, model)
    await adapter.aclose()
    assert server.refusals == []
    said = [message for message in server.requests[-1]["messages"] if message["role"] == "assistant"]
    assert [message.get("reasoning_content") for message in said] == [*found, None]


async def test_what_is_opaque_is_recorded_with_the_thought_and_bounded() -> None:
    stage, opaque = Stage(), "x" * MAX_OPAQUE_CHARACTERS
    model = ScriptedModel(
        [
            ThinkingPart("hm"),
            ThinkingPart("", opaque=opaque),
            ThinkingPart("", opaque=opaque + "x"),
            TextPart("So."),
            FinishPart("stop"),
        ],
    )
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, model)):
        await stage.until_finished(await stage.say(session, "go"))
        await stage.until_finished(await stage.say(session, "and"))
    recorded = stage.payloads(session, ThinkingCompleted)[:2]
    assert [(one.text, one.opaque) for one in recorded] == [("hm", opaque), ("", None)]
    answers = [turn for turn in model.requests[1].turns if isinstance(turn, AssistantTurn)]
    assert [thinking.opaque for turn in answers for thinking in turn.thinking] == [opaque, None]
