"""Programs that are MCP servers, over the real endpoint: they live and end with the socket."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from contracts.mcp_programs import ENDED, ENDING, MAX_LINE_BYTES, NOT_STARTED, PATH, TOO_MUCH
from support.endpoint import RunningEndpoint, await_true, processes_with

ECHO = "import sys\nfor line in sys.stdin: print('heard', line.strip(), flush=True)"


@asynccontextmanager
async def opened(endpoint: RunningEndpoint, **claims: Any) -> AsyncGenerator[ClientConnection]:
    made = socket.socket(socket.AF_UNIX)
    made.connect(str(endpoint.socket))
    made.setblocking(False)
    headers = {"Authorization": f"Bearer {endpoint.keys.token(**claims)}"}
    async with connect(f"ws://endpoint{PATH}", sock=made, additional_headers=headers, max_size=None, proxy=None) as one:
        yield one


async def start(one: ClientConnection, *command: str, **env: str) -> None:
    await one.send(json.dumps({"command": command[0], "args": command[1:], "env": env}))


async def closed(one: ClientConnection) -> tuple[int, str]:
    """Its close code and reason."""
    with suppress(ConnectionClosed):
        while True:
            await asyncio.wait_for(one.recv(), 20)
    return one.close_code or 0, one.close_reason or ""


async def test_lines_go_both_ways_and_the_variables_are_its_own_alone(endpoint: RunningEndpoint) -> None:
    async with opened(endpoint) as one:
        await start(
            one, "python3", "-c", f"import os\nprint(os.environ['KEY'], os.getcwd(), flush=True)\n{ECHO}", KEY="v1"
        )
        assert await one.recv() == f"v1 {endpoint.workspace}"
        for text in ("one", "two\nlines", "汉字"):
            await one.send(text)
            assert await one.recv() == f"heard {text}".replace("\n", " ")
    assert "KEY" not in endpoint.call("shell_exec", command="env").output


async def test_it_ends_with_the_socket_with_all_it_started(endpoint: RunningEndpoint, seconds: str) -> None:
    script = f"trap '' TERM; setsid sleep {seconds} & sleep {seconds} & echo up; read line"
    async with opened(endpoint) as one:
        await start(one, "bash", "-c", script)
        assert await one.recv() == "up"
        # Beside the two the shell and its launcher, in whose words they stand.
        await asyncio.to_thread(await_true, lambda: len(processes_with(f"sleep {seconds}")) == 4)
        began = time.monotonic()
        one.transport.abort()
    await asyncio.to_thread(await_true, lambda: not processes_with(f"sleep {seconds}"))
    assert time.monotonic() - began < 5


async def test_where_it_ends_what_it_started_ends_and_the_reason_is_told(
    endpoint: RunningEndpoint, seconds: str
) -> None:
    async with opened(endpoint) as one:
        await start(one, "bash", "-c", f"setsid sleep {seconds} & echo no key >&2; exit 3")
        assert await closed(one) == (ENDED, "it ended with the exit code 3: no key")
    await asyncio.to_thread(await_true, lambda: not processes_with(f"sleep {seconds}"))


@pytest.mark.thorough
async def test_one_that_reads_and_writes_no_more_is_ended(endpoint: RunningEndpoint, seconds: str) -> None:
    async with opened(endpoint) as one:
        await start(one, "bash", "-c", f"echo up; exec 0<&- 1>&-; exec sleep {seconds}")
        assert await one.recv() == "up"
        code, reason = await closed(one)
        assert (code, reason) == (ENDED, "it has closed its input and output")
    await asyncio.to_thread(await_true, lambda: not processes_with(f"sleep {seconds}"))


@pytest.mark.thorough
async def test_one_that_no_more_reads_is_ended_with_its_socket(endpoint: RunningEndpoint, seconds: str) -> None:
    async with opened(endpoint) as one:
        await start(one, "bash", "-c", f"echo up; exec 0<&-; exec sleep {seconds}")
        assert await one.recv() == "up"
        for _ in range(2):
            await one.send("anything")
        one.transport.abort()
    await asyncio.to_thread(await_true, lambda: not processes_with(f"sleep {seconds}"))


@pytest.mark.thorough
async def test_what_ends_its_launcher_is_found_all_the_same(endpoint: RunningEndpoint, seconds: str) -> None:
    async with opened(endpoint) as one:
        await start(one, "bash", "-c", f"setsid sleep {seconds} & echo up; read; kill -9 $PPID; exec sleep {seconds}")
        assert await one.recv() == "up"
        await asyncio.to_thread(await_true, lambda: len(processes_with(f"sleep {seconds}")) == 3)
        await one.send("go")
        await closed(one)
    await asyncio.to_thread(await_true, lambda: not processes_with(f"sleep {seconds}"))


async def test_what_it_complains_of_is_told_without_the_values_of_its_variables(endpoint: RunningEndpoint) -> None:
    secret = "s3cret-" * 30
    async with opened(endpoint) as one:
        await start(one, "bash", "-c", "echo before $KEY after >&2; exit 1", KEY=secret)
        assert await closed(one) == (ENDED, "it ended with the exit code 1: before *** after")


async def test_one_that_there_is_not_is_told(endpoint: RunningEndpoint) -> None:
    async with opened(endpoint) as one:
        await start(one, "no-such-program")
        assert await closed(one) == (
            ENDED,
            "it ended with the exit code 127: no-such-program: No such file or directory",
        )


@pytest.mark.parametrize(
    "first",
    [
        "{",
        pytest.param("{}", marks=pytest.mark.thorough),
        pytest.param('{"command": ""}', marks=pytest.mark.thorough),
        '{"command": "x", "more": 1}',
        pytest.param('{"command": "a\\u0000b"}', marks=pytest.mark.thorough),
    ],
)
async def test_what_is_no_start_is_refused(endpoint: RunningEndpoint, first: str) -> None:
    async with opened(endpoint) as one:
        await one.send(first)
        code, reason = await closed(one)
        assert code == NOT_STARTED
        assert reason


async def test_bytes_are_no_start_either(endpoint: RunningEndpoint) -> None:
    async with opened(endpoint) as one:
        await one.send(b'{"command": "true"}')
        assert (await closed(one))[0] == NOT_STARTED


async def test_a_line_without_end_ends_it(endpoint: RunningEndpoint, seconds: str) -> None:
    async with opened(endpoint) as one:
        long = f"sys.stdout.write('x' * {MAX_LINE_BYTES + 70_000}); sys.stdout.flush()"
        script = f"import sys, time\n{long}\ntime.sleep({seconds})"
        await start(one, "python3", "-c", script)
        assert (await closed(one))[0] == TOO_MUCH
    await asyncio.to_thread(await_true, lambda: not processes_with(f"time.sleep({seconds})"))


@asynccontextmanager
async def running(endpoint: RunningEndpoint) -> AsyncGenerator[None]:
    """One that goes on, as soon as there is room: those of before end with their sockets, in a moment."""
    while True:
        async with opened(endpoint) as one:
            with suppress(ConnectionClosed):
                await start(one, "cat")
                await one.send("up")
                assert await one.recv() == "up"
                yield
                return
        await asyncio.sleep(0.05)


async def test_there_are_so_many_and_no_more(endpoint: RunningEndpoint) -> None:
    async with asyncio.TaskGroup() as group, asyncio.timeout(60):
        ready, may_end = asyncio.Semaphore(0), asyncio.Event()

        async def hold() -> None:
            async with running(endpoint):
                ready.release()
                await may_end.wait()

        for _ in range(20):
            group.create_task(hold())
        for _ in range(20):
            await ready.acquire()
        async with opened(endpoint) as one:
            assert (await closed(one))[0] == NOT_STARTED
        may_end.set()
    async with asyncio.timeout(20), running(endpoint):
        """There is room again, also for the tests that come next."""


async def test_a_long_reason_is_told_whole_before_the_close_without_where_its_log_lies(
    endpoint: RunningEndpoint,
) -> None:
    lines = [
        "npm error code E404",
        "npm error 404 Not Found - GET https://registry.example.org/no-such-server - Not found",
        "npm error 404  'no-such-server@*' is not in this registry.",
        "npm error A complete log of this run can be found in: /cache/.npm/_logs/2026-01-01T00_00_00-debug-0.log",
    ]
    script = "import sys\nsys.stderr.write(sys.argv[1])\nsys.exit(1)"
    async with opened(endpoint) as one:
        await start(one, "python3", "-c", script, "\n".join(lines))
        last = await asyncio.wait_for(one.recv(), 20)
        code, reason = await closed(one)
    told = "it ended with the exit code 1: " + "\n".join(lines[:3])
    assert last == f"{ENDING}{told}"
    assert (code, reason.startswith("..."), "debug-0.log" in reason) == (ENDED, True, False)
