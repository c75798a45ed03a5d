"""What servers that call themselves OpenAI-compatible really send."""

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
    ModelRequest,
    ModelStreamCutError,
    ModelUnavailableError,
    Part,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UsagePart,
    UserTurn,
)
from backend_api.models.openai.chat import OpenAiChatModel
from support.model_server import Answer, ModelServer


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


async def ask(server: ModelServer, frames: Sequence[Any], *, say_done: bool = True) -> list[Part]:
    server.answer(Answer(frames=frames, say_done=say_done))
    model = OpenAiChatModel(key="", base_url=server.openai_url)
    request = ModelRequest(model="m", system="", turns=[UserTurn(text="Hi")], tools=[], max_output_tokens=10)
    try:
        async with aclosing(model.stream(request)) as parts:
            return [part async for part in parts]
    finally:
        await model.aclose()


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"delta": delta, "finish_reason": finish}]}


def call(**fields: Any) -> dict[str, Any]:
    return chunk(tool_calls=[fields])


def arguments_of(parts: list[Part]) -> list[Any]:
    return [part.request.arguments for part in parts if isinstance(part, ToolCallPart)]


async def test_calls_without_index_or_id_are_told_apart_by_name(server: ModelServer) -> None:
    parts = await ask(
        server,
        [
            call(function={"name": "a", "arguments": '{"n": 1}'}),
            call(function={"name": "b", "arguments": '{"n"'}),
            call(function={"arguments": ": 2}"}),
            chunk("stop"),
        ],
    )
    assert arguments_of(parts) == [{"n": 1}, {"n": 2}]
    assert parts[-1] == FinishPart("tool_calls")


async def test_calls_that_share_one_index_are_told_apart_by_id(server: ModelServer) -> None:
    parts = await ask(
        server,
        [
            call(index=0, id="x", function={"name": "a", "arguments": '{"n": 1}'}),
            call(index=0, id="y", function={"name": "a", "arguments": '{"n": 2}'}),
            chunk("tool_calls"),
        ],
    )
    assert arguments_of(parts) == [{"n": 1}, {"n": 2}]


async def test_a_name_repeated_in_every_piece_is_one_call(server: ModelServer) -> None:
    parts = await ask(
        server,
        [
            call(index=0, id="x", function={"name": "a", "arguments": '{"n"'}),
            call(index=0, id="x", function={"name": "a", "arguments": ": 1}"}),
            chunk("tool_calls"),
        ],
    )
    assert arguments_of(parts) == [{"n": 1}]


async def test_arguments_may_be_an_object(server: ModelServer) -> None:
    parts = await ask(server, [call(index=0, function={"name": "a", "arguments": {"n": 1}}), chunk("tool_calls")])
    assert arguments_of(parts) == [{"n": 1}]


async def test_reasoning_has_two_names(server: ModelServer) -> None:
    parts = await ask(server, [chunk(reasoning="a"), chunk(reasoning_content="b"), chunk("stop", content="c")])
    assert "".join(part.text for part in parts if isinstance(part, ThinkingPart)) == "ab"


async def test_usage_may_be_missing_or_cumulative(server: ModelServer) -> None:
    parts = await ask(server, [chunk("stop", content="c")])
    assert not any(isinstance(part, UsagePart) for part in parts)
    growing = [{**chunk(content="c"), "usage": {"prompt_tokens": 5, "completion_tokens": n}} for n in (1, 2, 3)]
    parts = await ask(server, [*growing, chunk("stop")])
    assert [part.usage.output for part in parts if isinstance(part, UsagePart)][-1] == 3


async def test_an_end_without_its_mark_is_whole_and_one_without_a_reason_is_not(server: ModelServer) -> None:
    assert (await ask(server, [chunk("stop", content="c")], say_done=False))[-1] == FinishPart("stop")
    with pytest.raises(ModelAnswerError, match="without a finish reason"):
        await ask(server, [chunk(content="c")], say_done=True)
    with pytest.raises(ModelStreamCutError):
        await ask(server, [chunk(content="c")], say_done=False)


