"""Warm-up of an unclaimed sandbox before it reports that it is ready.

A claimant waits for the first answers: by then everything is loaded, the shell runs, and no starting browser takes the
processors. Until the claim the sandbox holds its own desktop still; the endpoint and the shell wait, which costs
nothing, and answer at once.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

from contracts.tools import ToolCall
from tool_api.http.services import Services
from tool_api.programs.processes import descendants
from tool_api.tools.shell.types import DEFAULT_SHELL, ShellExec

_ANSWER_S = 5.0
_LOOK_S = 0.25
_QUIET_SHARE = 0.1
_QUIET_LOOKS = 3
_LONGEST_S = 6.0


async def warm_up(services: Services, serve: Callable[[socket.socket], Awaitable[None]]) -> None:
    """Start the shell, answer a first request, wait until the desktop has settled, for a bounded time, and stop it."""
    await (await services.shells.open(DEFAULT_SHELL)).warm_up()
    await _answer_a_first_request(serve)
    if services.desktop is not None:
        await come_to_rest(_spent_s)
        await services.desktop.rest()


async def _answer_a_first_request(serve: Callable[[socket.socket], Awaitable[None]]) -> None:
    """A call without a valid token: it is refused, and by then all that a first request loads is there."""
    call = ToolCall(call_id="warm-up", arguments=ShellExec(command="true").model_dump())
    body = call.model_dump_json().encode()
    head = (
        "POST /tools/shell_exec HTTP/1.1\r\nHost: sandbox\r\nAuthorization: Bearer nobody\r\nConnection: close\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    try:
        async with asyncio.timeout(_ANSWER_S):
            ours, theirs = socket.socketpair()
            await serve(theirs)
            reader, writer = await asyncio.open_unix_connection(sock=ours)
            try:
                writer.write(head.encode() + body)
                await reader.read()
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return  # it is only slower then


async def come_to_rest(spent_s: Callable[[], float], *, look_s: float = _LOOK_S, longest_s: float = _LONGEST_S) -> None:
    """Wait until hardly any processor time was spent for a few looks, or it takes too long."""
    loop = asyncio.get_running_loop()
    until = loop.time() + longest_s
    quiet, spent, looked = 0, spent_s(), loop.time()
    while quiet < _QUIET_LOOKS and loop.time() < until:
        await asyncio.sleep(look_s)
        before, last = spent, looked
        spent, looked = spent_s(), loop.time()
        quiet = quiet + 1 if spent - before < _QUIET_SHARE * (looked - last) else 0


def _spent_s() -> float:
    """Processor time of all that runs in the sandbox."""
    ticks = 0
    for pid, _ in descendants(os.getpid()):
        try:
            fields = Path("/proc", str(pid), "stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
