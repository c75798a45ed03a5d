"""What servers of OpenAI's responses really send."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any

import pytest

from backend_api.domain.agent.model import (
    AddedPart,
    FinishPart,
    ModelAnswerError,
    ModelContextError,
    ModelError,
    ModelRateLimitError,
    ModelRequest,
    ModelRequestError,
    ModelStreamCutError,
    ModelUnavailableError,
    Part,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UsagePart,
    UserTurn,
)
from backend_api.infrastructure.llm.openai_responses import OpenAiResponsesModel
from support.model_server import Answer, ModelServer

Json = dict[str, Any]
DONE: Json = {"type": "response.completed", "response": {}}


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


async def ask(server: ModelServer, *frames: Any) -> list[Part]:
    server.answer(Answer(frames=frames))
    model = OpenAiResponsesModel(key="", base_url=server.openai_url)
    request = ModelRequest(model="m", system="", turns=[UserTurn(text="Hi")], tools=[], max_output_tokens=10)
    try:
        async with aclosing(model.stream(request)) as parts:
            return [part async for part in parts]
    finally:
        await model.aclose()


def added(index: int, **call: Any) -> Json:
    return {"type": "response.output_item.added", "output_index": index, "item": {"type": "function_call", **call}}


def done(index: int, **item: Any) -> Json:
    return {"type": "response.output_item.done", "output_index": index, "item": {"type": "function_call", **item}}


def piece(index: int, delta: str) -> Json:
    return {"type": "response.function_call_arguments.delta", "output_index": index, "delta": delta}


def calls(parts: Sequence[Part]) -> list[tuple[str, Any]]:
    return [(part.request.name, part.request.arguments) for part in parts if isinstance(part, ToolCallPart)]


async def test_calls_whose_pieces_come_mixed_are_told_apart_by_their_place(server: ModelServer) -> None:
    parts = await ask(
        server,
        added(0, call_id="x", name="a"),
        added(1, call_id="y", name="b"),
        piece(1, '{"n": 2}'),
        piece(0, '{"n": 1}'),
        done(1),
        done(0),
        DONE,
    )
    assert calls(parts) == [("b", {"n": 2}), ("a", {"n": 1})]
    assert parts[-1] == FinishPart("tool_calls")


async def test_a_call_may_come_whole_without_index_or_id(server: ModelServer) -> None:
    whole = {"type": "response.output_item.done", "item": {"type": "function_call", "name": "a", "arguments": "{}"}}
    parts = await ask(server, whole, DONE)
    assert calls(parts) == [("a", {})]


async def test_arguments_may_be_an_object(server: ModelServer) -> None:
    assert calls(await ask(server, done(0, name="a", arguments={"n": 1}), DONE)) == [("a", {"n": 1})]


async def test_an_answer_cut_inside_arguments_has_the_call_with_none(server: ModelServer) -> None:
    why = {"incomplete_details": {"reason": "max_output_tokens"}}
    cut = {"type": "response.incomplete", "response": why}
    parts = await ask(server, added(0, call_id="x", name="a"), piece(0, '{"n": '), cut)
    assert calls(parts) == [("a", None)]
    assert parts[-1] == FinishPart("length")
    parts = await ask(server, added(0, name="a"), piece(0, '{"n": '), done(0, status="incomplete"), cut)
    assert (calls(parts), parts[-1]) == ([("a", None)], FinishPart("length"))


@pytest.mark.parametrize(
    ("details", "reason"),
    [
        ({"reason": "content_filter"}, "refusal"),
        ({"reason": "steered"}, "stop"),
        ({"reason": None}, "length"),
        (None, "length"),
    ],
)
async def test_why_an_answer_is_not_whole(server: ModelServer, details: Any, reason: Any) -> None:
    parts = await ask(server, {"type": "response.incomplete", "response": {"incomplete_details": details}})
    assert parts == [FinishPart(reason)]


async def test_a_refusal_is_shown_and_ends_as_one(server: ModelServer) -> None:
    parts = await ask(server, {"type": "response.refusal.delta", "delta": "I can't."}, DONE)
    assert parts == [TextPart("I can't."), FinishPart("refusal")]


async def test_thinking_comes_as_summaries_or_as_itself(server: ModelServer) -> None:
    summary = "response.reasoning_summary_text.delta"
    parts = await ask(
        server,
        {"type": "response.reasoning_summary_part.added", "summary_index": 0},
        {"type": summary, "delta": "a"},
        {"type": "response.reasoning_summary_part.added", "summary_index": 1},
        {"type": summary, "delta": "b"},
        {"type": "response.reasoning_text.delta", "delta": "c"},
        done(0, type="reasoning", id="rs", summary=[], encrypted_content=None),
        DONE,
    )
    assert parts == [*map(ThinkingPart, ("a", "\n\n", "b", "c")), FinishPart("stop")]


async def test_usage_may_be_missing_or_have_nothing_in_it(server: ModelServer) -> None:
    assert not any(isinstance(part, UsagePart) for part in await ask(server, DONE))
    usage: Json = {"input_tokens": 7, "output_tokens": None, "output_tokens_details": {"reasoning_tokens": 3}}
    parts = await ask(server, {"type": "response.completed", "response": {"usage": usage}})
    (used,) = [part.usage for part in parts if isinstance(part, UsagePart)]
    assert (used.input, used.cached, used.output, used.thinking) == (7, 0, 0, 3)


@pytest.mark.parametrize(
    ("error", "kind", "may_retry"),
    [
        ({"code": "server_error", "message": "oops"}, ModelUnavailableError, True),
        ({"code": "rate_limit_exceeded", "message": "slow down"}, ModelRateLimitError, True),
        ({"code": "invalid_prompt", "message": "not this"}, ModelRequestError, False),
        ({"code": "image_parse_error", "message": "no picture"}, ModelRequestError, False),
        ({"code": "context_length_exceeded", "message": "long"}, ModelContextError, False),
        (None, ModelUnavailableError, True),
    ],
)
async def test_a_failed_response_becomes_its_error(
    server: ModelServer, error: Any, kind: type[ModelError], may_retry: bool
) -> None:
    frames: list[Json] = [{"type": "response.failed", "response": {"error": error}}, {"type": "error", **(error or {})}]
    for frame in frames:
        with pytest.raises(kind, match=error["message"] if error else "not available") as caught:
            await ask(server, {"type": "response.output_text.delta", "delta": "Half"}, frame)
        assert caught.value.may_retry is may_retry


async def test_an_answer_without_its_end_is_cut_and_what_comes_after_it_is_passed_over(server: ModelServer) -> None:
    with pytest.raises(ModelStreamCutError):
        await ask(server, {"type": "response.output_text.delta", "delta": "Half"})
    odd: list[Any] = [[], {}, {"type": "response.new"}, {"type": "response.output_item.done", "item": None}]
    assert await ask(server, *odd, {"type": "response.output_text.delta", "delta": None}, DONE) == [
        TextPart(""),
        FinishPart("stop"),
    ]


async def test_one_call_that_comes_twice_is_one_and_other_arguments_are_another(server: ModelServer) -> None:
    made = [done(index, call_id="x", name="a", arguments=given) for index, given in enumerate(("{}", "{}", '{"n": 1}'))]
    assert calls(await ask(server, *made, DONE)) == [("a", {}), ("a", {"n": 1})]


async def test_text_of_any_shape_is_read_or_left_out(server: ModelServer) -> None:
    def text(delta: Any) -> Json:
        return {"type": "response.output_text.delta", "delta": delta}

    parts = await ask(server, text({"text": "So"}), text({"a": {"b": 1}}), text(["."]), DONE)
    assert "".join(part.text for part in parts if isinstance(part, TextPart)) == "So."


@pytest.mark.parametrize(
    "end",
    [
        {"type": "response.cancelled", "response": {}},
        {"type": "response.completed", "response": {"status": "cancelled"}},
        {"type": "response.incomplete", "response": {"incomplete_details": {"reason": "gave_up"}}},
    ],
)
async def test_an_ending_that_is_not_known_is_no_success(server: ModelServer, end: Json) -> None:
    with pytest.raises(ModelAnswerError, match="before it was whole"):
        await ask(server, done(0, call_id="x", name="a", arguments="{}"), end)


async def test_items_of_other_kinds_and_fields_that_are_not_known_are_kept_to_go_back(server: ModelServer) -> None:
    search = {"type": "web_search_call", "id": "ws_1", "action": {"query": "q"}}
    said = {"type": "message", "id": "msg_1", "role": "assistant", "phase": "commentary", "content": []}
    called = {"call_id": "x", "name": "a", "arguments": "{}", "id": "fc_1", "status": "completed", "namespace": "n"}
    ended: Json = {"type": "response.output_item.done"}
    parts = await ask(server, {**ended, "item": search}, {**ended, "item": said}, done(2, **called), DONE)
    kept = [json.loads(part.opaque) for part in parts if isinstance(part, AddedPart)]
    assert kept == [
        {"added": "responses", "model": "m", "item": search},
        {"added": "responses", "model": "m", "message": {"phase": "commentary"}},
    ]
    (call,) = [part.request for part in parts if isinstance(part, ToolCallPart)]
    assert json.loads(call.opaque or "")["call"] == {"namespace": "n"}
