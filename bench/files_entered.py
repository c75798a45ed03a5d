"""Files of the gateway that a message, a piece of the answer and a tool call enter on their way.

.venv/bin/python bench/files_entered.py [--list]     `--list` names the files

- message: from its POST until the model server has the request.
- delta: from a piece of text at the model's socket until the reader of the stream has it.
- tool call: from the model's call of `shell_exec` until the model server has the request with its result.

A file counts where a function of it is called. Each way is gone several times, and what only some of them entered (a
heartbeat, a renewed lease) is left out. The gateway works itself, and a sandbox of the process runtime is there before.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import uvloop

from calls_of_a_delta import Calls
from load import Talker, talkers
from setting import ROOT, machine
from support.fleet import SOURCES, Fleet, Shape, run_fleet

TIMES = 5
SETTLE_S = 0.3
FORMER = {"message": 118, "delta": 25, "tool call": 103}
"""Counted by this script at 82d4fe36, before the gateway was cut into modules."""
_PACKAGES = ("backend_api/", "service_kit/", "contracts/")
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


class Answer:
    """One request to the model, answered piece by piece."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        writer.write(_HEAD)

    def say(self, text: str) -> None:
        self._send({"content": text}, None)

    def call(self, command: str) -> None:
        """End with a call of the shell."""
        arguments = json.dumps({"command": command})
        function = {"name": "shell_exec", "arguments": arguments}
        self._send({"tool_calls": [{"index": 0, "id": os.urandom(4).hex(), "function": function}]}, None)
        self._end("tool_calls")

    def end(self) -> None:
        self._end("stop")

    def _end(self, reason: str) -> None:
        self._send({}, reason)
        self._writer.write(b"data: [DONE]\n\n")
        self._writer.close()

    def _send(self, delta: dict[str, Any], reason: str | None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        self._writer.write(b"data: " + json.dumps({"id": "c1", "choices": [choice]}).encode() + b"\n\n")


@asynccontextmanager
async def model_server() -> AsyncGenerator[tuple[str, asyncio.Queue[Answer]]]:
    """A model server on loopback whose requests wait for an answer in a queue."""
    asked: asyncio.Queue[Answer] = asyncio.Queue()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        await reader.readexactly(int(head.partition(b"content-length:")[2].partition(b"\r\n")[0]))
        asked.put_nowait(Answer(writer))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", asked


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not is_so():  # noqa: ASYNC110 -- a listener that only counts
            await asyncio.sleep(0.002)


class Ways:
    """Goes each way once, and keeps the files that were entered every time."""

    def __init__(self, talker: Talker, calls: Calls, asked: asyncio.Queue[Answer]) -> None:
        self._talker, self._calls, self._asked = talker, calls, asked
        self.files: dict[str, set[str]] = {}

    async def go(self) -> None:
        saying: list[asyncio.Task[None]] = []

        async def message() -> Answer:
            saying.append(asyncio.create_task(self._talker.say()))
            return await self._asked.get()

        answer: Answer = await self._count("message", message)
        listener = self._talker.listener
        answer.say("first")
        await until(lambda: listener.deltas > 0)
        before = listener.deltas

        async def delta() -> None:
            answer.say(" next")
            await until(lambda: listener.deltas > before)

        await self._count("delta", delta)

        async def tool_call() -> Answer:
            answer.call("true")
            return await self._asked.get()

        answer = await self._count("tool call", tool_call)
        answer.say("done")
        answer.end()
        await saying[0]

    async def _count(self, name: str, way: Callable[[], Awaitable[Any]]) -> Any:
        await asyncio.sleep(SETTLE_S)
        await self._calls.since()
        result = await way()
        entered = {file_of(one) for one in await self._calls.since() if one.startswith(_PACKAGES)}
        self.files[name] = self.files[name] & entered if name in self.files else entered
        return result


def file_of(function: str) -> str:
    return function.partition(":")[0]


async def measure(fleet: Fleet, calls: Calls, asked: asyncio.Queue[Answer]) -> dict[str, set[str]]:
    account = {"username": "counted", "password": "correct horse battery"}
    async with httpx.AsyncClient(timeout=60, trust_env=False) as http:
        token = (await http.post(f"{fleet.urls[0]}/api/auth/register", json=account)).json()["access_token"]
        (talker,) = await talkers(fleet, http, token, 1)
        # The first one makes the sandbox, and what is imported when it is needed.
        await Ways(talker, calls, asked).go()
        ways = Ways(talker, calls, asked)
        for _ in range(TIMES):
            talker.listener.deltas = 0
            await ways.go()
        return ways.files


async def run_counted(is_listed: bool) -> None:
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        counted = Path(folder, "calls")
        counted.mkdir()
        path = os.pathsep.join((str(ROOT / "bench" / "profiled"), SOURCES))
        async with model_server() as (url, asked):
            settings = {"LLM_PROVIDER": "openai", "OPENAI_API_KEY": "sk-scripted", "MODEL": "scripted"}
            settings |= {"OPENAI_BASE_URL": url, "CALLS_IN": str(counted), "PYTHONPATH": path}
            async with run_fleet(Path(folder), Shape(gateways=1, managers=1), settings) as fleet:
                files = await measure(fleet, Calls(fleet["gateway-1"].pid, counted), asked)
    for name, entered in files.items():
        print(f"{name}: {len(entered)} files ({FORMER[name]} before the modules)")
        if is_listed:
            print(*(f"    {file}" for file in sorted(entered)), sep="\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="name the files")
    uvloop.run(run_counted(parser.parse_args().list))
