"""What Anthropic, and servers that speak as it does, really send."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any

import pytest

from backend_api.agent.model import (
    AddedPart,
    AssistantTurn,
    FinishPart,
    ModelAnswerError,
    ModelRequest,
    ModelStreamCutError,
    Part,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolRequest,
    ToolTurn,
    Turn,
    UsagePart,
    UserTurn,
)
from backend_api.models.anthropic.messages import AnthropicModel
from support.model_server import Answer, ModelServer

Json = dict[str, Any]
STOP: Json = {"type": "message_stop"}


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


async def ask(server: ModelServer, *frames: Json, raw: bytes | None = None) -> list[Part]:
    server.answer(Answer(frames=frames, raw=raw))
    model = AnthropicModel(key="k", base_url=server.url)
    request = ModelRequest(model="m", system="", turns=[UserTurn(text="Hi")], tools=[], max_output_tokens=10)
    try:
        async with aclosing(model.stream(request)) as parts:
            return [part async for part in parts]
    finally:
        await model.aclose()


async def test_what_stays_when_old_results_are_left_out_is_cached_by_itself(server: ModelServer) -> None:
    call = ToolRequest(call_id="toolu_1", name="look", arguments={})
    turns: list[Turn] = [
        UserTurn(text="Hi"),
        AssistantTurn(text="", calls=(call,)),
        ToolTurn(call_id="toolu_1", name="look", output="seen", success=True),
    ]
    model = AnthropicModel(key="k", base_url=server.url)
    request = ModelRequest(model="m", system="s", turns=turns, tools=[], max_output_tokens=10, lasting=2)
    async with aclosing(model.stream(request)) as parts:
        _ = [part async for part in parts]
    await model.aclose()
    marked = [[block.get("cache_control") for block in one["content"]] for one in server.requests[0]["messages"]]
    assert marked == [[None], [{"type": "ephemeral"}], [{"type": "ephemeral"}]]


def begins(index: int, **block: Any) -> Json:
    return {"type": "content_block_start", "index": index, "content_block": block}


def piece(index: int, **delta: Any) -> Json:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def ends(index: int) -> Json:
    return {"type": "content_block_stop", "index": index}


def because(reason: str | None, **usage: int) -> Json:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}


def use(index: int, name: str, *pieces: str, **fields: Any) -> Sequence[Json]:
    said = [piece(index, type="input_json_delta", partial_json=text) for text in pieces]
    return [begins(index, type="tool_use", name=name, **fields), *said, ends(index)]


def calls(parts: Sequence[Part]) -> list[tuple[str, Any]]:
    return [(part.request.name, part.request.arguments) for part in parts if isinstance(part, ToolCallPart)]


async def test_arguments_may_be_whole_at_the_start_of_a_call(server: ModelServer) -> None:
    parts = await ask(server, *use(0, "a", id="x", input={"n": 1}), because("tool_use"), STOP)
    assert calls(parts) == [("a", {"n": 1})]


async def test_calls_may_lack_an_id(server: ModelServer) -> None:
    parts = await ask(server, *use(0, "a", "{}"), *use(1, "b", '{"n"', ": 2}"), because("tool_use"), STOP)
    assert calls(parts) == [("a", {}), ("b", {"n": 2})]
    assert parts[-1] == FinishPart("tool_calls")


async def test_an_answer_cut_inside_arguments_has_the_call_with_none(server: ModelServer) -> None:
    parts = await ask(server, *use(0, "a", '{"n": '), because("max_tokens"), STOP)
    assert (calls(parts), parts[-1]) == ([("a", None)], FinishPart("length"))


async def test_usage_is_cumulative_and_may_be_missing(server: ModelServer) -> None:
    start = {"type": "message_start", "message": {"usage": {"input_tokens": 5, "cache_read_input_tokens": 2}}}
    parts = await ask(server, start, because(None, output_tokens=1), because("end_turn", output_tokens=3), STOP)
    used = [part.usage for part in parts if isinstance(part, UsagePart)][-1]
    assert (used.input, used.cached, used.output) == (7, 2, 3)
    bare = [{"type": "message_start", "message": {}}, because("end_turn"), STOP]
    assert await ask(server, *bare) == [FinishPart("stop")]


async def test_an_empty_text_before_a_call_is_nothing_said(server: ModelServer) -> None:
    parts = await ask(server, begins(0, type="text", text=""), ends(0), *use(1, "a", "{}"), because("tool_use"), STOP)
    assert not any(isinstance(part, TextPart) and part.text for part in parts)
    assert calls(parts) == [("a", {})]


async def test_thinking_keeps_its_signature_and_redacted_thinking_its_whole_block(server: ModelServer) -> None:
    parts = await ask(
        server,
        begins(0, type="thinking", thinking="", signature=""),
        piece(0, type="thinking_delta", thinking="hm"),
        piece(0, type="signature_delta", signature="s=="),
        ends(0),
        begins(1, type="redacted_thinking", data="x=="),
        ends(1),
        because("end_turn"),
        STOP,
    )
    assert parts[:2] == [ThinkingPart("hm"), ThinkingPart("", signature="s==")]
    assert parts[2] == ThinkingPart("", opaque='{"type":"redacted_thinking","data":"x=="}')


async def test_an_ending_without_a_reason_is_not_whole_and_one_without_its_mark_is_cut(server: ModelServer) -> None:
    said = [begins(0, type="text", text=""), piece(0, type="text_delta", text="So"), ends(0)]
    with pytest.raises(ModelAnswerError, match="without a finish reason"):
        await ask(server, *said, because(None), STOP)
    with pytest.raises(ModelStreamCutError):
        await ask(server, *said)


async def test_events_that_are_not_known_are_passed_over(server: ModelServer) -> None:
    odd = [{"type": "ping"}, {"type": "new"}, piece(7, type="input_json_delta"), piece(9, type="new_delta"), ends(9)]
    assert await ask(server, *odd, because("end_turn"), STOP) == [FinishPart("stop")]


async def test_a_block_of_an_unknown_kind_is_kept_to_go_back(server: ModelServer) -> None:
    block = [
        begins(0, type="new", data="x", note=""),
        piece(0, type="new_delta", note="a"),
        piece(0, note="b"),
        ends(0),
    ]
    parts = await ask(server, *block, because("end_turn"), STOP)
    (added,) = [json.loads(part.opaque) for part in parts if isinstance(part, AddedPart)]
    assert added == {"added": "messages", "model": "m", "block": {"type": "new", "data": "x", "note": "ab"}}


@pytest.mark.parametrize(
    ("word", "reason"), [("stop_sequence", "stop"), ("max_tokens", "length"), ("refusal", "refusal")]
)
async def test_a_reason_that_is_known_is_what_it_says(server: ModelServer, word: str, reason: Any) -> None:
    assert (await ask(server, because(word), STOP))[-1] == FinishPart(reason)


async def test_a_reason_that_is_not_known_is_no_success(server: ModelServer) -> None:
    with pytest.raises(ModelAnswerError, match='before it was complete \\("gave_up"\\)'):
        await ask(server, *use(0, "a", "{}"), because("gave_up"), STOP)


async def test_one_call_at_two_indexes_is_one_and_other_arguments_are_another(server: ModelServer) -> None:
    again = [*use(0, "a", "{}", id="x"), *use(1, "a", "{}", id="x"), *use(2, "a", '{"n": 1}', id="x")]
    parts = await ask(server, *again, because("tool_use"), STOP)
    assert calls(parts) == [("a", {}), ("a", {"n": 1})]


async def test_what_is_added_to_a_call_and_a_text_is_kept_to_go_back(server: ModelServer) -> None:
    text = [begins(0, type="text", text="", mark="t"), piece(0, type="text_delta", text="So"), ends(0)]
    call = use(1, "a", "{}", id="x", caller={"type": "direct"})
    parts = await ask(server, *text, *call, because("tool_use"), STOP)
    assert [json.loads(part.opaque)["text"] for part in parts if isinstance(part, AddedPart)] == [{"mark": "t"}]
    (kept,) = [part.request.opaque for part in parts if isinstance(part, ToolCallPart)]
    assert json.loads(kept or "")["call"] == {"caller": {"type": "direct"}}


@pytest.mark.parametrize("pieces", [("{}", '{"n": 1}'), ("{}", '{"n"', ": 1}"), ("{ ", "}", '{"n": 1}')])
async def test_empty_arguments_before_the_real_ones_are_none(server: ModelServer, pieces: Sequence[str]) -> None:
    parts = await ask(server, *use(0, "a", *pieces, id="x", input={}), because("tool_use"), STOP)
    assert calls(parts) == [("a", {"n": 1})]
    parts = await ask(server, *use(0, "a", "{}", id="x", input={"n": 1}), because("tool_use"), STOP)
    assert calls(parts) == [("a", {"n": 1})]


async def test_a_block_that_does_not_end_ends_with_the_next_one_in_its_place_or_the_answer(server: ModelServer) -> None:
    first = use(0, "a", '{"n": 1}', id="x")[:-1]
    parts = await ask(server, *first, *use(0, "b", "{}", id="y")[:-1], because("tool_use"), STOP)
    assert calls(parts) == [("a", {"n": 1}), ("b", {})]
    assert parts[-1] == FinishPart("tool_calls")


@pytest.mark.parametrize("says_done", [True, False])
async def test_an_answer_that_says_why_it_ended_is_whole(server: ModelServer, *, says_done: bool) -> None:
    text = [begins(0, type="text", text=""), piece(0, type="text_delta", text="So"), ends(0), because("end_turn")]
    lines = [f"data: {json.dumps(frame)}\n\n" for frame in text] + (["data: [DONE]\n\n"] if says_done else [])
    parts = await ask(server, raw="".join(lines).encode())
    assert parts[-2:] == [TextPart("So"), FinishPart("stop")]
