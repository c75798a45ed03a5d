"""A model server that is no provider at all: whatever it sends ends in a clear error, soon, and in little memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest

from backend_api.domain.agent.events import Usage
from backend_api.domain.agent.model import (
    ModelError,
    ModelRequest,
    ModelRequestError,
    ModelUnavailableError,
    Part,
    TextPart,
    ToolCallPart,
    UsagePart,
    UserTurn,
)
from backend_api.infrastructure.llm.anthropic_messages import AnthropicModel
from backend_api.infrastructure.llm.bounds import BUSY_S, MAX_ANSWER_CHARACTERS, MAX_ANSWER_S, MOST_CALLS, Taken
from backend_api.infrastructure.llm.openai_chat import OpenAiChatModel
from backend_api.infrastructure.llm.openai_responses import OpenAiResponsesModel
from backend_api.infrastructure.llm.sse import MAX_LINE_BYTES, SseOverflowError, data_lines
from support.model_server import Answer, Call, ModelServer

FORMS = ("chat", "responses", "messages")
REQUEST = ModelRequest(model="m", system="", turns=[UserTurn(text="Hi")], tools=[], max_output_tokens=99)
STOP: dict[str, Any] = {"choices": [{"delta": {}, "finish_reason": "stop"}]}


def model_of(form: str, url: str) -> Any:
    match form:
        case "chat":
            return OpenAiChatModel(key="k", base_url=f"{url}/v1")
        case "responses":
            return OpenAiResponsesModel(key="k", base_url=f"{url}/v1")
        case _:
            return AnthropicModel(key="k", base_url=url)


async def asked(form: str, url: str) -> list[Part]:
    model = model_of(form, url)
    try:
        async with asyncio.timeout(30), aclosing(model.stream(REQUEST)) as parts:
            return [part async for part in parts]
    finally:
        await model.aclose()


async def answer_of(form: str, answer: Answer) -> list[Part]:
    async with ModelServer(answer) as server:
        return await asked(form, server.url)


def delta(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"delta": fields}]}


@pytest.mark.parametrize(
    ("form", "event"),
    [
        ("chat", {"choices": 5}),
        ("chat", {"choices": {"0": {}}}),
        ("chat", {"choices": ["x"]}),
        ("chat", {"choices": [{"delta": [1]}]}),
        ("chat", delta(tool_calls={"a": 1})),
        ("chat", delta(tool_calls=[{"index": 0, "function": "x"}])),
        ("chat", delta(tool_calls=[{"index": [1], "function": {"name": "look"}}])),
        ("chat", {"error": {"message": "x", "code": "²"}}),
        ("chat", {"error": {"message": "x", "code": "9" * 6_000}}),
        ("responses", {"type": "response.output_item.added", "item": {"type": "function_call"}, "output_index": []}),
        ("responses", {"type": []}),
        ("messages", {"type": "message_start", "message": None}),
        ("messages", {"type": "message_delta", "delta": 5}),
        ("messages", {"type": "content_block_start", "index": {}, "content_block": {"type": "text"}}),
    ],
)
async def test_an_event_of_another_form_is_a_fault_of_the_provider(form: str, event: Any) -> None:
    with pytest.raises(ModelError):
        await answer_of(form, Answer(frames=[event]))


@pytest.mark.parametrize("name", [{"a": 1}, 7, "look" * 5_000])
@pytest.mark.parametrize("call_id", [{"a": 1}, 7, "call" * 5_000])
async def test_the_id_and_the_name_of_a_call_are_short_texts(name: Any, call_id: Any) -> None:
    call = {"index": 0, "id": call_id, "function": {"name": name, "arguments": "{}"}}
    parts = await answer_of("chat", Answer(frames=[delta(tool_calls=[call]), STOP]))
    (request,) = [part.request for part in parts if isinstance(part, ToolCallPart)]
    assert (type(request.name), type(request.call_id)) == (str, str)
    assert len(request.name) + len(request.call_id) <= 400


def counted(form: str, count: Any) -> Sequence[Any]:
    match form:
        case "chat":
            return [{**STOP, "usage": {"prompt_tokens": count, "completion_tokens": count}}]
        case "responses":
            usage = {"input_tokens": count, "output_tokens": count}
            return [{"type": "response.completed", "response": {"usage": usage}}]
        case _:
            usage = {"input_tokens": count, "output_tokens": count}
            return [{"type": "message_start", "message": {"usage": usage}}, {"type": "message_stop"}]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("count", [-5, float("nan"), float("inf"), "7", True, [7], {"a": 7}])
async def test_what_is_no_number_of_tokens_counts_as_none(form: str, count: Any) -> None:
    parts = await answer_of(form, Answer(frames=counted(form, count)))
    assert [part.usage for part in parts if isinstance(part, UsagePart)] in ([Usage()], [])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("count", [10**18, 10**40, 1e300])
async def test_no_number_of_tokens_is_larger_than_sums_of_them_may_be(form: str, count: float) -> None:
    parts = await answer_of(form, Answer(frames=counted(form, count)))
    (usage,) = [part.usage for part in parts if isinstance(part, UsagePart)]
    assert usage == Usage(input=10**9, output=10**9)


@pytest.mark.parametrize("form", FORMS)
async def test_an_answer_that_is_longer_than_any_model_writes_is_cut_off(form: str) -> None:
    with pytest.raises(ModelUnavailableError, match="characters"):
        await answer_of(form, Answer(texts=["x" * 500_000] * (MAX_ANSWER_CHARACTERS // 500_000 + 1)))


@pytest.mark.parametrize("form", FORMS)
async def test_an_answer_has_so_many_calls_at_most(form: str) -> None:
    calls = [Call(name="look", id=f"call_{number}") for number in range(MOST_CALLS + 1)]
    assert len(await answer_of(form, Answer(texts=(), calls=calls[1:]))) >= MOST_CALLS
    with pytest.raises(ModelUnavailableError, match="calls"):
        await answer_of(form, Answer(texts=(), calls=calls))


async def test_calls_without_end_are_ended_before_the_answer_is() -> None:
    frames = [delta(tool_calls=[{"index": index, "function": {"name": ""}}]) for index in range(MOST_CALLS + 2)]
    async with ModelServer(Answer(frames=[*frames, STOP], hang_after=len(frames))) as server:
        with pytest.raises(ModelUnavailableError, match="calls"):
            await asked("chat", server.url)


@asynccontextmanager
async def without_end(head: str) -> AsyncGenerator[str]:
    """Answers with this head and a body that never ends, and pauses after 256 MiB."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f'{head}\r\nContent-Type: application/json\r\n\r\n{{"error": {{"message": "'.encode())
        try:
            for _ in range(4_096):
                writer.write(b"x" * 65_536)
                await writer.drain()
            await reader.read()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize("form", FORMS)
