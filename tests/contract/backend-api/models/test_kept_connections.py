"""A kept connection serves whoever asks next: nobody gets what was sent for another, or what nobody asked for."""

from __future__ import annotations

import asyncio
import gzip
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager

import pytest

from backend_api.agent.model import (
    ModelRequest,
    ModelStreamCutError,
    ModelUnavailableError,
    TextPart,
    UserTurn,
)
from backend_api.models.openai.chat import OpenAiChatModel

REQUEST = ModelRequest(model="m", system="", turns=[UserTurn(text="Hi")], tools=[], max_output_tokens=9)
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


STOP = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


def event(text: str) -> bytes:
    return b'data: {"choices":[{"delta":{"content":"%s"}}]}\n\n' % text.encode()


def answer(text: str, status: bytes = b"200 OK") -> bytes:
    body = event(text) + STOP
    head = b"HTTP/1.1 %b\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n"
    return head % (status, len(body)) + body


async def read_request(reader: asyncio.StreamReader) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    await reader.readexactly(int(head.partition(b"content-length:")[2].split(b"\r\n")[0]))


@asynccontextmanager
async def asking(serve: Serve) -> AsyncGenerator[OpenAiChatModel]:
    """A model of a server that serves each connection so."""

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(accept, "127.0.0.1", 0) as server:
        model = OpenAiChatModel(key="k", base_url=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        try:
            yield model
        finally:
            await model.aclose()


async def ask(model: OpenAiChatModel) -> str:
    async with asyncio.timeout(10), aclosing(model.stream(REQUEST)) as parts:
        return "".join([part.text async for part in parts if isinstance(part, TextPart)])


@pytest.mark.parametrize("unasked", [answer("unasked"), answer("late", b"408 Request Timeout")])
async def test_what_comes_unasked_over_a_kept_connection_is_nobodys_answer(unasked: bytes) -> None:
    is_read, connections = asyncio.Event(), 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await read_request(reader)
        writer.write(answer(f"of connection {connections}"))
        await is_read.wait()
        writer.write(unasked)
        await reader.read()

    async with asking(serve) as model:
        assert await ask(model) == "of connection 1"
        is_read.set()
        for _ in range(20):
            # What was written here arrives there within a turn.
            await asyncio.sleep(0)
        assert await ask(model) == "of connection 2"


@pytest.mark.parametrize("framing", [b"Transfer-Encoding: chunked\r\n\r\n1000\r\n", b"Content-Length: 4096\r\n\r\n"])
async def test_an_answer_under_way_is_cut_where_its_connections_are_closed(framing: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\n" + framing + event("begun"))
        await reader.read()

    async with asking(serve) as model, aclosing(model.stream(REQUEST)) as parts:
        assert await anext(parts) == TextPart("begun")
        waiting = asyncio.ensure_future(anext(parts))
        await asyncio.sleep(0)
        await model.aclose()
        with pytest.raises(ModelStreamCutError):
            await asyncio.wait_for(waiting, 10)
        with pytest.raises(ModelUnavailableError, match="can't be reached"):
            await ask(model)


async def test_of_much_that_came_at_once_a_little_is_read_before_others_have_a_turn() -> None:
    """A megabyte of events in a few kilobytes."""
    packed = gzip.compress(event("x") * 20_000)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
        writer.write(head % len(packed) + packed)
        await reader.read()

    in_a_row = longest = 0

    async def others() -> None:
        nonlocal in_a_row
        while True:
            in_a_row = 0
            await asyncio.sleep(0)

    async def read(model: OpenAiChatModel) -> None:
        nonlocal in_a_row, longest
        async for _ in model.stream(REQUEST):
            in_a_row += 1
            longest = max(longest, in_a_row)
            until = time.perf_counter() + 0.00005
            while time.perf_counter() < until:
                pass

    async with asking(serve) as model:
        beside = asyncio.create_task(others())
        with pytest.raises(ModelStreamCutError):
            await read(model)
        beside.cancel()
    assert longest < 5_000
