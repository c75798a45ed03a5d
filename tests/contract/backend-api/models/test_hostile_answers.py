"""A model server that is no provider at all: whatever it sends ends in a clear error, soon, and in little memory."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest

from backend_api.agent.events import Usage
from backend_api.agent.model import (
    ModelError,
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
from backend_api.models.openai.reasoning_details import ReasoningDetails
from backend_api.models.wire.bounds import (
    BUSY_S,
    ERROR_S,
    MAX_ANSWER_CHARACTERS,
    MAX_ANSWER_S,
    MOST_CALLS,
    AnswerBounds,
)
from backend_api.models.wire.sse import MAX_LINE_BYTES, DataLines, ErrorData, SseOverflowError
from support.adapters import FORMS, adapter_of
from support.model_server import Answer, Call, ModelServer

REQUEST = ModelRequest(model="m", system="", turns=[UserTurn(text="Hi")], tools=[], max_output_tokens=99)
STOP: dict[str, Any] = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
ENDED: Sequence[dict[str, Any]] = (
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    {"type": "message_stop"},
)
NESTED: dict[str, Any] = {"type": "t", "a": json.loads("[" * 800 + "]" * 800)}


async def asked(form: str, url: str) -> list[Part]:
    model = adapter_of(form, url)
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
        ("chat", {"choices": [{"delta": {"reasoning_details": [NESTED]}, "finish_reason": "stop"}]}),
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


def given(form: str, arguments: Any) -> Sequence[Any]:
    """A call whose arguments are sent as a value, as some servers do."""
    match form:
        case "chat":
            call = {"index": 0, "id": "c", "function": {"name": "look", "arguments": arguments}}
            return [delta(tool_calls=[call]), STOP]
        case "responses":
            item = {"type": "function_call", "call_id": "c", "name": "look", "arguments": arguments}
            return [{"type": "response.output_item.done", "item": item}, {"type": "response.completed"}]
        case _:
            block = {"type": "tool_use", "id": "c", "name": "look", "input": arguments}
            begins = {"type": "content_block_start", "index": 0, "content_block": block}
            return [begins, {"type": "content_block_stop", "index": 0}, *ENDED]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [({"n": 1}, {"n": 1}), ({"n": float("nan")}, None), ([1, 2], None), (7, None), ({"n": {"m": float("inf")}}, None)],
)
async def test_arguments_sent_as_a_value_are_an_object_or_none(form: str, arguments: Any, expected: Any) -> None:
    parts = await answer_of(form, Answer(frames=given(form, arguments)))
    assert [part.request.arguments for part in parts if isinstance(part, ToolCallPart)] == [expected]


@pytest.mark.parametrize("form", FORMS)
async def test_arguments_sent_as_a_value_count_as_others_do(form: str) -> None:
    with pytest.raises(ModelUnavailableError, match="characters"):
        await answer_of(form, Answer(frames=given(form, {"text": "x" * (MAX_ANSWER_CHARACTERS + 1)})))


def sealed(form: str, text: str) -> Sequence[Any]:
    """Thinking of which the provider wants this back."""
    match form:
        case "chat":
            return [delta(reasoning_details=[{"type": "reasoning.encrypted", "data": text}]), STOP]
        case "responses":
            item = {"type": "reasoning", "encrypted_content": text}
            return [{"type": "response.output_item.done", "item": item}, {"type": "response.completed"}]
        case _:
            signed = {"type": "signature_delta", "signature": text}
            return [{"type": "content_block_delta", "index": 0, "delta": signed}, *ENDED]


@pytest.mark.parametrize("form", FORMS)
async def test_what_is_wanted_back_of_thinking_has_a_bound_too(form: str) -> None:
    whole = await answer_of(form, Answer(frames=sealed(form, "x" * 1_000)))
    assert any(isinstance(part, ThinkingPart) for part in whole)
    with pytest.raises(ModelUnavailableError, match="characters"):
        await answer_of(form, Answer(frames=sealed(form, "x" * (MAX_ANSWER_CHARACTERS + 1))))


async def test_a_long_detail_of_reasoning_is_not_copied_with_each_of_its_pieces() -> None:
    details, pieces = ReasoningDetails(), 10_000
    details.add([{"type": "reasoning.text", "index": 0, "text": "x" * 10_000_000}])
    began = time.process_time()
    for _ in range(pieces):
        details.add([{"type": "reasoning.text", "index": 0, "text": "!"}])
    (part,) = details.parts()
    # Copied each time it took ten seconds.
    assert time.process_time() - began < 2.0
    assert isinstance(part, ThinkingPart)
    assert (part.opaque or "").count("!") == pieces


def counted(form: str, count: Any) -> Sequence[Any]:
    match form:
        case "chat":
            return [{**STOP, "usage": {"prompt_tokens": count, "completion_tokens": count}}]
        case "responses":
            usage = {"input_tokens": count, "output_tokens": count}
            return [{"type": "response.completed", "response": {"usage": usage}}]
        case _:
            usage = {"input_tokens": count, "output_tokens": count}
            return [{"type": "message_start", "message": {"usage": usage}}, *ENDED]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("count", [-5, float("nan"), float("inf"), "7", True, [7], {"a": 7}])
async def test_what_is_no_number_of_tokens_counts_as_none(form: str, count: Any) -> None:
    parts = await answer_of(form, Answer(frames=counted(form, count)))
    assert [part.usage for part in parts if isinstance(part, UsagePart)] in ([Usage()], [])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("count", [10**18, 10**400, 1e300], ids=["large", "no float", "float"])
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


async def test_a_computer_call_has_so_many_actions_at_most() -> None:
    actions = [{"type": "wait"}] * MOST_CALLS
    parts = await answer_of("responses", Answer(texts=(), calls=[Call(name="", computer={"actions": actions})]))
    assert len([part for part in parts if isinstance(part, ToolCallPart)]) == MOST_CALLS
    for many in (MOST_CALLS + 1, 1_000_000):
        with pytest.raises(ModelUnavailableError, match="calls"):
            await answer_of("responses", Answer(texts=(), calls=[Call(name="", computer={"actions": [{}] * many})]))
    with pytest.raises(ModelUnavailableError, match="not in the format of its API"):
        await answer_of("responses", Answer(texts=(), calls=[Call(name="", computer={"action": NESTED})]))


def begun(form: str, index: int) -> dict[str, Any]:
    match form:
        case "chat":
            return delta(tool_calls=[{"index": index, "function": {"name": ""}}])
        case "responses":
            call = {"type": "function_call", "name": "look"}
            return {"type": "response.output_item.added", "output_index": index, "item": call}
        case _:
            block = {"type": "tool_use", "name": "look"}
            return {"type": "content_block_start", "index": index, "content_block": block}


@pytest.mark.parametrize("form", FORMS)
async def test_calls_without_end_are_ended_before_the_answer_is(form: str) -> None:
    frames = [begun(form, index) for index in range(MOST_CALLS + 3)]
    async with ModelServer(Answer(frames=frames, hang_after=MOST_CALLS + 2)) as server:
        with pytest.raises(ModelUnavailableError, match="calls"):
            await asked(form, server.url)


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
    # Sooner than it would be left alone for its slowness.
    async with without_end("HTTP/1.1 400 No") as url, asyncio.timeout(ERROR_S / 2):
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


@pytest.mark.parametrize("location", ["http://[::1/", "http://a..b/", "http://" + "a" * 70, "ftp://a/", "//"])
async def test_a_redirect_to_what_is_no_address_is_a_fault_of_the_provider(location: str) -> None:
    async with ModelServer(Answer(status=307, headers={"Location": location})) as server:
        with pytest.raises(ModelUnavailableError, match="can't be reached"):
            await asked("chat", server.url)


@pytest.mark.parametrize("form", FORMS)
async def test_no_cookie_is_kept(form: str) -> None:
    async with ModelServer(Answer(status=400, headers={"Set-Cookie": "a=1; Path=/"})) as server:
        model = adapter_of(form, server.url)
        try:
            for _ in range(2):
                with pytest.raises(ModelRequestError):
                    async for _part in model.stream(REQUEST):
                        pass
        finally:
            await model.aclose()
        assert ["cookie" in headers for headers in server.headers] == [False, False]


async def test_no_cookie_of_a_host_with_a_name_is_kept() -> None:
    """Those of an address are kept by nobody."""
    async with ModelServer() as server:
        server.answer(Answer(status=400, headers={"Set-Cookie": "a=1; Path=/"}))
        model = adapter_of("chat", server.url.replace("127.0.0.1", "localhost"))
        try:
            with pytest.raises(ModelRequestError):
                await anext(model.stream(REQUEST))
            assert [part async for part in model.stream(REQUEST)]
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

    bounds = AnswerBounds("It", lambda: now)
    with pytest.raises(ModelUnavailableError, match="did not end within 1 hour"):
        async for _ in bounds.bounded(comments()):
            pass
    assert now == MAX_ANSWER_S + 60


async def test_who_sends_framing_alone_has_sent_nothing() -> None:
    """Such as what stands beside the length of a chunk: the connection is alive, and no byte of an answer comes."""

    async def nothing() -> AsyncGenerator[bytes]:
        yield b"data: 1\n\n"
        await asyncio.Event().wait()

    chunks = AnswerBounds("It", silence_s=0.05).bounded(nothing())
    assert await anext(chunks)
    with pytest.raises(ModelUnavailableError, match="sent nothing for") as raised:
        await asyncio.wait_for(anext(chunks), 10)
    assert raised.value.may_retry


async def test_who_stops_waiting_is_not_told_of_silence() -> None:
    async def nothing() -> AsyncGenerator[bytes]:
        await asyncio.Event().wait()
        yield b""

    waiting = asyncio.ensure_future(anext(AnswerBounds("It", silence_s=30).bounded(nothing())))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_a_silence_ends_only_who_waits_for_the_next_chunk() -> None:
    """What is done with a chunk may take its time."""

    async def two() -> AsyncGenerator[bytes]:
        yield b"1"
        yield b"2"

    chunks = AnswerBounds("It", silence_s=0.02).bounded(two())
    first = await anext(chunks)
    await asyncio.sleep(0.1)
    assert [first, *[chunk async for chunk in chunks]] == [b"1", b"2"]


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
    async for _ in AnswerBounds("It", lambda: now).bounded(at_once()):
        pass
    beside.cancel()
    assert turns >= 40


def test_a_line_in_many_pieces_is_one_and_no_longer_than_it_may_be() -> None:
    lines = DataLines()
    pieces = (b"data: a", b"b", b"", b"c\nda", b"ta: d\n", b"data:e", b"\n")
    assert [line for piece in pieces for line in lines.split(piece)] == [b"abc", b"d", b"e"]
    for _ in range(MAX_LINE_BYTES // 65_536):
        assert not lines.split(b"x" * 65_536)
    with pytest.raises(SseOverflowError):
        lines.split(b"x")


def test_an_event_that_is_called_an_error_is_one_wherever_it_is_split() -> None:
    stream = b"event: error\r\ndata: x\r\n\r\ndata: y\n\nevent: error\nid: 1\ndata: z\n\nevent: message\ndata: w\n"
    for at in range(1, len(stream)):
        lines = DataLines()
        found = [*lines.split(stream[:at]), *lines.split(stream[at:])]
        assert [(bytes(line), isinstance(line, ErrorData)) for line in found] == [
            (b"x", True),
            (b"y", False),
            (b"z", True),
            (b"w", False),
        ], at


async def test_texts_are_texts() -> None:
    parts = await answer_of(
        "messages",
        Answer(
            frames=[
                {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": {"a": 1}}},
                *ENDED,
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


@pytest.mark.parametrize("form", FORMS)
async def test_what_is_compressed_more_than_once_is_not_unpacked(form: str) -> None:
    """Empty blocks of blocks: a kilobyte that is unpacked in hours, without a byte of an answer."""
    once = gzip.compress(b"data: {}\n\n")
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: "
    async with saying(head + b"gzip\r\n\r\n" + once) as url:
        with pytest.raises(ModelStreamCutError):
            await asked(form, url)
    async with saying(head + b"gzip, gzip\r\n\r\n" + gzip.compress(once)) as url:
        with pytest.raises(ModelUnavailableError, match="can't be reached"):
            await asked(form, url)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", [b"hex", b"bz2", b"idna", b"no-such", b"utf-16"])
async def test_a_refusal_in_any_coding_of_characters_is_told(form: str, name: bytes) -> None:
    head = b"HTTP/1.1 400 No\r\nContent-Type: text/plain; charset=" + name
    async with saying(head + b"\r\nContent-Length: 7\r\n\r\nno more") as url:
        with pytest.raises(ModelRequestError, match="no more"):
            await asked(form, url)


@pytest.mark.parametrize(
    "wanted", ["Mon, 01 Jan 99999999999999999999 00:00:00 GMT", "Mon, 01 Jan 2024 00:00:00 +" + "9" * 20]
)
async def test_a_wait_until_a_time_that_cannot_be_is_none(wanted: str) -> None:
    async with ModelServer(Answer(status=503, headers={"Retry-After": wanted})) as server:
        with pytest.raises(ModelUnavailableError) as raised:
            await asked("chat", server.url)
    assert raised.value.retry_after_s is None
