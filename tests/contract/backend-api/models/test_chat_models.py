"""What the loop may expect of every provider, asked over the real wire format."""

from __future__ import annotations

import asyncio
import base64
import gc
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from backend_api.agent.model import (
    AssistantTurn,
    FinishPart,
    ModelAuthError,
    ModelError,
    ModelRateLimitError,
    ModelRequest,
    ModelRequestError,
    ModelStreamCutError,
    ModelUnavailableError,
    Part,
    TextPart,
    Thinking,
    ThinkingPart,
    ToolCallPart,
    ToolRequest,
    ToolTurn,
    UsagePart,
    UserTurn,
)
from backend_api.agent.pictures import Image, Picture
from backend_api.agent.tool import ToolSpec
from backend_api.models.anthropic.messages import AnthropicModel
from backend_api.models.openai.chat import OpenAiChatModel
from backend_api.models.openai.responses import OpenAiResponsesModel
from backend_api.models.wire.bounds import Timeouts
from support.figures import TIMES, assert_median
from support.model_server import Answer, Call, ModelServer
from support.photographs import png

PNG = png()
SHORT = Timeouts(connect_s=0.2, head_s=0.2, silence_s=0.2)
TIMEOUTS = Timeouts(connect_s=5.0, head_s=5.0, silence_s=5.0)
LOOK = ToolSpec(
    name="look",
    description="Looks.",
    parameters={"type": "object", "properties": {}},
    phrase="Looking",
    effect="reads",
)
KEY = "sk-test"
MODELS: dict[str, Any] = {
    "openai": lambda server, timeouts: OpenAiChatModel(key=KEY, base_url=server.openai_url, timeouts=timeouts),
    "responses": lambda server, timeouts: OpenAiResponsesModel(key=KEY, base_url=server.openai_url, timeouts=timeouts),
    "anthropic": lambda server, timeouts: AnthropicModel(key=KEY, base_url=server.url, timeouts=timeouts),
}


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture(params=list(MODELS))
def provider(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def model(provider: str, server: ModelServer) -> AsyncIterator[Any]:
    model = MODELS[provider](server, TIMEOUTS)
    yield model
    await model.aclose()


def request(*turns: Any) -> ModelRequest:
    return ModelRequest(
        model="m",
        system="Be kind.",
        turns=turns or (UserTurn(text="Hi"),),
        tools=[LOOK],
        max_output_tokens=100,
    )


async def ask(model: Any, *turns: Any) -> list[Part]:
    async with asyncio.timeout(30), aclosing(model.stream(request(*turns))) as parts:
        return [part async for part in parts]


def text_of(parts: list[Part]) -> str:
    return "".join(part.text for part in parts if isinstance(part, TextPart))


def calls_of(parts: list[Part]) -> list[ToolRequest]:
    return [part.request for part in parts if isinstance(part, ToolCallPart)]


async def test_text_usage_and_ending_come_in_order(model: Any, server: ModelServer) -> None:
    server.answer(Answer(texts=["Grüße, ", "世界", " 🙂"]))
    parts = await ask(model)
    assert text_of(parts) == "Grüße, 世界 🙂"
    usage = [part.usage for part in parts if isinstance(part, UsagePart)][-1]
    assert (usage.input, usage.cached, usage.output) == (10, 4, 2)
    assert parts[-1] == FinishPart("stop")
    assert server.requests[0]["stream"] is True


async def test_thinking_is_asked_for_as_the_provider_wants_it(model: Any, provider: str, server: ModelServer) -> None:
    """The names of the models say nothing, so both are asked as older and compatible servers are."""
    for thinking in ("off", "high", None):
        asked = replace(request(), thinking=thinking)
        async with asyncio.timeout(30), aclosing(model.stream(asked)) as parts:
            assert [part async for part in parts]
    field = {"openai": "reasoning_effort", "responses": "reasoning", "anthropic": "thinking"}[provider]
    named = [body.get(field) for body in server.requests]
    wanted: dict[str, list[Any]] = {
        "openai": [None, "high", None],
        "responses": [{"effort": "none"}, {"effort": "high", "summary": "auto"}, None],
        "anthropic": [{"type": "disabled"}, {"type": "enabled", "budget_tokens": 1_024}, None],
    }
    assert named == wanted[provider]
    if provider == "responses":
        assert [body["include"] for body in server.requests] == [["reasoning.encrypted_content"]] * 3
        assert [body["store"] for body in server.requests] == [False] * 3


async def test_calls_come_whole_with_their_arguments(model: Any, server: ModelServer) -> None:
    server.answer(
        Answer(
            texts=[],
            calls=[
                Call(name="look", arguments='{"where": "上"}', id="a"),
                Call(name="look", arguments="", id="b"),
                Call(name="look", arguments='{"where": "do', id="c"),
            ],
        )
    )
    parts = await ask(model)
    assert [call.arguments for call in calls_of(parts)] == [{"where": "上"}, {}, None]
    assert calls_of(parts)[2].raw == '{"where": "do'
    assert parts[-1] == FinishPart("tool_calls")


async def test_thinking_is_told_apart_from_text(model: Any, server: ModelServer) -> None:
    server.answer(Answer(thinking=["Let me ", "see."], texts=["Yes."]))
    parts = await ask(model)
    assert "".join(part.text for part in parts if isinstance(part, ThinkingPart)) == "Let me see."
    assert text_of(parts) == "Yes."


@pytest.mark.parametrize("finish", ["stop", "length", "refusal"])
async def test_the_reason_of_the_ending_is_told(model: Any, server: ModelServer, finish: str) -> None:
    server.answer(Answer(finish=finish))
    assert (await ask(model))[-1] == FinishPart(finish)


@pytest.mark.parametrize(
    ("status", "error", "may_retry"),
    [
        (400, ModelRequestError, False),
        (401, ModelAuthError, False),
        (403, ModelAuthError, False),
        (404, ModelRequestError, False),
        (429, ModelRateLimitError, True),
        (500, ModelUnavailableError, True),
        (502, ModelUnavailableError, True),
        (503, ModelUnavailableError, True),
        (529, ModelUnavailableError, True),
    ],
)
async def test_a_refusing_status_becomes_its_error(
    model: Any, server: ModelServer, status: int, error: type[ModelError], may_retry: bool
) -> None:
    server.answer(Answer(status=status, message="because so"))
    with pytest.raises(error, match="because so") as caught:
        await ask(model)
    assert caught.value.may_retry is may_retry
    assert len(server.requests) == 1


async def test_retry_after_is_read_as_seconds_and_as_a_date(model: Any, server: ModelServer) -> None:
    server.answer(Answer(status=429, headers={"Retry-After": "7"}))
    with pytest.raises(ModelRateLimitError) as caught:
        await ask(model)
    assert caught.value.retry_after_s == 7
    server.answer(Answer(status=503, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}))
    with pytest.raises(ModelUnavailableError) as late:
        await ask(model)
    assert late.value.retry_after_s == 0