async def test_odd_chunks_are_passed_over(server: ModelServer) -> None:
    odd: list[Any] = [
        [],
        {"choices": None},
        {"choices": [{"delta": None}]},
        {"choices": [{"delta": {"content": None}}]},
    ]
    assert await ask(server, [*odd, chunk("stop")]) == [FinishPart("stop")]


async def test_an_answer_cut_inside_arguments_has_the_call_with_none(server: ModelServer) -> None:
    parts = await ask(server, [call(index=0, id="x", function={"name": "a", "arguments": '{"n": '}), chunk("length")])
    assert (arguments_of(parts), parts[-1]) == ([None], FinishPart("length"))


async def test_details_of_reasoning_are_put_together_of_their_pieces(server: ModelServer) -> None:
    """As OpenRouter sends them: text piece by piece, then what is encrypted, some of it only with the calls."""

    def details(**detail: Any) -> dict[str, Any]:
        return chunk(reasoning_details=[detail])

    parts = await ask(
        server,
        [
            details(type="reasoning.text", index=0, text="h", signature=None),
            details(type="reasoning.text", index=0, text="m", signature=None),
            details(type="reasoning.text", index=0, signature="s=="),
            chunk(content="So"),
            details(type="reasoning.encrypted", index=1, data="x==", id="call_1"),
            chunk(reasoning_details=None),
            chunk(reasoning_details=[None, "odd"]),
            chunk("stop"),
        ],
    )
    whole = [json.loads(part.opaque) for part in parts if isinstance(part, ThinkingPart) and part.opaque]
    assert whole == [
        {"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "hm", "signature": "s=="}]},
        {"reasoning_details": [{"type": "reasoning.encrypted", "index": 1, "data": "x==", "id": "call_1"}]},
    ]
    assert [type(part).__name__ for part in parts] == ["ThinkingPart", "TextPart", "ThinkingPart", "FinishPart"]


def thought_and_said(parts: list[Part]) -> tuple[str, str]:
    thought = "".join(part.text for part in parts if isinstance(part, ThinkingPart))
    return thought, "".join(part.text for part in parts if isinstance(part, TextPart))


async def test_content_in_parts_is_read_as_thinking_and_text(server: ModelServer) -> None:
    """As Mistral sends it."""

    def thinking(text: str, **more: Any) -> dict[str, Any]:
        return {"type": "thinking", "thinking": [{"type": "text", "text": text}], **more}

    parts = await ask(
        server,
        [
            chunk(role="assistant", content=""),
            chunk(content=[thinking("H")]),
            chunk(content=[thinking("m.", closed=True), {"type": "reference", "reference_ids": [1]}]),
            chunk(content=[{"type": "text", "text": "So"}]),
            chunk(content=" it is", index=0),
            chunk("stop", content="."),
        ],
    )
    assert thought_and_said(parts) == ("Hm.", "So it is.")
    (kept,) = [json.loads(part.opaque) for part in parts if isinstance(part, ThinkingPart) and part.opaque]
    fields = {"type": "thinking", "closed": True}
    assert kept == {"added": "chat", "model": "m", "thought": {"key": "thinking", "is_list": True, "fields": fields}}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (["So", "."], "So."),
        ({"type": "text", "text": "So."}, "So."),
        ({"text": "So."}, "So."),
        ([{"type": "output_text", "text": "So."}], "So."),
        ([{"type": "image_url", "image_url": {"url": "x"}}, {"type": "text", "text": "So."}], "So."),
        ([None, 7, {}, {"type": "new", "what": ["x"]}, {"type": "text", "text": {"text": "So."}}], "7So."),
        (7, "7"),
        (True, ""),
        ({"a": {"b": 1}}, ""),
    ],
)
async def test_content_of_any_shape_is_read_or_left_out(server: ModelServer, content: Any, said: str) -> None:
    assert thought_and_said(await ask(server, [chunk("stop", content=content)])) == ("", said)


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content", "thinking"])
@pytest.mark.parametrize("value", ["Hm.", {"text": "Hm."}, [{"type": "text", "text": "Hm."}], {"content": "Hm."}])
async def test_thinking_of_any_shape_is_read(server: ModelServer, name: str, value: Any) -> None:
    assert thought_and_said(await ask(server, [chunk(**{name: value}), chunk("stop", content="So.")])) == ("Hm.", "So.")


