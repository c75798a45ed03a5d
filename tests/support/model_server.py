"""A scriptable model server on loopback that speaks the real wire formats of the providers.

`POST .../chat/completions` answers as OpenAI-compatible servers do, `.../responses` as OpenAI, `.../v1/messages` as
Anthropic does, all streaming. What they refuse is refused (`model_rules.py`). Each other request takes the next
scripted `Answer`; after the last one `respond` answers from what was asked, or the default. One for a title stands
aside, as it comes when nobody waits for it: it is among the `title_requests`, and answered with `title`. As a command
(`python -m support.model_server --port 9000 --deltas 2000`) it serves one fixed answer. `GET .../models` lists the
`listed` models.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any

from backend_api.agent.title import ASKED
from support.model_answers import Answer, Call, frames_of
from support.model_rules import refusal_of
from support.model_seals import Form, blocks_of

__all__ = ["Answer", "Call", "ModelServer", "running"]


class ModelServer:
    """An async context manager; `url` is its address, `requests` what was asked, at which `paths` and over how many
    `connections`, and `refusals` why it refused some; `respond` answers what the script has nothing for; `silent` is
    set once it hangs. One that is not strict takes any."""

    def __init__(
        self,
        default: Answer | None = None,
        *,
        port: int = 0,
        respond: Callable[[dict[str, Any]], Answer] | None = None,
        is_strict: bool = True,
    ) -> None:
        self.default = default or Answer()
        self.respond = respond
        self.is_strict = is_strict
        self.refusals: list[str] = []
        self.script: deque[Answer] = deque()
        self.requests: list[dict[str, Any]] = []
        self.title = Answer(texts=())
        self.title_requests: list[dict[str, Any]] = []
        self.listed: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.connections = 0
        self.closed_early = asyncio.Event()
        self.silent = asyncio.Event()
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
        self.connections += 1
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
        is_title = _is_title(body)
        if is_title:
            self.title_requests.append(body)
        else:
            self.requests.append(body)
            self.headers.append(headers)
            self.paths.append(first.split(" ")[1])
        if first.startswith("GET "):
            _refuse(writer, "chat", self.script.popleft(), "scripted_error") if self.script else self._list(writer)
            await writer.drain()
            return True
        form = _form_of(first.split(" ")[1])
        refused = refusal_of(form, body, headers) if self.is_strict else None
        if refused is not None:
            self.refusals.append(refused)
            _refuse(writer, form, Answer(status=400, message=refused), "invalid_request_error")
            await writer.drain()
            return True
        answer = self.title if is_title else self._next(body)
        if answer.hang:
            await self._until_gone(reader)
            return False
        if answer.status != 200:
            _refuse(writer, form, answer, "scripted_error")
            await writer.drain()
            return True
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {answer.content_type}\r\nTransfer-Encoding: chunked\r\n\r\n"
        writer.write(head.encode())
        frames = frames_of(form, answer, blocks_of(form, body) if answer.thinking or answer.redacted else ())
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

    def _list(self, writer: asyncio.StreamWriter) -> None:
        content = json.dumps({"object": "list", "data": self.listed}).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        writer.write(head.encode() + content)

    def _next(self, body: dict[str, Any]) -> Answer:
        if self.script:
            return self.script.popleft()
        return self.respond(body) if self.respond else self.default

    async def _until_gone(self, reader: asyncio.StreamReader) -> None:
        self.silent.set()
        await reader.read()
        self.closed_early.set()


def _refuse(writer: asyncio.StreamWriter, form: Form, answer: Answer, kind: str) -> None:
    error = {"type": kind, "message": answer.message}
    body = {"type": "error", "error": error} if form == "messages" else {"error": {**error, "param": None}}
    content = json.dumps(body).encode() if answer.raw is None else answer.raw
    extra = "".join(f"{name}: {value}\r\n" for name, value in answer.headers.items())
    head = f"HTTP/1.1 {answer.status} Scripted\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n"
    writer.write(f"{head}{extra}\r\n".encode() + content)


def _is_title(body: dict[str, Any]) -> bool:
    system = body.get("system") or body.get("instructions") or (body.get("messages") or [""])[0]
    return json.dumps(ASKED, ensure_ascii=False)[1:-1] in json.dumps(system, ensure_ascii=False)


def _form_of(path: str) -> Form:
    last = path.partition("?")[0].rpartition("/")[2]
    return "messages" if last == "messages" else "responses" if last == "responses" else "chat"


async def running(answer: Answer | None = None) -> AsyncIterator[ModelServer]:
    """For fixtures: a server for the length of a test."""
    async with ModelServer(answer) as server:
        yield server


async def _main() -> None:
    parser = argparse.ArgumentParser(description="Serve one fixed answer in every wire format.")
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
