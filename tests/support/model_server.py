"""A scriptable model server on loopback that speaks the real wire formats of both providers.

`POST .../chat/completions` answers as OpenAI-compatible servers do, `POST .../v1/messages` as Anthropic does, both
streaming. Each request takes the next scripted `Answer`; after the last one `respond` answers from what was asked, or
the default. As a command
(`python -m support.model_server --port 9000 --deltas 2000`) it serves one fixed answer, for benchmarks.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call; `arguments` is sent as it stands, so that it may be broken."""

    name: str
    arguments: str = "{}"
    id: str = "call_1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One scripted answer.

    `finish` is stop, length, refusal or tool_calls (which is implied by calls); None with calls absent means stop.
    `cut_after` closes the connection after so many frames, `hang_after` goes silent; `hang` never answers at all.
    `fault` is an error object sent in the middle of the stream. `frames` replaces everything by raw JSON frames.
    """

    texts: Sequence[str] = ("Hello", " there")
    thinking: Sequence[str] = ()
    signature: str | None = None
    calls: Sequence[Call] = ()
    finish: str | None = None
    usage: tuple[int, int, int] | None = (10, 4, 2)
    status: int = 200
    message: str = "scripted"
    headers: dict[str, str] = field(default_factory=dict[str, str])
    first_delay_s: float = 0.0
    delay_s: float = 0.0
    cut_after: int | None = None
    hang_after: int | None = None
    hang: bool = False
    fault: dict[str, Any] | None = None
    frames: Sequence[Any] | None = None
    say_done: bool = True


class ModelServer:
    """An async context manager; `url` is its address, `requests` what was asked."""

    def __init__(
        self,
        default: Answer | None = None,
        *,
        port: int = 0,
        respond: Callable[[dict[str, Any]], Answer] | None = None,
    ) -> None:
        self.default = default or Answer()
        self._respond = respond
        self.script: deque[Answer] = deque()
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.closed_early = asyncio.Event()
        self._wanted_port = port
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    @property
    def openai_url(self) -> str:
        return f"{self.url}/v1"

    def answer(self, *answers: Answer) -> None:
        """Script the next answers."""
        self.script.extend(answers)

    async def __aenter__(self) -> ModelServer:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._wanted_port, backlog=1024)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=5)
        await self._server.wait_closed()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._serve_one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            self.closed_early.set()
        except asyncio.CancelledError:
            pass
        finally:
            writer.close()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except asyncio.IncompleteReadError as error:
            if error.partial:
                raise
            return False
        first, *lines = head.split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        body = json.loads(await reader.readexactly(int(headers.get("content-length", "0"))) or b"{}")
        self.requests.append(body)
        self.headers.append(headers)
        answer = self._next(body)
        path = first.split(" ")[1]
        if answer.hang:
            await self._until_gone(reader)
            return False
        if answer.status != 200:
            _refuse(writer, answer, is_anthropic=path.endswith("/messages"))
            await writer.drain()
            return True
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        frames = _anthropic(answer) if path.endswith("/messages") else _openai(answer)
        if answer.first_delay_s:
            await writer.drain()
            await asyncio.sleep(answer.first_delay_s)
        for number, frame in enumerate(frames):
            if number == answer.cut_after:
                await writer.drain()
                return False
            if number == answer.hang_after:
                await writer.drain()
                await self._until_gone(reader)
                return False
            writer.write(b"%x\r\n%b\r\n" % (len(frame), frame))
            if answer.delay_s:
                await writer.drain()
                await asyncio.sleep(answer.delay_s)
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    def _next(self, body: dict[str, Any]) -> Answer:
        if self.script:
            return self.script.popleft()
        return self._respond(body) if self._respond else self.default

    async def _until_gone(self, reader: asyncio.StreamReader) -> None:
        await reader.read()
        self.closed_early.set()


def _refuse(writer: asyncio.StreamWriter, answer: Answer, *, is_anthropic: bool) -> None:
    error = {"type": "scripted_error", "message": answer.message}
    body = json.dumps({"type": "error", "error": error} if is_anthropic else {"error": error}).encode()
    extra = "".join(f"{name}: {value}\r\n" for name, value in answer.headers.items())
    head = f"HTTP/1.1 {answer.status} Scripted\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    writer.write(f"{head}{extra}\r\n".encode() + body)


def _data(value: Any) -> bytes:
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"


def _openai(answer: Answer) -> list[bytes]:
    if answer.frames is not None:
        frames = [_data(frame) for frame in answer.frames]
        return [*frames, b"data: [DONE]\n\n"] if answer.say_done else frames

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _data({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]})

    frames = [chunk({"role": "assistant", "content": ""})]
    frames += [chunk({"reasoning_content": text}) for text in answer.thinking]
    frames += [chunk({"content": text}) for text in answer.texts]
    for index, call in enumerate(answer.calls):
        half = len(call.arguments) // 2
        begin = {"index": index, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}}
        frames.append(chunk({"tool_calls": [begin]}))
        frames += [
            chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
            for piece in (call.arguments[:half], call.arguments[half:])
        ]
    if answer.fault is not None:
        return [*frames, _data({"error": answer.fault})]
    reasons = {"refusal": "content_filter"}
    finish = answer.finish or ("tool_calls" if answer.calls else "stop")
    frames.append(chunk({}, reasons.get(finish, finish)))
    if answer.usage is not None:
        read, cached, written = answer.usage
        usage = {
            "prompt_tokens": read,
            "completion_tokens": written,
            "prompt_tokens_details": {"cached_tokens": cached},
        }
        frames.append(_data({"id": "c1", "choices": [], "usage": usage}))
    return [*frames, b"data: [DONE]\n\n"]


def _anthropic(answer: Answer) -> list[bytes]:
    def event(kind: str, **fields: Any) -> bytes:
        return f"event: {kind}\n".encode() + _data({"type": kind, **fields})

    if answer.frames is not None:
        return [event(frame["type"], **frame) for frame in answer.frames]
    read, cached, written = answer.usage or (0, 0, 0)
    usage = {"input_tokens": read - cached, "cache_read_input_tokens": cached, "output_tokens": 1}
    frames = [event("message_start", message={"id": "m1", "role": "assistant", "content": [], "usage": usage})]
    index = 0

    def block(start: dict[str, Any], deltas: list[dict[str, Any]]) -> None:
        nonlocal index
        frames.append(event("content_block_start", index=index, content_block=start))
        frames.extend(event("content_block_delta", index=index, delta=delta) for delta in deltas)
        frames.append(event("content_block_stop", index=index))
        index += 1

    if answer.thinking:
        deltas: list[dict[str, Any]] = [{"type": "thinking_delta", "thinking": text} for text in answer.thinking]
        deltas.append({"type": "signature_delta", "signature": answer.signature or "signed"})
        block({"type": "thinking", "thinking": ""}, deltas)
    if answer.texts:
        block({"type": "text", "text": ""}, [{"type": "text_delta", "text": text} for text in answer.texts])
    for call in answer.calls:
        half = len(call.arguments) // 2
        pieces = (call.arguments[:half], call.arguments[half:])
        block(
            {"type": "tool_use", "id": call.id, "name": call.name, "input": {}},
            [{"type": "input_json_delta", "partial_json": piece} for piece in pieces],
        )
    if answer.fault is not None:
        return [*frames, event("error", error=answer.fault)]
    reasons = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "refusal": "refusal"}
    finish = answer.finish or ("tool_calls" if answer.calls else "stop")
    stop = {"stop_reason": reasons[finish], "stop_sequence": None}
    frames.append(event("message_delta", delta=stop, usage={"output_tokens": written}))
    frames.append(event("message_stop"))
    return frames


async def running(answer: Answer | None = None) -> AsyncIterator[ModelServer]:
    """For fixtures: a server for the length of a test."""
    async with ModelServer(answer) as server:
        yield server


async def _main() -> None:
    parser = argparse.ArgumentParser(description="Serve one fixed answer in both providers' formats.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--deltas", type=int, default=100)
    parser.add_argument("--delay-ms", type=float, default=0.0)
    options = parser.parse_args()
    texts = [f"word{number} " for number in range(options.deltas)]
    async with ModelServer(Answer(texts=texts, delay_s=options.delay_ms / 1000), port=options.port) as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_main())