async def test_thinking_that_is_told_in_details_alone_is_shown(server: ModelServer) -> None:
    """As MiniMax sends it."""
    details = [chunk(reasoning_details=[{"type": "reasoning.text", "index": 0, "text": text}]) for text in ("H", "m.")]
    parts = await ask(server, [*details, chunk("stop", content="So.")])
    assert thought_and_said(parts) == ("Hm.", "So.")


async def test_blocks_of_thinking_are_put_together_up_to_their_signature(server: ModelServer) -> None:
    """As LiteLLM sends them."""

    def block(text: str, signature: str = "") -> dict[str, Any]:
        return chunk(
            reasoning_content=text, thinking_blocks=[{"type": "thinking", "thinking": text, "signature": signature}]
        )

    parts = await ask(server, [block("H"), block("m."), block("", "s=="), block("More."), chunk("stop", content="So.")])
    (kept,) = [json.loads(part.opaque) for part in parts if isinstance(part, ThinkingPart) and part.opaque]
    assert kept["thinking_blocks"] == [
        {"type": "thinking", "thinking": "Hm.", "signature": "s=="},
        {"type": "thinking", "thinking": "More.", "signature": ""},
    ]
    assert thought_and_said(parts) == ("Hm.More.", "So.")


async def test_what_is_added_to_a_message_and_a_part_is_kept_to_go_back(server: ModelServer) -> None:
    google = {"google": {"thought_signature": "s=="}}
    frames = [
        chunk(content="So", extra_content=None, channel="final", token_ids=[1]),
        chunk(content=[{"type": "text", "text": ".", "mark": "p"}]),
        chunk("stop", content="", extra_content=google, obfuscation="xyz"),
    ]
    parts = await ask(server, frames)
    kept = [json.loads(part.opaque) for part in parts if isinstance(part, AddedPart)]
    assert kept == [
        {"added": "chat", "model": "m", "text": {"mark": "p"}},
        {"added": "chat", "model": "m", "message": {"extra_content": google}},
    ]


@pytest.mark.parametrize("word", ["error", "network_error", "insufficient_system_resource", "abort", "new"])
@pytest.mark.parametrize("said", [{}, {"content": "Half"}])
async def test_an_answer_that_ends_in_a_fault_is_one_and_has_no_calls(
    server: ModelServer, word: str, said: dict[str, Any]
) -> None:
    frames = [chunk(**said), call(index=0, id="x", function={"name": "a", "arguments": "{}"}), chunk(word)]
    with pytest.raises(ModelAnswerError, match=f'before it was complete \\("{word}"\\)') as raised:
        await ask(server, frames)
    assert raised.value.may_retry


async def test_a_fault_that_is_followed_by_an_ending_stays_one(server: ModelServer) -> None:
    broken = {"choices": [{"delta": {}, "finish_reason": "error", "native_finish_reason": "MALFORMED_FUNCTION_CALL"}]}
    with pytest.raises(ModelAnswerError, match="MALFORMED_FUNCTION_CALL"):
        await ask(server, [chunk(content="Half"), broken, chunk("stop")])


async def test_a_call_of_the_older_form_is_one(server: ModelServer) -> None:
    pieces = [chunk(function_call={"name": "a", "arguments": '{"n"'}), chunk(function_call={"arguments": ": 1}"})]
    parts = await ask(server, [*pieces, chunk("function_call")])
    assert (arguments_of(parts), parts[-1]) == ([{"n": 1}], FinishPart("tool_calls"))