async def test_a_cut_stream_is_told_apart_from_an_ended_one(model: Any, server: ModelServer) -> None:
    server.answer(Answer(texts=["So", " far"], cut_after=3))
    parts: list[Part] = []

    async def listen() -> None:
        async for part in model.stream(request()):
            parts.append(part)

    with pytest.raises(ModelStreamCutError) as caught:
        await listen()
    assert text_of(parts) in ("So", "So far")
    assert caught.value.may_retry


async def test_silence_ends_as_unavailable(provider: str, server: ModelServer) -> None:
    model = MODELS[provider](server, SHORT)
    server.answer(Answer(hang=True), Answer(hang_after=2))
    for _ in range(2):
        with pytest.raises(ModelUnavailableError) as caught:
            await ask(model)
        assert caught.value.may_retry
    await model.aclose()


async def test_nobody_listening_is_unavailable(provider: str, server: ModelServer) -> None:
    async with ModelServer() as gone:
        model = MODELS[provider](gone, SHORT)
    with pytest.raises(ModelUnavailableError, match="can't be reached"):
        await ask(model)
    await model.aclose()


ELSEWHERE = SimpleNamespace(url="http://model.invalid", openai_url="http://model.invalid/v1")


@pytest.fixture
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.usefixtures("no_proxies")
@pytest.mark.parametrize(
    ("variable", "before", "credentials"),
    [("HTTP_PROXY", "http://", None), ("http_proxy", "", None), ("ALL_PROXY", "http://me:word@", "Basic bWU6d29yZA==")],
)
async def test_a_proxy_of_the_environment_is_asked(
    provider: str,
    server: ModelServer,
    variable: str,
    before: str,
    credentials: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(variable, before + server.url.removeprefix("http://"))
    model = MODELS[provider](ELSEWHERE, TIMEOUTS)
    assert text_of(await ask(model)) == "Hello there"
    assert (server.headers[0]["host"], server.headers[0].get("proxy-authorization")) == ("model.invalid", credentials)
    await model.aclose()


@pytest.mark.usefixtures("no_proxies")
@pytest.mark.parametrize("but_for", ["model.invalid", "other.test, .invalid", "model.invalid:80", "*"])
async def test_the_environment_may_leave_out_an_address(
    server: ModelServer, but_for: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url)
    monkeypatch.setenv("NO_PROXY", but_for)
    url = "http://model.invalid:80"
    model = MODELS["anthropic"](SimpleNamespace(url=url), TIMEOUTS)
    with pytest.raises(ModelUnavailableError, match="can't be reached"):
        await ask(model)
    assert server.requests == []
    await model.aclose()


async def test_a_fault_inside_the_stream_becomes_its_error(model: Any, server: ModelServer) -> None:
    server.answer(Answer(fault={"type": "overloaded_error", "message": "too busy"}))
    with pytest.raises(ModelUnavailableError, match="too busy"):
        await ask(model)


async def test_closing_the_stream_closes_the_connection(model: Any, server: ModelServer) -> None:
    server.answer(Answer(hang_after=4))
    async with aclosing(model.stream(request())) as parts:
        async for part in parts:
            if isinstance(part, TextPart):
                break
    async with asyncio.timeout(30):
        await server.closed_early.wait()


async def test_the_whole_conversation_is_sent_back(model: Any, server: ModelServer, provider: str) -> None:
    server.is_strict = False
    await ask(
        model,
        UserTurn(text="Look.", attachments=("a.png",)),
        AssistantTurn(
            text="I look.",
            thinking=(Thinking(text="hm", signature="sig"), Thinking(text="unsigned")),
            calls=(ToolRequest(call_id="call_a", name="look", arguments={"x": 1}),),
        ),
        ToolTurn(call_id="call_a", name="look", output="nothing", success=False),
        UserTurn(text="And now?"),
    )
    sent = server.requests[0]
    assert "a.png" in json.dumps(sent)
    if provider == "openai":
        roles = [message["role"] for message in sent["messages"]]
        assert roles == ["system", "user", "assistant", "tool", "user"]
        assert json.loads(sent["messages"][2]["tool_calls"][0]["function"]["arguments"]) == {"x": 1}
    elif provider == "responses":
        kinds = [item.get("role") or item["type"] for item in sent["input"]]
        assert kinds == ["user", "assistant", "function_call", "function_call_output", "user"]
        assert json.loads(sent["input"][2]["arguments"]) == {"x": 1}
        assert (sent["instructions"], sent["tools"][0]["name"]) == ("Be kind.", "look")
    else:
        assert [message["role"] for message in sent["messages"]] == ["user", "assistant", "user"]
        said = sent["messages"][1]["content"]
        assert said[0] == {"type": "thinking", "thinking": "hm", "signature": "sig"}
        assert [block["type"] for block in said] == ["thinking", "text", "tool_use"]
        assert [block["type"] for block in sent["messages"][2]["content"]] == ["tool_result", "text"]
        assert sent["messages"][2]["content"][0]["is_error"] is True


def seen(name: str, *, success: bool = True, seq: int = 1, note: str = "") -> ToolTurn:
    picture = Picture(seq=seq, media_type="image/png", size=len(PNG))
    return ToolTurn(
        call_id=f"call_{name}", name="look", output=f"saw {name}", success=success, pictures=(picture,), note=note
    )


async def test_pictures_of_results_are_sent_as_the_provider_takes_them(
    model: Any, server: ModelServer, provider: str
) -> None:
    """Of three pictures one is not there any more, and one belongs to a call that failed."""
    turns = [
        UserTurn(text="Look."),
        AssistantTurn(
            text="", calls=tuple(ToolRequest(call_id=f"call_{name}", name="look", arguments={}) for name in "abc")
        ),
        seen("a"),
        seen("b", success=False, seq=2),
        seen("c", seq=3),
    ]
    image = Image(media_type="image/png", base64=base64.b64encode(PNG).decode())
    sendable = {one.pictures[0]: image for one in turns if isinstance(one, ToolTurn) and one.call_id != "call_c"}
    for more in ([], [UserTurn(text="And now?")]):
        asked = replace(request(*turns, *more), pictures=sendable)
        async with asyncio.timeout(30), aclosing(model.stream(asked)) as parts:
            assert [part async for part in parts]
    first, second = (body.get("messages") or body["input"] for body in server.requests)
    gone = "saw c\n\n<note>A picture was taken here. It no longer exists or can't be read.</note>"
    if provider == "openai":
        roles = [message["role"] for message in first]
        assert roles == ["system", "user", "assistant", "tool", "tool", "tool", "user"]
        assert [message["content"] for message in first[3:6]] == ["saw a", "saw b", gone]
        url = {"url": f"data:image/png;base64,{image.base64}"}
        parts = [("text" in part and part["text"][-11:]) or part["image_url"] for part in first[6]["content"]]
        assert parts == ["_a):</note>", url, "_b):</note>", url]
        assert second[:6] == first[:6]
        assert second[6]["content"] == [*first[6]["content"], {"type": "text", "text": "And now?"}]
    elif provider == "responses":
        url = f"data:image/png;base64,{image.base64}"
        shown = {"type": "input_image", "image_url": url, "detail": "auto"}
        assert [item["output"] for item in first[4:]] == [
            [{"type": "input_text", "text": "saw a"}, shown],
            [{"type": "input_text", "text": "saw b"}, shown],
            gone,
        ]
        assert second[: len(first)] == first
    else:
        results = first[2]["content"]
        source = {"type": "base64", "media_type": "image/png", "data": image.base64}
        shown = {"type": "image", "source": source}
        assert [result["content"] for result in results] == [
            [{"type": "text", "text": "saw a"}, shown],
            [{"type": "text", "text": "saw b"}, shown],
            gone,
        ]
        assert [result["type"] for result in results] == ["tool_result"] * 3
        assert not any("is_error" in result for result in results)
        assert [block["type"] for block in second[2]["content"]] == ["tool_result"] * 3 + ["text"]


async def test_a_picture_whose_result_says_nothing_is_sent_with_a_text_that_is_not_blank(
    model: Any, server: ModelServer, provider: str
) -> None:
    """Anthropic refuses a block of blanks."""
    calls = (ToolRequest(call_id="call_a", name="look", arguments={}),)
    turn = replace(seen("a"), output=" \n\t")
    image = Image(media_type="image/png", base64=base64.b64encode(PNG).decode())
    asked = request(UserTurn(text="Look."), AssistantTurn(text="", calls=calls), turn)
    asked = replace(asked, pictures={turn.pictures[0]: image})
    async with asyncio.timeout(30), aclosing(model.stream(asked)) as parts:
        assert [part async for part in parts]
    (body,) = server.requests
    if provider == "anthropic":
        (result,) = body["messages"][2]["content"]
        assert result["content"][0] == {"type": "text", "text": "(no output)"}


async def test_work_that_lost_its_thinking_at_an_opening_goes_on_without(
    model: Any, server: ModelServer, provider: str
) -> None:
    """Models with a budget refuse calls that no thinking stands before, until it has said something whole."""
    server.is_strict = False
    calls = (ToolRequest(call_id="call_a", name="look", arguments={}),)
    thought, said = (Thinking(text="hm", signature="sig"),), AssistantTurn(text="Done.")
    result = ToolTurn(call_id="call_a", name="look", output="x", success=True)
    for thinking, more in (((), []), (thought, []), ((), [said, UserTurn(text="Go on.")])):
        turns = [UserTurn(text="Look."), AssistantTurn(text="", thinking=thinking, calls=calls), result, *more]
        asked = replace(request(*turns), thinking="high")
        async with asyncio.timeout(30), aclosing(model.stream(asked)) as parts:
            assert [part async for part in parts]
    if provider == "anthropic":
        assert [body["thinking"]["type"] for body in server.requests] == ["disabled", "enabled", "enabled"]
    elif provider == "responses":
        assert [body["reasoning"]["effort"] for body in server.requests] == ["high"] * 3
    else:
        assert [body["reasoning_effort"] for body in server.requests] == ["high"] * 3


async def test_what_is_said_of_a_result_stands_after_it(model: Any, server: ModelServer) -> None:
    turn = replace(seen("a"), pictures=(), note="It is not shown.")
    calls = (ToolRequest(call_id="call_a", name="look", arguments={}),)
    await ask(model, UserTurn(text="Look."), AssistantTurn(text="", calls=calls), turn)
    assert json.dumps("saw a\n\n<note>It is not shown.</note>") in json.dumps(server.requests[0])


@pytest.fixture
def only_new_objects() -> Iterator[None]:
    """Those there are before are none of `gc.get_objects`: it is slow with all of them."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("only_new_objects")
async def test_nothing_keeps_what_was_sent_while_the_answer_streams(model: Any, server: ModelServer) -> None:
    size = 1_000_000
    server.answer(Answer(texts=["word "] * 20, delay_s=0.05))
    async with asyncio.timeout(30), aclosing(model.stream(request(UserTurn(text="x" * size)))) as parts:
        await anext(parts)
        holders = [
            type(holder).__name__
            for holder in gc.get_objects()
            if any(isinstance(held, bytes) and size < len(held) < size + 5_000 for held in gc.get_referents(holder))
        ]
        assert holders == []
        assert [part async for part in parts][-1] == FinishPart("stop")


async def two_thousand_deltas(model: Any, server: ModelServer) -> float:
    """How long they take, each of them read."""
    server.answer(Answer(texts=["word "] * 2_000))
    started = time.perf_counter()
    parts = await ask(model)
    assert len(text_of(parts)) == 10_000
    return time.perf_counter() - started


async def test_an_answer_of_two_thousand_deltas_comes_whole(model: Any, server: ModelServer) -> None:
    await two_thousand_deltas(model, server)


@pytest.mark.quiet
async def test_more_than_eight_thousand_deltas_are_read_in_a_second(model: Any, server: ModelServer) -> None:
    await ask(model)
    assert_median([await two_thousand_deltas(model, server) for _ in range(TIMES)], below_s=2_000 / 8_000)
