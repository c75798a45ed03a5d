"""What servers of OpenAI's responses really send."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any

import pytest

from backend_api.agent.model import (
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
from backend_api.models.openai.responses import OpenAiResponsesModel
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
    with pytest.raises(ModelAnswerError, match="before it was complete"):
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


def event(kind: str, **fields: Any) -> Json:
    return {"type": f"response.{kind}", **fields}


def message(text: str, **fields: Any) -> Json:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}], **fields}


def thought(text: str, **fields: Any) -> Json:
    return {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}], **fields}


def told(parts: Sequence[Part]) -> tuple[str, str]:
    thinking = "".join(part.text for part in parts if isinstance(part, ThinkingPart))
    return thinking, "".join(part.text for part in parts if isinstance(part, TextPart))


THINKS = event("reasoning_summary_text.delta", item_id="rs", delta="Hm.")
SAYS = event("output_text.delta", item_id="msg", delta="So.")
CALLED: Json = {"type": "function_call", "call_id": "x", "name": "a", "arguments": '{"n": 1}'}
OUTPUT: Json = event("completed", response={"output": [thought("Hm.", id="r0"), message("So.", id="m0"), CALLED]})


@pytest.mark.parametrize(
    "frames",
    [
        # As llama.cpp sends them, whose items all end after the last piece, without their place.
        [
            event("output_item.added", item={"type": "reasoning", "id": "rs"}),
            THINKS,
            event("output_item.added", item={"type": "message", "id": "msg"}),
            SAYS,
            event("output_item.added", item={"type": "function_call", "call_id": "x", "name": "a", "arguments": ""}),
            event("function_call_arguments.delta", item_id="x", delta='{"n": 1}'),
            event("output_item.done", item=thought("Hm.", id="rs")),
            event("output_item.done", item=message("So.", id="msg")),
            event("output_item.done", item=CALLED),
        ],
        # Without any names of the pieces, and with a message that ends twice.
        [
            event("reasoning_text.delta", delta="Hm."),
            event("output_text.delta", delta="So."),
            event("output_item.added", item={"type": "function_call", "call_id": "x", "name": "a"}),
            event("output_item.done", item=thought("Hm.")),
            event("output_item.done", item=message("So.")),
            event("output_item.done", item=message("So.")),
            event("output_item.done", item=CALLED),
        ],
        # As Copilot sends them, with another id in each event.
        [
            event("reasoning_text.delta", output_index=0, item_id="1", delta="Hm."),
            event("output_text.delta", output_index=1, item_id="2", delta="So."),
            event("output_text.done", output_index=1, item_id="3", text="So."),
            event("output_item.added", output_index=2, item={"type": "function_call", "id": "4", "name": "a"}),
            event("function_call_arguments.delta", output_index=2, item_id="5", delta='{"n": 1}'),
            event("output_item.done", output_index=0, item=thought("Hm.", id="6")),
            event("output_item.done", output_index=1, item=message("So.", id="7")),
            event("output_item.done", output_index=1, item=message("So.", id="8")),
            event("output_item.done", output_index=2, item=CALLED | {"id": "9"}),
        ],
        # Whole alone, or at the end alone.
        [
            event("output_item.done", item=thought("Hm.")),
            event("output_item.done", item=message("So.")),
            event("output_item.done", item=CALLED),
        ],
        [],
        [THINKS, event("output_text.done", item_id="msg", text="So.")],
        [THINKS, event("output_text.done", text="So."), event("output_item.done", item=message("So.", id="msg"))],
        [THINKS, SAYS, event("output_item.done", item=message("So.", id="msg"))],
    ],
)
async def test_what_comes_in_pieces_and_whole_is_told_once(server: ModelServer, frames: list[Json]) -> None:
    parts = await ask(server, *frames, OUTPUT)
    assert (told(parts), calls(parts)) == (("Hm.", "So."), [("a", {"n": 1})])


async def test_each_message_is_told_where_all_have_one_place(server: ModelServer) -> None:
    place: Json = {"output_index": 0}
    parts = await ask(
        server,
        event("output_item.added", item=message("", id="1"), **place),
        event("output_text.delta", item_id="1", delta="So", **place),
        event("output_item.done", item=message("So", id="1"), **place),
        event("output_item.added", item=message("", id="2"), **place),
        event("output_text.delta", item_id="2", delta=" it", **place),
        event("output_text.done", item_id="2", content_index=1, text=" is", **place),
        event("output_item.done", item=message(" it is", id="2"), **place),
        event("output_item.added", item=message("", id="3"), **place),
        event("output_item.done", item=message(" so.", id="3"), **place),
        DONE,
    )
    assert told(parts) == ("", "So it is so.")


@pytest.mark.parametrize(
    "frames",
    [
        [added(0, call_id="x", name="a"), event("function_call_arguments.done", output_index=0, arguments='{"n": 1}')],
        [added(0, call_id="x", name="a"), event("function_call_arguments.done", item_id="y", arguments='{"n": 1}')],
        [added(0, call_id="x", name="a", arguments='{"n": 1}')],
        [added(0, call_id="x", name="a", arguments="{}"), piece(0, '{"n": 1}')],
        [added(0, call_id="x", name="a"), piece(0, ""), OUTPUT],
    ],
)
@pytest.mark.parametrize("ending", [None, "", "{}"])
async def test_arguments_come_in_any_event_of_a_call(server: ModelServer, frames: list[Json], ending: Any) -> None:
    end = [] if ending is None else [done(0, call_id="x", name="a", arguments=ending)]
    *begin, last = frames
    parts = await ask(server, *begin, *([*end, last] if last == OUTPUT else [last, *end, DONE]))
    assert (calls(parts), parts[-1]) == ([("a", {"n": 1})], FinishPart("tool_calls"))


async def test_a_call_without_arguments_is_made_in_its_order(server: ModelServer) -> None:
    parts = await ask(server, done(0, name="a", arguments="{}"), done(1, name="b", arguments='{"n": 1}'), DONE)
    assert calls(parts) == [("a", {}), ("b", {"n": 1})]


@pytest.mark.parametrize(
    "frames",
    [
        [event("refusal.done", item_id="m", refusal="I can't."), DONE],
        [event("output_item.done", item={"type": "message", "content": [{"type": "refusal", "refusal": "I can't."}]})],
        [],
    ],
)
async def test_a_refusal_may_come_whole(server: ModelServer, frames: list[Json]) -> None:
    refused: Json = {"type": "message", "id": "m", "content": [{"type": "refusal", "refusal": "I can't."}]}
    end = event("completed", response={"output": [refused]})
    assert await ask(server, *frames, end) == [TextPart("I can't."), FinishPart("refusal")]