async def test_a_message_that_repeats_what_was_streamed_is_not_said_twice(server: ModelServer) -> None:
    again = {"choices": [{"delta": {}, "message": {"content": "So."}, "finish_reason": "stop"}]}
    assert thought_and_said(await ask(server, [chunk(content="So."), again])) == ("", "So.")


async def test_a_call_may_stand_without_a_list_or_beside_the_text(server: ModelServer) -> None:
    """In a second choice, as of Copilot's Claude."""
    one = {"index": 0, "id": "x", "function": {"name": "a", "arguments": '{"n": 1}'}}
    assert arguments_of(await ask(server, [chunk("tool_calls", tool_calls=one)])) == [{"n": 1}]
    for name in ("delta", "message"):
        text = {"index": 0, name: {"content": "So."}, "finish_reason": "tool_calls"}
        called = {"index": 1, name: {"tool_calls": [one]}, "finish_reason": "tool_calls"}
        for frames in ([{"choices": [text, called]}], [{"choices": [text]}, {"choices": [{}, called]}]):
            parts = await ask(server, frames)
            assert (thought_and_said(parts), arguments_of(parts)) == (("", "So."), [{"n": 1}])
            assert parts[-1] == FinishPart("tool_calls")


@pytest.mark.parametrize(
    ("thoughts", "texts"),
    [
        (["H", "Hm.", "Hm.", "Hm."], ["", "", "S", "So."]),
        (["H", "m.", "", ""], ["", "", "S", "o."]),
        (["H", "Hm.", "Hm.", ""], ["", "", "So.", "So."]),
        (["Hm.", "Hm.", "Hm.", None], [None, "S", "So.", "S"]),
    ],
)
async def test_messages_in_the_place_of_deltas_are_pieces_or_grow(
    server: ModelServer, thoughts: list[Any], texts: list[Any]
) -> None:
    frames = [
        {"choices": [{"delta": None, "message": {"content": text, "reasoning_content": thought}}]}
        for thought, text in zip(thoughts, texts, strict=True)
    ]
    assert thought_and_said(await ask(server, [*frames, chunk("stop")])) == ("Hm.", "So.")


async def test_a_piece_that_repeats_itself_is_told_each_time(server: ModelServer) -> None:
    frames = [{"choices": [{"delta": None, "message": {"content": text}}]} for text in ("ha", "ha", "ha", " so")]
    assert thought_and_said(await ask(server, [*frames, chunk("stop")])) == ("", "hahaha so")


async def test_no_ending_may_be_said_in_words(server: ModelServer) -> None:
    """As DashScope does in each chunk."""
    parts = await ask(server, [chunk("null", content="So"), chunk("null", content="."), chunk("stop")])
    assert (thought_and_said(parts), parts[-1]) == (("", "So."), FinishPart("stop"))
    with pytest.raises(ModelAnswerError, match="without a finish reason"):
        await ask(server, [chunk("null", content="So")])


async def test_usage_may_stand_in_the_choice_or_what_a_provider_adds(server: ModelServer) -> None:
    """As of Moonshot and of Groq."""
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    in_choice = {"choices": [{"delta": {}, "finish_reason": "stop", "usage": usage}]}
    for last in (in_choice, {**chunk("stop"), "x_groq": {"id": "r", "usage": usage}}):
        parts = await ask(server, [chunk(content="So."), last])
        (used,) = [part.usage for part in parts if isinstance(part, UsagePart)]
        assert (used.input, used.output) == (7, 3)


async def test_an_error_may_stand_in_what_a_provider_adds(server: ModelServer) -> None:
    with pytest.raises(ModelUnavailableError, match="over capacity"):
        await ask(server, [chunk(content="So"), {"choices": [], "x_groq": {"id": "r", "error": "over capacity"}}])
