"""What servers that call themselves OpenAI-compatible really send."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any

import pytest

from backend_api.domain.agent.model import (
    FinishPart,
    ModelAnswerError,
    ModelRequest,
    ModelStreamCutError,
    Part,
    ThinkingPart,
    ToolCallPart,
    UsagePart,
    UserTurn,
)
from backend_api.infrastructure.llm.openai_chat import OpenAiChatModel
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
    with pytest.raises(ModelAnswerError, match="without saying that it is whole"):
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