async def test_of_a_refusal_only_the_beginning_is_read(form: str) -> None:
    async with without_end("HTTP/1.1 400 No") as url:
        with pytest.raises(ModelRequestError, match="400"):
            await asked(form, url)


@pytest.mark.parametrize("form", FORMS)
async def test_of_a_redirect_nothing_is_read(form: str) -> None:
    async with ModelServer(Answer(texts=("from the other",))) as other:
        path = {"chat": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages"}[form]
        async with without_end(f"HTTP/1.1 307 There\r\nLocation: {other.url}{path}") as url:
            parts = await asked(form, url)
        assert [part.text for part in parts if isinstance(part, TextPart)] == ["from the other"]
        (headers,) = other.headers
        assert not {"authorization", "x-api-key"} & headers.keys(), "a key went to another origin"


@pytest.mark.parametrize("form", FORMS)
async def test_redirects_without_end_are_a_fault_of_the_provider(form: str) -> None:
    async with without_end("HTTP/1.1 307 Here\r\nLocation: /again") as url:
        with pytest.raises(ModelUnavailableError, match="can't be reached"):
            await asked(form, url)


@pytest.mark.parametrize("form", FORMS)
async def test_no_cookie_is_kept(form: str) -> None:
    async with ModelServer(Answer(status=400, headers={"Set-Cookie": "a=1; Path=/"})) as server:
        model = model_of(form, server.url)
        try:
            for _ in range(2):
                with pytest.raises(ModelRequestError):
                    async for _part in model.stream(REQUEST):
                        pass
        finally:
            await model.aclose()
        assert ["cookie" in headers for headers in server.headers] == [False, False]


async def test_an_answer_that_never_ends_is_ended() -> None:
    now = 0.0

    async def comments() -> AsyncGenerator[bytes]:
        nonlocal now
        while True:
            now += 60
            yield b": still at it\n\n"

    taken = Taken("It", lambda: now)
    with pytest.raises(ModelUnavailableError, match="did not end within 60 minutes"):
        async for _ in taken.chunks(comments()):
            pass
    assert now == MAX_ANSWER_S + 60


async def test_who_sends_more_than_is_read_at_once_leaves_others_their_turn() -> None:
    now, turns = 0.0, 0

    async def at_once() -> AsyncGenerator[bytes]:
        nonlocal now
        for _ in range(100):
            now += BUSY_S
            yield b"x"

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    beside = asyncio.create_task(other())
    async for _ in Taken("It", lambda: now).chunks(at_once()):
        pass
    beside.cancel()
    assert turns >= 40


async def test_a_line_in_many_pieces_is_one_and_no_longer_than_it_may_be() -> None:
    async def pieces(*of: bytes) -> AsyncGenerator[bytes]:
        for piece in of:
            yield piece

    found = [
        line
        async for lines in data_lines(pieces(b"data: a", b"b", b"", b"c\nda", b"ta: d\n", b"data:e"))
        for line in lines
    ]
    assert found == [b"abc", b"d", b"e"]
    with pytest.raises(SseOverflowError):
        async for _ in data_lines(pieces(*[b"x" * 65_536] * (MAX_LINE_BYTES // 65_536 + 1))):
            pass


async def test_texts_are_texts() -> None:
    parts = await answer_of(
        "messages",
        Answer(
            frames=[
                {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": {"a": 1}}},
                {"type": "message_stop"},
            ]
        ),
    )
    assert [type(part.text) for part in parts if isinstance(part, TextPart)] == [str]


@asynccontextmanager
async def saying(said: bytes) -> AsyncGenerator[str]:
    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)
        writer.close()

    async with await asyncio.start_server(say, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "said",
    [
        b"\x00\x01no http at all\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X-Long: " + b"x" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % number for number in range(1_000)) + b"\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnot a length\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nxxxx",
    ],
)
async def test_what_is_no_http_is_a_fault_of_the_provider(form: str, said: bytes) -> None:
    async with saying(said) as url:
        with pytest.raises(ModelError):
            await asked(form, url)
